//! Made-up marks by category: thirteen models with long names, several versions, games and days, in
//! rows and in columns.

#[cfg(test)]
use crate as agon_figures;

use agon_figures::{
    Axis, Baseline, ByCategory, CategorySeries, Chart, Direction, Figure, Mark, Panel,
};

use super::numbers::{MODELS, Numbers, models};

const CAPTION: &str = "n = 20 sessions each; 95 % t intervals.";

const GAMES: [&str; 8] = [
    "guess 2/3 of the average",
    "El Farol bar",
    "divide the dollar",
    "public goods",
    "diner's dilemma",
    "sealed-bid auction",
    "battle royale",
    "pirate game",
];

/// A file name and its figure.
pub fn all() -> Vec<(&'static str, Figure)> {
    let versions = ["version 1", "version 2", "version 3"];
    let hints = ["hinted", "plain"];
    let memory = ["without memory", "with memory"];
    vec![
        ("dots", in_rows(Chart::Dots(data(&[""], 13)))),
        ("dots-three", in_rows(Chart::Dots(data(&versions, 13)))),
        ("dots-panels", dots_by_game()),
        ("bars", in_columns(data(&hints, 13))),
        (
            "bars-rows",
            in_rows(Chart::Bars(data(&["hinted", "plain", "reversed"], 6))),
        ),
        ("bars-days", bars_by_day()),
        ("pairs", in_rows(Chart::Pairs(data(&memory, 13)))),
        ("stacked", stacked()),
        ("radar", radar()),
    ]
}

fn marks(seed: u64, count: usize, mean: f64) -> Vec<Option<Mark>> {
    let mut numbers = Numbers::new(seed);
    let mark = |_| {
        let (value, half) = (numbers.normal(mean, 8.0), 2.0 + 4.0 * numbers.next());
        Some(Mark::new(value).between(value - half, value + half).of(20))
    };
    (0..count).map(mark).collect()
}

fn data(names: &[&str], count: usize) -> ByCategory {
    let series = names.iter().enumerate().map(|(index, name)| {
        let marks = marks(index as u64 + 3, count, 60.0 - 9.0 * index as f64);
        CategorySeries::new(*name, marks)
    });
    ByCategory {
        categories: models(count),
        series: series.collect(),
        baselines: vec![Baseline::new("equilibrium", 50.0)],
        direction: Direction::Rows,
    }
}

fn score() -> Axis {
    Axis::new("score").unit("points")
}

fn in_rows(chart: Chart) -> Figure {
    Figure::new(vec![Panel::new(score(), Axis::new("model"), chart)]).caption(CAPTION)
}

fn in_columns(mut data: ByCategory) -> Figure {
    data.direction = Direction::Columns;
    Figure::new(vec![Panel::new(
        Axis::new("model"),
        score(),
        Chart::Bars(data),
    )])
    .caption(CAPTION)
}

fn bars_by_day() -> Figure {
    let mut data = data(&["hinted", "plain"], 8);
    data.categories = (1..=8).map(|day| format!("day {day}")).collect();
    data.direction = Direction::Columns;
    Figure::new(vec![Panel::new(
        Axis::new("day"),
        score(),
        Chart::Bars(data),
    )])
    .caption(CAPTION)
}

fn dots_by_game() -> Figure {
    let panels = GAMES.iter().take(6).zip(40..).map(|(game, seed)| {
        let mut data = data(&[""], 5);
        data.series[0].marks = marks(seed, 5, 50.0);
        Panel::new(score(), Axis::new("model"), Chart::Dots(data)).title(*game)
    });
    Figure::new(panels.collect()).same_scale().caption(CAPTION)
}

fn stacked() -> Figure {
    let mut data = data(&["cooperate", "defect", "retaliate", "forgive", "other"], 8);
    let marks = data.series.iter_mut().flat_map(|series| &mut series.marks);
    for mark in marks.flatten() {
        *mark = Mark::new((mark.value.abs() / 2.0).round());
    }
    data.baselines.clear();
    let share = Axis::new("choices").unit("% of 400");
    Figure::new(vec![Panel::new(
        share,
        Axis::new("model"),
        Chart::Stacked(data),
    )])
}

fn radar() -> Figure {
    let mut data = data(&MODELS[..3], 8);
    data.categories = GAMES.map(str::to_owned).into();
    data.baselines.clear();
    let panel = Panel::new(Axis::default(), score(), Chart::Radar(data));
    Figure::new(vec![panel]).caption("n = 20 sessions each.")
}
