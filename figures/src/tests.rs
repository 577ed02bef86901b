//! Claims about whole figures, on every made-up one: well-formed, legible, complete, the same each
//! time, and harmless whatever names say.

use crate::layout::lay_out;
use crate::{Figure, Width, page_style, testing};

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
    for (name, figure) in figures() {
        let scene = lay_out(&figure);
        let texts = scene.texts();
        for (index, text) in texts.iter().enumerate() {
            let [left, top, right, bottom] = text.bounds();
            let is_inside = left >= -0.1
                && top >= -0.1
                && right <= scene.width + 0.1
                && bottom <= scene.height + 0.1;
            if !is_inside || text.size < 7.0 {
                wrong.push(format!("{name}: {:?} leaves the figure", text.content));
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
