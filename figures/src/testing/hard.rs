//! Figures that are hard to draw: too much, too little, too large, too small, and hostile names.

#[cfg(test)]
use crate as agon_figures;

use agon_figures::{
    Axis, ByCategory, CategorySeries, Chart, Curves, Figure, Mark, Panel, Point, Series,
};

/// A file name and its figure.
pub fn all() -> Vec<(&'static str, Figure)> {
    let lines = |points: Vec<Point>| {
        let curves = Curves {
            series: vec![Series::new("a", points)],
            baselines: Vec::new(),
        };
        Panel::new(
            Axis::new("round"),
            Axis::new("money").unit("$"),
            Chart::Lines(curves),
        )
    };
    let values = |values: &[f64]| {
        let points = values.iter().enumerate();
        lines(
            points
                .map(|(index, value)| Point::new(index as u32, *value))
                .collect(),
        )
    };
    let gaps = [1.0, 2.0, f64::NAN, 4.0, 3.0, f64::INFINITY, 2.0, 2.5];
    let mut logarithmic = values(&[1e-3, 0.5, 0.0, 80.0, 2e4, 3e6]);
    logarithmic.y = logarithmic.y.logarithmic();
    let mut cut = values(&[1.0, 5.0, 30.0, -20.0, 6.0, 4.0]);
    cut.y = cut.y.range(0.0, 10.0);
    let panels = vec![
        lines(vec![Point::new(3, Mark::new(5.0).between(4.0, 6.0))]).title("single point"),
        values(&gaps).title("missing values"),
        values(&[2e11, 5e11, 9.5e11]).title("huge"),
        values(&[2e-9, 5e-9, 3e-9]).title("tiny"),
        values(&[7.0, 7.0, 7.0]).title("all equal"),
        values(&[]).title("empty"),
        values(&[-1e308, 1e308, 3.0]).title("beyond all bounds"),
        logarithmic.title("logarithmic"),
        cut.title("cut at its range"),
    ];
    let names = [
        "<b>\"A & B\"</b>",
        "line\nbreak \u{202e} turned \u{0} null",
        "日本語の名前 🤖",
        "=HYPERLINK(\"x\")",
        "",
    ];
    let hostile = ByCategory {
        categories: names.map(str::to_owned).into(),
        series: vec![CategorySeries::new(
            "series 'of' \"others\" & <more>",
            (0..5)
                .map(|index| {
                    Some(
                        Mark::new(f64::from(index))
                            .note("a\u{1b}[31m & <b>")
                            .link("javascript:alert(1)"),
                    )
                })
                .collect(),
        )],
        ..ByCategory::default()
    };
    let hostile = Panel::new(Axis::new("score"), Axis::new("name"), Chart::Bars(hostile));
    vec![
        ("hard", Figure::new(panels)),
        (
            "hostile-names",
            Figure::new(vec![hostile]).title("<script>alert(1)</script> & \"quotes\""),
        ),
        (
            "nothing",
            Figure::new(Vec::new()).caption("No panel at all."),
        ),
    ]
}
