//! Claims about whole figures, on every made-up one: well-formed, legible, complete, the same each
//! time, and harmless whatever names say.

use unicode_width::UnicodeWidthStr as _;

use crate::layout::lay_out;
use crate::{
    Axis, Baseline, ByCategory, CategorySeries, Chart, Curves, Figure, Heat, Mark, Palette, Panel,
    Point, Sample, Samples, Series, Width, Words, page_style, testing,
};

/// Every made-up figure at both widths.
fn figures() -> Vec<(String, Figure)> {
    let mut all = Vec::new();
    for (name, figure) in testing::all() {
        all.push((format!("{name} in one column"), figure.clone()));
        all.push((format!("{name} in two columns"), figure.wide()));
    }
    all
}

#[test]
fn every_figure_is_well_formed_and_the_same_each_time() {
    for (name, figure) in figures() {
        let svg = figure.svg();
        roxmltree::Document::parse(&svg).unwrap_or_else(|error| panic!("{name}: {error}"));
        let page = figure.svg_for_page("a");
        roxmltree::Document::parse(&page).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(svg, figure.svg(), "{name}");
        let dark = figure.svg_on_dark();
        roxmltree::Document::parse(&dark).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            dark.matches('<').count(),
            svg.matches('<').count(),
            "{name}"
        );
        let ground = "<rect width=\"100%\" height=\"100%\" fill=";
        assert!(dark.contains(&format!("{ground}\"#16181c\"")), "{name}");
        assert!(svg.contains(&format!("{ground}\"#ffffff\"")), "{name}");
        for odd in ["NaN", "inf"] {
            let numbers = page
                .split('>')
                .filter(|tag| tag.starts_with("<path") || tag.starts_with("<text"));
            assert!(
                !numbers.clone().any(|tag| tag.contains(odd)),
                "{name} has {odd}"
            );
        }
    }
}

#[test]
fn no_two_texts_overlap_and_none_leaves_the_figure() {
    let mut wrong = Vec::new();
    let random = (0..1500).map(|seed| (format!("seed {seed}"), testing::random::figure(seed)));
    for (name, figure) in figures().into_iter().chain(random) {
        let scene = lay_out(&figure);
        let texts = scene.texts();
        for (index, text) in texts.iter().enumerate() {
            let [left, top, right, bottom] = text.bounds();
            let is_inside = left >= -0.1
                && top >= -0.1
                && right <= scene.width + 0.1
                && bottom <= scene.height + 0.1;
            if !is_inside || text.size < 7.0 {
                wrong.push(format!(
                    "{name}: {:?} leaves the figure at {:?}",
                    text.content,
                    text.bounds()
                ));
            }
            for other in &texts[..index] {
                let [other_left, other_top, other_right, other_bottom] = other.bounds();
                let across = right.min(other_right) - left.max(other_left);
                let down = bottom.min(other_bottom) - top.max(other_top);
                if across > 0.4 && down > 0.4 {
                    let (one, other) = (&text.content, &other.content);
                    wrong.push(format!("{name}: {one:?} and {other:?} overlap"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn widths_are_those_of_one_and_two_columns_of_a_paper() {
    let figure = Figure::default();
    assert!(figure.svg().contains("width=\"85mm\""));
    assert!(figure.wide().svg().contains("width=\"178mm\""));
    assert_eq!(Width::default(), Width::One);
}

#[test]
fn page_has_a_class_for_every_colour_and_no_style_attribute() {
    let style = page_style();
    for (name, figure) in figures() {
        let page = figure.svg_for_page("figure-7");
        let document = roxmltree::Document::parse(&page).unwrap();
        for node in document.descendants() {
            assert_eq!(node.attribute("style"), None, "{name}");
            assert_ne!(node.tag_name().name(), "script", "{name}");
            assert!(
                node.attribute("id")
                    .is_none_or(|id| id.starts_with("figure-7")),
                "{name}"
            );
            for class in node.attribute("class").unwrap_or("").split_whitespace() {
                assert!(style.contains(&format!(".{class}{{")), "{name}: {class}");
            }
        }
    }
}

#[test]
fn terminal_plots_stay_within_their_width_and_have_no_control_characters() {
    for (name, figure) in testing::all() {
        for width in [24, 40, 80, 133] {
            let text = figure.text(width);
            assert!(!text.trim().is_empty(), "{name}");
            for line in text.lines() {
                assert!(line.width() <= width, "{name} at {width}: {line}");
                assert!(!line.chars().any(char::is_control), "{name}: {line:?}");
            }
        }
    }
}

#[test]
fn terminal_plot_shows_every_series_and_category() {
    let data = ByCategory {
        categories: vec!["first".to_owned(), "second".to_owned()],
        series: vec![
            CategorySeries::new("hinted", vec![Some(Mark::new(2.0).between(1.0, 3.0)), None]),
            CategorySeries::new("plain", vec![Some(Mark::new(4.0)), Some(Mark::new(2.5))]),
        ],
        ..ByCategory::default()
    };
    let (x, y) = (Axis::new("score").unit("points"), Axis::new("model"));
    let text = Figure::new(vec![Panel::new(x, y, Chart::Dots(data))]).text(60);
    for word in [
        "first",
        "second",
        "a hinted",
        "b plain",
        "├",
        "●",
        "no data",
        "score (points)",
    ] {
        assert!(text.contains(word), "{word} is missing in\n{text}");
    }
}

/// How many marks a chart has.
fn marks(chart: &Chart) -> usize {
    match chart {
        Chart::Lines(data) | Chart::Steps(data) | Chart::Scatter(data) => {
            let points: usize = data.series.iter().map(|series| series.points.len()).sum();
            points + data.baselines.len()
        }
        Chart::Dots(data)
        | Chart::Bars(data)
        | Chart::Stacked(data)
        | Chart::Pairs(data)
        | Chart::Radar(data) => {
            let marks: usize = data.series.iter().map(|series| series.marks.len()).sum();
            marks + data.baselines.len()
        }
        Chart::Boxes(data) | Chart::Densities(data) | Chart::Histograms(data) => {
            data.samples.iter().map(|sample| sample.values.len()).sum()
        }
        Chart::Heat(data) => data.rows.len() * data.columns.len(),
        Chart::Words(data) => data.rows.len() * data.columns.len(),
    }
}

#[test]
fn csv_has_a_row_for_every_mark() {
    for (name, figure) in testing::all() {
        let expected: usize = figure.panels.iter().map(|panel| marks(&panel.chart)).sum();
        let csv = figure.csv();
        assert_eq!(csv.lines().count(), expected + 1, "{name}");
        let commas = csv.lines().next().unwrap().matches(',').count();
        let plain = csv.lines().filter(|line| !line.contains('"'));
        for line in plain {
            assert_eq!(line.matches(',').count(), commas, "{name}: {line}");
        }
    }
}

#[test]
fn csv_keeps_numbers_exactly_and_defuses_formulas() {
    let mark = Mark::new(0.1 + 0.2)
        .between(-1e-9, 1e300)
        .of(7)
        .note("a, \"b\"");
    let curves = Curves {
        series: vec![Series::new(
            "=1+1",
            vec![Point::new(3, mark), Point::new(4, f64::NAN)],
        )],
        baselines: vec![Baseline::new("chance", 0.5)],
    };
    let panel = Panel::new(
        Axis::new("round"),
        Axis::new("bid").unit("$"),
        Chart::Lines(curves),
    );
    let csv = Figure::new(vec![panel.title("one")]).csv();
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(
        rows,
        [
            "1,one,lines,round,bid ($),,'=1+1,3,0.30000000000000004,-1e-9,1e300,7,\"a, \"\"b\"\"\",",
            "1,one,lines,round,bid ($),,'=1+1,4,,,,,,",
            "1,one,baseline,round,bid ($),,chance,,0.5,,,,,",
        ]
    );
}

#[test]
fn name_keeps_its_looks_in_every_figure_of_a_report() {
    let palette = Palette::of(["one", "two", "three", "two"]);
    let line = |name: &str| {
        let curves = Curves {
            series: vec![Series::new(
                name,
                vec![Point::new(1, 1.0), Point::new(2, 2.0)],
            )],
            baselines: Vec::new(),
        };
        let panel = Panel::new(Axis::new("x"), Axis::new("y"), Chart::Lines(curves));
        Figure::new(vec![panel]).palette(palette.clone()).svg()
    };
    let colours = [
        ("one", "#000000"),
        ("two", "#e69f00"),
        ("three", "#56b4e9"),
        ("four", "#009e73"),
    ];
    for (name, colour) in colours {
        let svg = line(name);
        for (other, other_colour) in colours {
            assert_eq!(
                svg.contains(other_colour),
                other == name,
                "{name}, {colour}, {other}"
            );
        }
    }
}

#[test]
fn what_is_not_finite_is_left_out_and_counted() {
    let heat = Heat {
        rows: vec!["row".to_owned()],
        columns: vec!["a".to_owned(), "b".to_owned()],
        cells: vec![vec![Some(Mark::new(f64::NAN)), Some(Mark::new(1.0))]],
        ..Heat::default()
    };
    let bars = ByCategory {
        categories: vec!["a".to_owned(), "b".to_owned()],
        series: vec![CategorySeries::new(
            "",
            vec![Some(f64::INFINITY.into()), Some(1.0.into())],
        )],
        ..ByCategory::default()
    };
    let axis = || Axis::new("axis");
    let panels = vec![
        Panel::new(axis(), axis(), Chart::Heat(heat)),
        Panel::new(axis(), axis(), Chart::Bars(bars)),
        Panel::new(
            axis(),
            axis(),
            Chart::Boxes(Samples {
                samples: vec![Sample::new("a", "", [1.0, f64::NEG_INFINITY, 2.0])],
                ..Samples::default()
            }),
        ),
    ];
    let figure = Figure::new(panels);
    let shown: Vec<String> = lay_out(&figure)
        .texts()
        .iter()
        .map(|text| text.content.clone())
        .collect();
    assert!(
        shown
            .join(" ")
            .contains("3 values are not finite or too large, and left out."),
        "{shown:?}"
    );
    assert!(figure.text(80).contains("3 values are not finite"));
}

#[test]
fn panels_without_data_say_so() {
    let charts = [
        Chart::Lines(Curves::default()),
        Chart::Dots(ByCategory::default()),
        Chart::Radar(ByCategory::default()),
        Chart::Stacked(ByCategory::default()),
        Chart::Boxes(Samples::default()),
        Chart::Densities(Samples::default()),
        Chart::Histograms(Samples::default()),
        Chart::Heat(Heat::default()),
        Chart::Words(Words::default()),
    ];
    for chart in charts {
        let figure = Figure::new(vec![Panel::new(
            Axis::default(),
            Axis::default(),
            chart.clone(),
        )]);
        assert!(figure.svg().contains(">no data<"), "{chart:?}");
        assert!(figure.text(40).contains("no data"), "{chart:?}");
    }
}

#[test]
fn names_of_others_stay_text_and_links_lead_into_the_web() {
    let (_, figure) = testing::all()
        .into_iter()
        .find(|(name, _)| *name == "hostile-names")
        .unwrap();
    for svg in [figure.svg(), figure.svg_for_page("a\"><script>")] {
        let document = roxmltree::Document::parse(&svg).unwrap();
        let tags: Vec<&str> = document
            .descendants()
            .map(|node| node.tag_name().name())
            .collect();
        assert!(!tags.contains(&"script") && !tags.contains(&"b"));
        assert!(
            !svg.contains("javascript:") && !svg.contains('\u{202e}') && !svg.contains('\u{1b}')
        );
        assert!(
            svg.contains("\\u{202e}"),
            "what cannot be seen is shown as an escape"
        );
    }
    for (link, is_kept) in [
        ("sessions/7?at=3#top", true),
        ("https://example.org/a:b", true),
        ("/a:b", true),
        ("JavaScript:alert(1)", false),
        ("data:text/html,x", false),
        (" javascript:alert(1)", false),
        ("java\tscript:alert(1)", false),
    ] {
        let curves = Curves {
            series: vec![Series::new(
                "a",
                vec![Point::new(1, Mark::new(1.0).link(link))],
            )],
            baselines: Vec::new(),
        };
        let panel = Panel::new(Axis::new("x"), Axis::new("y"), Chart::Scatter(curves));
        let svg = Figure::new(vec![panel]).svg();
        assert_eq!(svg.contains(" href="), is_kept, "{link:?}");
    }
}

#[test]
fn figures_of_random_form_and_hostile_numbers_are_drawn_without_a_panic() {
    for seed in 0..3000 {
        let figure = testing::random::figure(seed);
        let page = figure.svg_for_page("a");
        let document = roxmltree::Document::parse(&page);
        let document = document.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        for node in document.descendants() {
            for name in ["d", "x", "y", "cx", "cy", "transform", "width", "height"] {
                let number = node.attribute(name).unwrap_or("");
                let is_odd = number.contains("NaN") || number.contains("inf");
                // A coordinate that long lies far outside.
                let is_far = number
                    .split([' ', 'L', 'M', 'Z'])
                    .any(|part| part.len() > 12);
                assert!(
                    !is_odd && !is_far || name == "transform",
                    "seed {seed}: {number}"
                );
            }
        }
        let width = 24 + seed as usize % 100;
        for line in figure.text(width).lines() {
            assert!(line.width() <= width, "seed {seed} at {width}: {line}");
        }
        assert!(!figure.csv().contains("NaN"), "seed {seed}");
    }
}
