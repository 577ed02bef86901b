//! Heat maps and matrices of words for a terminal: numbers or words if they fit, else shades. Columns
//! that do not fit are counted.

use crate::chart::{Heat, Words};
use crate::charts;
use crate::figure::Panel;
use crate::number;

use super::width::{columns, cut, left, right};

/// Names take at most this share of a line.
const NAMES: usize = 3;

/// From low to high.
const SHADES: [char; 5] = ['·', '░', '▒', '▓', '█'];

/// The widest word that is shown whole if there is room.
const WIDEST_WORD: usize = 12;

/// Numbers in columns, or one shade per cell.
pub(super) fn heat(panel: &Panel, heat: &Heat, width: usize) -> Vec<String> {
    let text = |row: usize, column: usize| {
        let mark = heat
            .cells
            .get(row)
            .and_then(|row| row.get(column)?.as_ref());
        let is_hidden = heat.triangular && column > row;
        match mark.filter(|_| !is_hidden) {
            Some(mark) => match heat.digits {
                Some(digits) => number::fixed(mark.value, digits),
                None => number::short((mark.value * 100.0).round() / 100.0),
            },
            None if is_hidden => String::new(),
            None => "–".to_owned(),
        }
    };
    let cells = (0..heat.rows.len()).map(|row| {
        (0..heat.columns.len())
            .map(|column| text(row, column))
            .collect()
    });
    let cells: Vec<Vec<String>> = cells.collect();
    let names = names_width(&heat.rows, width);
    let widest = cells
        .iter()
        .flatten()
        .map(|cell| columns(cell))
        .max()
        .unwrap_or(1);
    let room = width.saturating_sub(names + 1) / heat.columns.len().max(1);
    let mut lines = vec![cut(&heat.measure, width)];
    if widest < room {
        lines.extend(table(&heat.rows, &heat.columns, &cells, width));
        return lines;
    }
    let (from, to) = charts::heat_ends(heat);
    let shown = width.saturating_sub(names + 1).min(heat.columns.len());
    for (row, name) in heat.rows.iter().enumerate() {
        let shade = |column: usize| {
            let mark = heat
                .cells
                .get(row)
                .and_then(|row| row.get(column)?.as_ref());
            let share = mark.map(|mark| (mark.value - from) / (to - from).max(f64::MIN_POSITIVE));
            let is_hidden = heat.triangular && column > row;
            share.filter(|_| !is_hidden).map_or(' ', |share| {
                SHADES[((share * 5.0) as usize).min(SHADES.len() - 1)]
            })
        };
        let shades: String = (0..shown).map(shade).collect();
        lines.push(format!("{} {shades}", left(name, names)));
    }
    let (low, high) = (number::short(from), number::short(to));
    let scale: String = SHADES.iter().collect();
    lines.push(cut(&format!("{low} {scale} {high}; blank: no data"), width));
    if shown < heat.columns.len() {
        let rest = heat.columns.len() - shown;
        lines.push(cut(&format!("and {rest} more columns"), width));
    }
    let title = panel.x.label();
    if !title.is_empty() {
        lines.push(cut(
            &format!("columns: {title}, in the order of its names"),
            width,
        ));
    }
    lines
}

/// Words in columns, cut to their room.
pub(super) fn words(words: &Words, width: usize) -> Vec<String> {
    let text = |row: usize, column: usize| {
        let word = words
            .cells
            .get(row)
            .and_then(|row| row.get(column)?.as_ref());
        word.map_or(String::new(), |word| word.text.clone())
    };
    let cells = (0..words.rows.len()).map(|row| {
        (0..words.columns.len())
            .map(|column| text(row, column))
            .collect()
    });
    table(
        &words.rows,
        &words.columns,
        &cells.collect::<Vec<_>>(),
        width,
    )
}

fn names_width(names: &[String], width: usize) -> usize {
    let longest = names.iter().map(|name| columns(name)).max().unwrap_or(0);
    longest.min(width / NAMES)
}

/// As many columns as fit; the rest is counted. Heads that do not fit are numbers, with a key.
fn table(rows: &[String], heads: &[String], cells: &[Vec<String>], width: usize) -> Vec<String> {
    let widest = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| columns(text)).max().unwrap_or(1)
    };
    let word = widest(&mut cells.iter().flatten()).clamp(1, WIDEST_WORD);
    let room = width.saturating_sub(names_width(rows, width));
    let fair = (room / heads.len().max(1)).saturating_sub(1);
    let head = widest(&mut heads.iter());
    let is_numbered = head > fair.max(word);
    let number = |index: usize| (index + 1).to_string();
    let numbers: Vec<String> = (0..heads.len()).map(number).collect();
    let is_square = is_numbered && rows == heads;
    let named = |(index, name): (usize, &String)| match is_square {
        true => format!("{} {name}", index + 1),
        false => name.clone(),
    };
    let rows: Vec<String> = rows.iter().enumerate().map(named).collect();
    let names = names_width(&rows, width);
    let room = width.saturating_sub(names);
    let least = if is_numbered {
        widest(&mut numbers.iter())
    } else {
        head
    };
    let cell = word.max(least).min(room.saturating_sub(1)).max(1);
    let shown = (room / (cell + 1)).min(heads.len());
    let line = |name: &str, cells: &mut dyn Iterator<Item = &String>| {
        let cells = cells
            .take(shown)
            .map(|text| format!(" {}", right(text, cell)));
        format!("{}{}", left(name, names), cells.collect::<String>())
    };
    let heads_shown = if is_numbered { &numbers[..] } else { heads };
    let mut lines = vec![line("", &mut heads_shown.iter())];
    for (name, cells) in rows.iter().zip(cells) {
        lines.push(line(name, &mut cells.iter()));
    }
    if shown < heads.len() {
        lines.push(cut(
            &format!("and {} more columns", heads.len() - shown),
            width,
        ));
    }
    if is_numbered && !is_square {
        let key = heads.iter().enumerate().take(shown);
        lines.extend(key.map(|(index, head)| cut(&format!("{} {head}", index + 1), width)));
    }
    lines
}
