//! Labels of axes that do not collide: fewer numbers, names on several lines, upright, shortened,
//! or only every second one, whatever the room allows. Places are those of `side::Map`.

use std::collections::BTreeSet;

use crate::figure::Spacing;
use crate::font;
use crate::number;
use crate::side::{Map, Numbers, Side};

/// The size of labels: the smallest that journals accept.
pub(crate) const SIZE: f64 = 7.0;

/// Between labels beside each other, and between an axis and its labels.
const GAP: f64 = 5.0;

/// The longest name below an axis when it stands upright.
const LONGEST_UPRIGHT: f64 = 96.0;

/// Between names of two lines, so that their lines are not mistaken for each other's.
const BETWEEN: f64 = 2.5;

/// Letters of what several names have in common that are kept: at the beginning, and before what tells
/// them apart.
const BEGINNING: usize = 10;
const BEFORE: usize = 4;

/// Sizes that were multiplied and divided are compared with this allowance.
const ROUNDING: f64 = 0.01;

/// Labels of an axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ticks {
    pub(crate) labels: Vec<Label>,
    /// Names read upwards.
    pub(crate) upright: bool,
    /// From the axis to the far end of the labels.
    pub(crate) depth: f64,
}

/// One label.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label {
    /// On the scale of the axis; the middle of a name.
    pub(crate) value: f64,
    pub(crate) lines: Vec<String>,
    /// The whole name, if it was shortened.
    pub(crate) whole: Option<String>,
}

impl Label {
    fn new(value: f64, lines: Vec<String>, name: &str) -> Self {
        let is_shortened = lines.iter().any(|line| line.contains('…'));
        Self {
            value,
            lines,
            whole: is_shortened.then(|| name.to_owned()),
        }
    }

    fn width(&self) -> f64 {
        widest(&self.lines)
    }
}

/// Labels below a chart of this width.
pub(crate) fn below(side: &Side, width: f64) -> Ticks {
    match side {
        Side::Numbers(numbers) => numbers_below(numbers, width),
        Side::Names(names, _) => names_below(names, width),
    }
}

/// Labels left of a chart of this height, in at most so much room.
pub(crate) fn beside(side: &Side, height: f64, room: f64) -> Ticks {
    let labels = match side {
        Side::Numbers(numbers) => {
            let wanted = (height / 18.0).clamp(2.0, 7.0) as usize;
            number_labels(numbers, wanted)
        }
        Side::Names(names, _) => names_beside(names, height, room),
    };
    let widest = labels.iter().map(Label::width).fold(0.0, f64::max);
    Ticks {
        labels,
        upright: false,
        depth: widest,
    }
}

/// The least distance of the names beside a chart when they may be so wide.
pub(crate) fn least_beside(names: &[String], room: f64) -> f64 {
    let is_wide = |name: &String| font::width(name, SIZE, false) > room;
    match names.iter().any(is_wide) {
        true => SIZE * font::LEADING + SIZE + BETWEEN,
        false => SIZE + 1.5,
    }
}

fn number_labels(numbers: &Numbers, wanted: usize) -> Vec<Label> {
    let mut values = match numbers.spacing {
        Spacing::Linear => number::round_steps(numbers.from, numbers.to, wanted),
        Spacing::Logarithmic => number::powers(numbers.from, numbers.to, wanted),
    };
    if numbers.whole {
        values.retain(|value| value.fract() == 0.0);
    }
    if values.is_empty() {
        values.push((numbers.from + numbers.to) / 2.0);
    }
    let texts = match numbers.spacing {
        Spacing::Linear => number::labels(&values),
        Spacing::Logarithmic => values.iter().map(|value| number::short(*value)).collect(),
    };
    let texts = texts.into_iter().zip(values);
    texts
        .map(|(text, value)| Label::new(value, vec![text], ""))
        .collect()
}

fn numbers_below(numbers: &Numbers, width: f64) -> Ticks {
    let map = Map::of(&Side::Numbers(numbers.clone()), 0.0, width);
    let most = (width / 15.0).clamp(1.0, 9.0) as usize;
    let fits = |labels: &Vec<Label>| {
        labels.windows(2).all(|pair| {
            let between = map.at(pair[1].value) - map.at(pair[0].value);
            between >= (pair[0].width() + pair[1].width()) / 2.0 + GAP
        })
    };
    let fitting = (1..=most)
        .rev()
        .map(|wanted| number_labels(numbers, wanted))
        .find(fits);
    let labels = fitting.unwrap_or_else(|| {
        let mut labels = number_labels(numbers, 1);
        labels.truncate(1);
        labels
    });
    Ticks {
        labels,
        upright: false,
        depth: SIZE * font::LEADING,
    }
}

fn names_beside(names: &[String], height: f64, room: f64) -> Vec<Label> {
    let slot = height / names.len().max(1) as f64;
    let line = SIZE * font::LEADING;
    let lines = if slot + ROUNDING >= line + SIZE + BETWEEN {
        2
    } else {
        1
    };
    let every = (SIZE / (slot + ROUNDING)).ceil().max(1.0) as usize;
    let shown = told_apart(names, |name| font::balanced(name, SIZE, false, room, lines));
    let named = names.iter().zip(shown).enumerate().step_by(every);
    named
        .map(|(index, (name, lines))| Label::new(index as f64 + 0.5, lines, name))
        .collect()
}

/// Names as they are shown. Where shortened ones would look the same, most of what a name has in common
/// with another is left out.
fn told_apart(names: &[String], lines: impl Fn(&str) -> Vec<String>) -> Vec<Vec<String>> {
    let shown: Vec<Vec<String>> = names.iter().map(|name| lines(name)).collect();
    let distinct: BTreeSet<&Vec<String>> = shown.iter().collect();
    if distinct.len() == shown.len() {
        return shown;
    }
    let shorter = names
        .iter()
        .map(|name| lines(&without_what_is_shared(name, names)));
    shorter.collect()
}

fn without_what_is_shared(name: &str, names: &[String]) -> String {
    let others = names.iter().filter(|other| *other != name);
    let shared = others.map(|other| {
        let both = name.chars().zip(other.chars());
        both.take_while(|(one, other)| one == other).count()
    });
    let shared = shared.max().unwrap_or(0);
    if shared <= BEGINNING + BEFORE + 1 {
        return name.to_owned();
    }
    let beginning = name.chars().take(BEGINNING);
    let rest = name.chars().skip(shared - BEFORE);
    beginning.chain(['…']).chain(rest).collect()
}

fn names_below(names: &[String], width: f64) -> Ticks {
    let slot = width / names.len().max(1) as f64;
    let line = SIZE * font::LEADING;
    let label =
        |index: usize, lines: Vec<String>| Label::new(index as f64 + 0.5, lines, &names[index]);
    let wrapped = names
        .iter()
        .map(|name| font::wrapped(name, SIZE, false, slot - 3.0, 3));
    let wrapped: Vec<Vec<String>> = wrapped.collect();
    if (0..names.len()).all(|index| keeps_words(&names[index], &wrapped[index])) {
        let most = wrapped.iter().map(Vec::len).max().unwrap_or(1);
        let labels = wrapped.into_iter().enumerate();
        return Ticks {
            labels: labels.map(|(index, lines)| label(index, lines)).collect(),
            upright: false,
            depth: most as f64 * line,
        };
    }
    let widest = names.iter().map(|name| font::width(name, SIZE, false));
    let every = ((widest.fold(0.0, f64::max) + GAP) / slot).ceil();
    let are_numbers = names.iter().all(|name| name.parse::<f64>().is_ok());
    if are_numbers && every.is_finite() {
        let kept = (0..names.len()).step_by(every.max(1.0) as usize);
        return Ticks {
            labels: kept
                .map(|index| label(index, vec![names[index].clone()]))
                .collect(),
            upright: false,
            depth: line,
        };
    }
    let most_lines = if slot + ROUNDING >= line + SIZE + BETWEEN {
        2
    } else {
        1
    };
    let every = (SIZE / (slot + ROUNDING)).ceil().max(1.0) as usize;
    let kept = (0..names.len()).step_by(every);
    let shown = told_apart(names, |name| {
        font::balanced(name, SIZE, false, LONGEST_UPRIGHT, most_lines)
    });
    let labels: Vec<Label> = kept
        .map(|index| label(index, shown[index].clone()))
        .collect();
    let depth = labels.iter().map(Label::width).fold(0.0, f64::max);
    Ticks {
        labels,
        upright: true,
        depth,
    }
}

/// The lines hold the whole name and break between words only.
fn keeps_words(name: &str, lines: &[String]) -> bool {
    let is_whole = lines
        .iter()
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(" ")
        == name.trim();
    is_whole || lines.len() <= 1 && lines.iter().all(|line| line == name.trim())
}

/// Width of the widest line.
pub(crate) fn widest(lines: &[String]) -> f64 {
    let widths = lines.iter().map(|line| font::width(line, SIZE, false));
    widths.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(names: &[&str]) -> Vec<String> {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let labels = names_beside(&names, 100.0, 90.0).into_iter();
        labels.map(|label| label.lines.join(" ")).collect()
    }

    #[test]
    fn names_that_begin_alike_show_where_they_differ() {
        let beginning =
            "persona=\"One more instruction is written in a Caesar cipher, with letters";
        let [one, other] = ["three", "five"].map(|shift| format!("{beginning} moved by {shift}"));
        let labels = shown(&[&one, &other, "plain setting"]);
        assert!(
            labels[0].ends_with("three") && labels[1].ends_with("five"),
            "{labels:?}"
        );
        assert!(labels[0].starts_with("persona=\"O"), "{labels:?}");
        assert_eq!(labels[2], "plain setting");
    }

    #[test]
    fn long_names_that_differ_at_once_keep_their_beginning() {
        let labels = shown(&[
            "first of all the settings that were ever played with so many words in it",
            "second of all the settings that were ever played with so many words in it",
        ]);
        assert!(labels[0].starts_with("first of all"), "{labels:?}");
        assert!(labels[1].starts_with("second of all"), "{labels:?}");
    }
}
