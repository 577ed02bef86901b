//! Made-up figures of every kind and of hard sizes, for tests and for the gallery. Numbers come from
//! a small generator, the same every time.

#[cfg(test)]
use crate as agon_figures;

// The gallery includes this file by its path.
#[path = "testing/hard.rs"]
mod hard;

use agon_figures::{
    Axis, Baseline, ByCategory, CategorySeries, Chart, Curves, Direction, Figure, Heat, Mark,
    Panel, Point, Sample, Samples, Series, Word, Words,
};

/// Names as providers give them.
pub const MODELS: [&str; 13] = [
    "anthropic/claude-sonnet-4-5-20250929",
    "openai/gpt-4o-2024-08-06",
    "google/gemini-2.5-pro-preview-06-05",
    "meta-llama/Llama-3.3-70B-Instruct",
    "mistralai/Mixtral-8x22B-Instruct-v0.1",
    "deepseek-ai/DeepSeek-R1-Distill-Qwen-32B",
    "Qwen/Qwen2.5-72B-Instruct",
    "cohere/command-r-plus-08-2024",
    "xai/grok-3-mini",
    "rule: tit for tat",
    "rule: fixed bidder",
    "microsoft/phi-4",
    "01-ai/Yi-1.5-34B-Chat",
];

/// Numbers between 0 and 1 from a seed.
pub struct Numbers(u64);

impl Numbers {
    /// A stream of its own.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// The next one.
    pub fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.next()).sum();
        mean + (sum - 6.0) * deviation
    }
}

/// A file name and its figure, one of every kind and hard case.
pub fn all() -> Vec<(&'static str, Figure)> {
    let mut all = Vec::new();
    all.extend(curves());
    all.extend(categories());
    all.extend(distributions());
    all.extend(matrices());
    all.extend(hard::all());
    all
}

fn trajectory(name: &str, seed: u64, rounds: u32) -> Series {
    let mut numbers = Numbers::new(seed);
    let start = numbers.normal(55.0, 8.0);
    let points = (1..=rounds).map(|round| {
        let mean = start * (-f64::from(round) * 0.03 * (seed as f64 % 5.0)).exp();
        let value = mean + numbers.normal(0.0, 1.5);
        let mark = Mark::new(value).between(value - 4.0, value + 4.0).of(20);
        Point::new(round, mark)
    });
    Series::new(name, points.collect())
}

fn trajectories(count: usize) -> Curves {
    let names = MODELS.iter().take(count).enumerate();
    Curves {
        series: names
            .map(|(index, name)| trajectory(name, index as u64 + 1, 20))
            .collect(),
        baselines: vec![Baseline::new("Nash equilibrium", 0.0)],
    }
}

fn curves() -> Vec<(&'static str, Figure)> {
    let panel = |curves| {
        let (x, y) = (
            Axis::new("round").whole(),
            Axis::new("mean choice").unit("points"),
        );
        Panel::new(x, y, Chart::Lines(curves))
    };
    let caption = "n = 20 sessions per model; bands: 95 % t intervals over session means.";
    let multiples = (0..6).map(|index| {
        let curves = Curves {
            series: vec![trajectory(MODELS[index], index as u64 + 1, 20)],
            baselines: vec![Baseline::new("Nash equilibrium", 0.0)],
        };
        panel(curves).title(MODELS[index])
    });
    let mut numbers = Numbers::new(5);
    let cloud = MODELS.iter().take(8).map(|name| {
        let points = (0..3).map(|_| {
            let (cost, score) = (
                10f64.powf(numbers.normal(-1.0, 0.8)),
                numbers.normal(60.0, 12.0),
            );
            let mark = Mark::new(score).between(score - 5.0, score + 5.0).of(20);
            Point::new(cost, mark.link("sessions/1"))
        });
        Series::new(*name, points.collect())
    });
    let cost = Axis::new("cost per session").unit("$").logarithmic();
    let cloud = Curves {
        series: cloud.collect(),
        baselines: vec![Baseline::new("chance", 50.0)],
    };
    let profiles = MODELS.iter().take(6).enumerate().map(|(index, name)| {
        let steps = (0..=20).map(|step| {
            let share = f64::from(step) / 20.0;
            Point::new(share, 1.0 - share.powf(0.4 + index as f64 * 0.4))
        });
        Series::new(*name, steps.collect())
    });
    let profiles = Curves {
        series: profiles.collect(),
        baselines: Vec::new(),
    };
    let share = Axis::new("share of runs with score above τ").range(0.0, 1.0);
    vec![
        (
            "lines",
            Figure::new(vec![panel(trajectories(10))])
                .title("Guessing game: choices fall towards the equilibrium")
                .caption(caption),
        ),
        (
            "multiples",
            Figure::new(multiples.collect())
                .same_scale()
                .caption(caption),
        ),
        (
            "scatter",
            Figure::new(vec![Panel::new(
                cost,
                Axis::new("score").unit("points"),
                Chart::Scatter(cloud),
            )])
            .caption("n = 20 sessions per point; 95 % t intervals."),
        ),
        (
            "steps",
            Figure::new(vec![Panel::new(
                Axis::new("normalised score τ"),
                share,
                Chart::Steps(profiles),
            )])
            .title("Performance profiles"),
        ),
    ]
}

fn marks(seed: u64, count: usize, mean: f64) -> Vec<Option<Mark>> {
    let mut numbers = Numbers::new(seed);
    (0..count)
        .map(|_| {
            let (value, half) = (numbers.normal(mean, 8.0), 2.0 + 4.0 * numbers.next());
            Some(Mark::new(value).between(value - half, value + half).of(20))
        })
        .collect()
}

fn models(count: usize) -> Vec<String> {
    MODELS
        .iter()
        .take(count)
        .map(|name| (*name).to_owned())
        .collect()
}

fn categories() -> Vec<(&'static str, Figure)> {
    let data = |names: &[&str], count: usize, direction| ByCategory {
        categories: models(count),
        series: names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                CategorySeries::new(
                    *name,
                    marks(index as u64 + 3, count, 60.0 - 9.0 * index as f64),
                )
            })
            .collect(),
        baselines: vec![Baseline::new("equilibrium", 50.0)],
        direction,
    };
    let panel = |chart| Panel::new(Axis::new("score").unit("points"), Axis::new("model"), chart);
    let upright = |chart| Panel::new(Axis::new("model"), Axis::new("score").unit("points"), chart);
    let caption = "n = 20 sessions each; 95 % t intervals.";
    let games = [
        "guess 2/3 of the average",
        "El Farol bar",
        "divide the dollar",
        "public goods",
        "diner's dilemma",
        "sealed-bid auction",
        "battle royale",
        "pirate game",
    ];
    let mut radar = data(&MODELS[..3], 8, Direction::Rows);
    radar.categories = games.map(str::to_owned).into();
    let shares = ["cooperate", "defect", "retaliate", "forgive", "other"];
    let mut stacked = data(&shares, 8, Direction::Rows);
    for mark in stacked
        .series
        .iter_mut()
        .flat_map(|series| &mut series.marks)
        .flatten()
    {
        *mark = Mark::new((mark.value.abs() / 2.0).round());
    }
    stacked.baselines.clear();
    let panels = games.iter().take(6).enumerate().map(|(index, game)| {
        let mut data = data(&[""], 5, Direction::Rows);
        data.series[0].marks = marks(index as u64 + 40, 5, 50.0);
        panel(Chart::Dots(data)).title(*game)
    });
    let mut days = data(&["hinted", "plain"], 8, Direction::Columns);
    days.categories = (1..=8).map(|day| format!("day {day}")).collect();
    let with = |panel, text: &str| Figure::new(vec![panel]).caption(text);
    vec![
        (
            "dots",
            with(
                panel(Chart::Dots(data(&[""], 13, Direction::Rows))),
                caption,
            ),
        ),
        (
            "dots-three",
            with(
                panel(Chart::Dots(data(
                    &["version 1", "version 2", "version 3"],
                    13,
                    Direction::Rows,
                ))),
                caption,
            ),
        ),
        (
            "dots-panels",
            Figure::new(panels.collect()).same_scale().caption(caption),
        ),
        (
            "bars",
            with(
                upright(Chart::Bars(data(
                    &["hinted", "plain"],
                    13,
                    Direction::Columns,
                ))),
                caption,
            ),
        ),
        (
            "bars-rows",
            with(
                panel(Chart::Bars(data(
                    &["hinted", "plain", "reversed"],
                    6,
                    Direction::Rows,
                ))),
                caption,
            ),
        ),
        ("bars-days", with(upright(Chart::Bars(days)), caption)),
        (
            "pairs",
            with(
                panel(Chart::Pairs(data(
                    &["without memory", "with memory"],
                    13,
                    Direction::Rows,
                ))),
                "Lines join the means of one model; 95 % intervals of the paired difference are in the table.",
            ),
        ),
        (
            "stacked",
            with(
                panel(Chart::Stacked(stacked)),
                "Numbers are per cent of 400 choices.",
            ),
        ),
        (
            "radar",
            with(
                Panel::new(
                    Axis::default(),
                    Axis::new("score").unit("points"),
                    Chart::Radar(radar),
                ),
                caption,
            ),
        ),
    ]
}

fn distributions() -> Vec<(&'static str, Figure)> {
    let sample = |category: String, series: &str, seed: u64, mean: f64| {
        let mut numbers = Numbers::new(seed);
        let values: Vec<f64> = (0..40).map(|_| numbers.normal(mean, 6.0)).collect();
        Sample::new(category, series, values)
    };
    let days = (1..=10u32).flat_map(|day| {
        ["rule players", "models"].map(|series| {
            let mean = 30.0 + f64::from(day) * if series == "models" { 3.0 } else { 1.0 };
            sample(
                format!("day {day}"),
                series,
                u64::from(day) * 7 + series.len() as u64,
                mean,
            )
        })
    });
    let rows = MODELS.iter().take(6).enumerate();
    let rows = rows.map(|(index, name)| sample((*name).to_owned(), "", index as u64 + 90, 40.0));
    let curves = || {
        let names = MODELS.iter().take(4).enumerate();
        let samples = names.map(|(index, name)| {
            sample(
                String::new(),
                name,
                index as u64 + 70,
                30.0 + 8.0 * index as f64,
            )
        });
        Samples {
            samples: samples.collect(),
            ..Samples::default()
        }
    };
    let columns = Samples {
        samples: days.collect(),
        direction: Direction::Columns,
        bins: None,
    };
    let rows = Samples {
        samples: rows.collect(),
        ..Samples::default()
    };
    let bid = || Axis::new("bid").unit("$");
    vec![
        (
            "boxes",
            Figure::new(vec![Panel::new(
                Axis::new("day"),
                bid(),
                Chart::Boxes(columns),
            )])
            .caption("n = 40 bids per box."),
        ),
        (
            "boxes-rows",
            Figure::new(vec![Panel::new(
                bid(),
                Axis::new("model"),
                Chart::Boxes(rows),
            )])
            .caption("n = 40 bids per box."),
        ),
        (
            "densities",
            Figure::new(vec![Panel::new(
                bid(),
                Axis::new("density").unit("1/$"),
                Chart::Densities(curves()),
            )])
            .caption("n = 40 bids per model; lines at the bottom are the bids."),
        ),
        (
            "histograms",
            Figure::new(vec![Panel::new(
                bid(),
                Axis::new("bids"),
                Chart::Histograms(curves()),
            )])
            .caption("n = 40 bids per model."),
        ),
    ]
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

fn matrices() -> Vec<(&'static str, Figure)> {
    let panel = |heat| Panel::new(Axis::new("against"), Axis::new("player"), Chart::Heat(heat));
    let mut triangular = heat(8, 4, 1.0);
    triangular.triangular = true;
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
        rows: (1..=10).map(|player| format!("P{player}")).collect(),
        columns: (1..=20).map(|round| round.to_string()).collect(),
        cells: cells.collect(),
    };
    let words = Panel::new(
        Axis::new("round"),
        Axis::new("shooter"),
        Chart::Words(words),
    );
    let games = (0..3).map(|index| {
        let mut heat = heat(5, index + 20, 1.0);
        heat.rows = (1..=5).map(|row| format!("level {row}")).collect();
        heat.columns = (1..=5).map(|column| format!("{column} bots")).collect();
        panel(heat).title(format!("game {}", index + 1))
    });
    vec![
        (
            "heat",
            Figure::new(vec![panel(heat(13, 3, 1.0))])
                .caption("n = 20 sessions per cell; hatched: not played."),
        ),
        (
            "heat-30",
            Figure::new(vec![panel(heat(30, 9, 40.0))])
                .caption("n = 20 sessions per cell; hatched: not played."),
        ),
        ("heat-triangular", Figure::new(vec![panel(triangular)])),
        ("heat-panels", Figure::new(games.collect()).same_scale()),
        (
            "words",
            Figure::new(vec![words]).caption("Who shot whom; an empty cell: out of the game."),
        ),
    ]
}
