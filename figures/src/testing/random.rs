//! Figures of random form and hostile numbers, for a test that nothing of the kind panics. Lists are
//! shorter or longer than those that they belong to.

use crate::testing::numbers::Numbers;
use crate::{
    Axis, Baseline, ByCategory, CategorySeries, Chart, Curves, Direction, Figure, Heat, Mark,
    Panel, Point, Sample, Samples, Series, Word, Words,
};

const HOSTILE: [f64; 14] = [
    0.0,
    -0.0,
    1.0,
    -3.5,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::MAX,
    f64::MIN_POSITIVE,
    5e-324,
    1e300,
    -1e300,
    1e16,
    1e-12,
];

/// A figure from a seed.
pub fn figure(seed: u64) -> Figure {
    let mut random = Random(Numbers::new(seed + 1));
    let panels = (0..random.below(4)).map(|_| random.panel()).collect();
    let mut figure = Figure::new(panels);
    figure.title = random.maybe().then(|| random.name());
    figure.caption = random.maybe().then(|| random.name());
    figure.same_scale = random.maybe();
    figure.columns = random.maybe().then(|| random.below(5));
    if random.maybe() {
        figure.wide()
    } else {
        figure
    }
}

struct Random(Numbers);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        (self.0.next() * end as f64) as usize
    }

    fn maybe(&mut self) -> bool {
        self.0.next() < 0.5
    }

    fn number(&mut self) -> f64 {
        match self.maybe() {
            true => HOSTILE[self.below(HOSTILE.len())],
            false => self.0.normal(0.0, 100.0),
        }
    }

    fn name(&mut self) -> String {
        let words = [
            "",
            "a",
            "long/name-of-a-model_that:breaks",
            "日本 語",
            "\u{202e}x\ny",
            "<&>",
        ];
        let count = self.below(4);
        (0..count).map(|_| words[self.below(words.len())]).collect()
    }

    fn names(&mut self) -> Vec<String> {
        (0..self.below(7)).map(|_| self.name()).collect()
    }

    fn mark(&mut self) -> Mark {
        let mut mark = Mark::new(self.number());
        if self.maybe() {
            mark = mark.between(self.number(), self.number());
        }
        mark
    }

    fn marks(&mut self) -> Vec<Option<Mark>> {
        (0..self.below(8))
            .map(|_| self.maybe().then(|| self.mark()))
            .collect()
    }

    fn axis(&mut self) -> Axis {
        let mut axis = Axis::new(self.name()).unit(self.name());
        if self.maybe() {
            axis = axis.logarithmic();
        }
        if self.below(4) == 0 {
            axis = axis.range(self.number(), self.number());
        }
        axis.whole = self.maybe();
        axis
    }

    fn baselines(&mut self) -> Vec<Baseline> {
        let count = self.below(3);
        (0..count)
            .map(|_| Baseline::new(self.name(), self.number()))
            .collect()
    }

    fn curves(&mut self) -> Curves {
        let mut series = Vec::new();
        for _ in 0..self.below(4) {
            let points = (0..self.below(6)).map(|_| Point::new(self.number(), self.mark()));
            let points = points.collect();
            series.push(Series::new(self.name(), points));
        }
        Curves {
            series,
            baselines: self.baselines(),
        }
    }

    fn direction(&mut self) -> Direction {
        if self.maybe() {
            Direction::Rows
        } else {
            Direction::Columns
        }
    }

    fn by_category(&mut self) -> ByCategory {
        let count = self.below(4);
        ByCategory {
            categories: self.names(),
            series: (0..count)
                .map(|_| CategorySeries::new(self.name(), self.marks()))
                .collect(),
            baselines: self.baselines(),
            direction: self.direction(),
        }
    }

    fn samples(&mut self) -> Samples {
        let mut samples = Vec::new();
        for _ in 0..self.below(4) {
            let values: Vec<Mark> = (0..self.below(9)).map(|_| self.mark()).collect();
            samples.push(Sample::new(self.name(), self.name(), values));
        }
        Samples {
            samples,
            direction: self.direction(),
            bins: self.maybe().then(|| self.below(9)),
        }
    }

    fn heat(&mut self) -> Heat {
        let count = self.below(6);
        Heat {
            rows: self.names(),
            columns: self.names(),
            cells: (0..count).map(|_| self.marks()).collect(),
            measure: self.name(),
            range: self.maybe().then(|| (self.number(), self.number())),
            digits: self.maybe().then(|| self.below(4)),
            triangular: self.maybe(),
        }
    }

    fn words(&mut self) -> Words {
        let mut cells = Vec::new();
        for _ in 0..self.below(5) {
            let word = |_| self.maybe().then(|| Word::new(self.name(), self.name()));
            cells.push((0..5).map(word).collect());
        }
        Words {
            rows: self.names(),
            columns: self.names(),
            cells,
        }
    }

    fn panel(&mut self) -> Panel {
        let chart = match self.below(13) {
            0 => Chart::Lines(self.curves()),
            1 => Chart::Steps(self.curves()),
            2 => Chart::Scatter(self.curves()),
            3 => Chart::Dots(self.by_category()),
            4 => Chart::Bars(self.by_category()),
            5 => Chart::Stacked(self.by_category()),
            6 => Chart::Pairs(self.by_category()),
            7 => Chart::Radar(self.by_category()),
            8 => Chart::Boxes(self.samples()),
            9 => Chart::Densities(self.samples()),
            10 => Chart::Histograms(self.samples()),
            11 => Chart::Heat(self.heat()),
            _ => Chart::Words(self.words()),
        };
        let mut panel = Panel::new(self.axis(), self.axis(), chart);
        panel.title = self.maybe().then(|| self.name());
        panel
    }
}
