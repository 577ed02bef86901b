//! Figures that are hard to draw: too much, too little, too large, too small, and hostile names. Tests
//! and the gallery draw them all.

#[cfg(test)]
use crate as agon_figures;

use agon_figures::{
    Axis, ByCategory, CategorySeries, Chart, Curves, Figure, Mark, Panel, Point, Series,
};

/// A file name and its figure.
pub fn all() -> Vec<(&'static str, Figure)> {
    let nothing = Figure::new(Vec::new()).caption("No panel at all.");
    vec![
        ("hard", numbers()),
        ("hostile-names", names()),
        ("nothing", nothing),
    ]
}

fn lines(points: Vec<Point>) -> Panel {
    let curves = Curves {
        series: vec![Series::new("a", points)],
        baselines: Vec::new(),
    };
    Panel::new(
        Axis::new("round"),
        Axis::new("money").unit("$"),
        Chart::Lines(curves),
    )
}

fn values(values: &[f64]) -> Panel {
    let points = (0..)
        .zip(values)
        .map(|(round, value)| Point::new(round, *value));
    lines(points.collect())
}

fn numbers() -> Figure {
    let gaps = [1.0, 2.0, f64::NAN, 4.0, 3.0, f64::INFINITY, 2.0, 2.5];
    let mut logarithmic = values(&[1e-3, 0.5, 0.0, 80.0, 2e4, 3e6]);
    logarithmic.y = logarithmic.y.logarithmic();
    let mut cut = values(&[1.0, 5.0, 30.0, -20.0, 6.0, 4.0]);
    cut.y = cut.y.range(0.0, 10.0);
    let single = Point::new(3, Mark::new(5.0).between(4.0, 6.0));
    Figure::new(vec![
        lines(vec![single]).title("single point"),
        values(&gaps).title("missing values"),
        values(&[2e11, 5e11, 9.5e11]).title("huge"),
        values(&[2e-9, 5e-9, 3e-9]).title("tiny"),
        values(&[7.0, 7.0, 7.0]).title("all equal"),
        values(&[]).title("empty"),
        values(&[-1e308, 1e308, 3.0]).title("beyond all bounds"),
        logarithmic.title("logarithmic"),
        cut.title("cut at its range"),
    ])
}

fn names() -> Figure {
    let names = [
        "<b>\"A & B\"</b>",
        "line\nbreak \u{202e} turned \u{0} null",
        "日本語の名前 🤖",
        "=HYPERLINK(\"x\")",
        "",
    ];
    let marks = (0..5).map(|index| {
        let mark = Mark::new(f64::from(index)).note("a\u{1b}[31m & <b>");
        Some(mark.link("javascript:alert(1)"))
    });
    let name = "series 'of' \"others\" & <more>";
    let data = ByCategory {
        categories: names.map(str::to_owned).into(),
        series: vec![CategorySeries::new(name, marks.collect())],
        ..ByCategory::default()
    };
    let panel = Panel::new(Axis::new("score"), Axis::new("name"), Chart::Bars(data));
    Figure::new(vec![panel]).title("<script>alert(1)</script> & \"quotes\"")
}
