//! Made-up matrices: thirteen models against each other, thirty players, a triangle, several games
//! on one scale, and who shot whom.

#[cfg(test)]
use crate as agon_figures;

use agon_figures::{Axis, Chart, Figure, Heat, Mark, Panel, Word, Words};

use super::numbers::{MODELS, Numbers, models};

const CAPTION: &str = "n = 20 sessions per cell; hatched: not played.";

/// A file name and its figure.
pub fn all() -> Vec<(&'static str, Figure)> {
    let mut triangle = heat(8, 4, 1.0);
    triangle.triangular = true;
    let one = |heat| Figure::new(vec![panel(heat)]).caption(CAPTION);
    vec![
        ("heat", one(heat(13, 3, 1.0))),
        ("heat-30", one(heat(30, 9, 40.0))),
        ("heat-triangular", one(triangle)),
        ("heat-panels", heat_by_game()),
        ("words", words()),
    ]
}

fn panel(heat: Heat) -> Panel {
    Panel::new(Axis::new("against"), Axis::new("player"), Chart::Heat(heat))
}

fn heat(size: usize, seed: u64, scale: f64) -> Heat {
    let mut numbers = Numbers::new(seed);
    let names: Vec<String> = match size <= MODELS.len() {
        true => models(size),
        false => (1..=size).map(|index| format!("player {index}")).collect(),
    };
    let cells = (0..size).map(|row| {
        let cell = |column: usize| {
            let value = numbers.next() * scale;
            let is_missing = row == column || value < 0.04 * scale;
            (!is_missing).then(|| Mark::new(value).of(20))
        };
        (0..size).map(cell).collect()
    });
    Heat {
        cells: cells.collect(),
        rows: names.clone(),
        columns: names,
        measure: "share won".to_owned(),
        ..Heat::default()
    }
}

fn heat_by_game() -> Figure {
    let panels = (0..3).map(|index| {
        let mut heat = heat(5, index + 20, 1.0);
        heat.rows = (1..=5).map(|row| format!("level {row}")).collect();
        heat.columns = (1..=5).map(|column| format!("{column} bots")).collect();
        panel(heat).title(format!("game {}", index + 1))
    });
    Figure::new(panels.collect()).same_scale().caption(CAPTION)
}

fn words() -> Figure {
    let mut numbers = Numbers::new(77);
    let cells = (0..10usize).map(|row| {
        let cell = |round: usize| {
            let victim = (numbers.next() * 10.0) as usize;
            let kind = ["hit", "missed"][usize::from(numbers.next() < 0.4)];
            let is_alive = round < 4 + row * 2;
            is_alive.then(|| match victim == row {
                true => Word::new("–", ""),
                false => Word::new(format!("P{}", victim + 1), kind),
            })
        };
        (0..20).map(cell).collect()
    });
    let words = Words {
        cells: cells.collect(),
        rows: (1..=10).map(|player| format!("P{player}")).collect(),
        columns: (1..=20).map(|round| round.to_string()).collect(),
    };
    let panel = Panel::new(
        Axis::new("round"),
        Axis::new("shooter"),
        Chart::Words(words),
    );
    Figure::new(vec![panel]).caption("Who shot whom; an empty cell: out of the game.")
}
