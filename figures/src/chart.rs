//! The kinds of charts and their data. Several kinds share a form of data: points of series, marks
//! by category, samples, or a matrix. Only data; drawing is in `charts`.

use crate::mark::{Baseline, Mark, Series};

/// What a panel draws.
#[derive(Debug, Clone, PartialEq)]
pub enum Chart {
    /// Trajectories: a line per series with its band, and baselines.
    Lines(Curves),
    /// Steps per series: performance profiles, cumulative distributions.
    Steps(Curves),
    /// Points per series, with vertical intervals.
    Scatter(Curves),
    /// Dots with intervals; several series of a category stand side by side.
    Dots(ByCategory),
    /// Bars from zero, with intervals.
    Bars(ByCategory),
    /// Bars whose parts are the series.
    Stacked(ByCategory),
    /// Dots of one category joined by a line, such as two conditions.
    Pairs(ByCategory),
    /// A spoke per category, a polygon per series.
    Radar(ByCategory),
    /// Boxes (quartiles, whiskers to the last point within 1.5 times their range) with every
    /// point beside its box.
    Boxes(Samples),
    /// Densities: Gaussian kernel.
    Densities(Samples),
    /// Histograms on common bins.
    Histograms(Samples),
    /// A matrix in colours and numbers.
    Heat(Heat),
    /// A matrix of words in the colours of their series: who did what when.
    Words(Words),
}

/// Points of series on two axes of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Curves {
    /// One line, step line or cloud each.
    pub series: Vec<Series>,
    /// Horizontal lines to compare with.
    pub baselines: Vec<Baseline>,
}

/// Which way an axis of categories runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// Categories from top to bottom, values along the x axis: room for long names.
    #[default]
    Rows,
    /// Categories from left to right, values along the y axis: days, rounds.
    Columns,
}

/// Marks by category and series.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ByCategory {
    /// Names on the axis of categories.
    pub categories: Vec<String>,
    /// One mark per category each.
    pub series: Vec<CategorySeries>,
    /// Lines across the categories to compare with.
    pub baselines: Vec<Baseline>,
    /// Which way the axis of categories runs; radars ignore it.
    pub direction: Direction,
}

/// A series that has at most one mark per category.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CategorySeries {
    /// Looked up in the palette; an empty name has no line in the legend.
    pub name: String,
    /// In the order of the categories; `None` or a missing end is a gap.
    pub marks: Vec<Option<Mark>>,
}

impl CategorySeries {
    /// Marks under a name.
    pub fn new(name: impl Into<String>, marks: Vec<Option<Mark>>) -> Self {
        Self {
            name: name.into(),
            marks,
        }
    }

    /// The mark of a category.
    pub(crate) fn mark(&self, category: usize) -> Option<&Mark> {
        self.marks.get(category)?.as_ref()
    }
}

/// Samples of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Samples {
    /// Boxes stand by category, in order of first appearance; densities and histograms ignore it.
    pub samples: Vec<Sample>,
    /// Which way the axis of categories runs.
    pub direction: Direction,
    /// Bins of histograms; chosen by Freedman and Diaconis' rule if not given.
    pub bins: Option<usize>,
}

/// The observations of one series in one category.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sample {
    /// Name on the axis of categories; may be empty.
    pub category: String,
    /// Looked up in the palette; an empty name has no line in the legend.
    pub series: String,
    /// One mark per observation; intervals are not drawn.
    pub values: Vec<Mark>,
}

impl Sample {
    /// Plain numbers of one series in one category.
    pub fn new(
        category: impl Into<String>,
        series: impl Into<String>,
        values: impl IntoIterator<Item = impl Into<Mark>>,
    ) -> Self {
        Self {
            category: category.into(),
            series: series.into(),
            values: values.into_iter().map(Into::into).collect(),
        }
    }
}

/// A matrix of numbers.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Heat {
    /// From top to bottom.
    pub rows: Vec<String>,
    /// From left to right.
    pub columns: Vec<String>,
    /// By row, then column; `None` or a missing end is hatched.
    pub cells: Vec<Vec<Option<Mark>>>,
    /// What the numbers are, with the unit: beside the scale of colours.
    pub measure: String,
    /// The ends of the scale of colours; those of the values if not given.
    pub range: Option<(f64, f64)>,
    /// Digits after the point of the numbers in cells; chosen from the values if not given.
    pub digits: Option<usize>,
    /// Leave out what lies above the diagonal.
    pub triangular: bool,
}

/// A matrix of words.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Words {
    /// From top to bottom.
    pub rows: Vec<String>,
    /// From left to right.
    pub columns: Vec<String>,
    /// By row, then column; `None` or a missing end is an empty cell.
    pub cells: Vec<Vec<Option<Word>>>,
}

/// A word in a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Word {
    /// What stands in the cell; shortened if there is no room, and whole in the tooltip.
    pub text: String,
    /// The series that gives the cell its colour and a line in the legend; may be empty.
    pub series: String,
    /// Said in the tooltip.
    pub note: Option<String>,
    /// Where a click on the page leads.
    pub link: Option<String>,
}

impl Word {
    /// A word in the colour of a series.
    pub fn new(text: impl Into<String>, series: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            series: series.into(),
            ..Self::default()
        }
    }
}

impl Chart {
    /// Names of the series in order of appearance, each once.
    pub(crate) fn series_names(&self) -> Vec<&str> {
        let all: Vec<&str> = match self {
            Self::Lines(curves) | Self::Steps(curves) | Self::Scatter(curves) => {
                curves.series.iter().map(|series| &*series.name).collect()
            }
            Self::Dots(data)
            | Self::Bars(data)
            | Self::Stacked(data)
            | Self::Pairs(data)
            | Self::Radar(data) => data.series.iter().map(|series| &*series.name).collect(),
            Self::Boxes(samples) | Self::Densities(samples) | Self::Histograms(samples) => {
                let samples = samples.samples.iter();
                samples.map(|sample| &*sample.series).collect()
            }
            Self::Heat(_) => Vec::new(),
            Self::Words(words) => {
                let words = words.cells.iter().flatten().flatten();
                words.map(|word| &*word.series).collect()
            }
        };
        let mut names: Vec<&str> = Vec::new();
        for name in all {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Lines to compare with.
    pub(crate) fn baselines(&self) -> &[Baseline] {
        match self {
            Self::Lines(curves) | Self::Steps(curves) | Self::Scatter(curves) => &curves.baselines,
            Self::Dots(data) | Self::Bars(data) | Self::Pairs(data) => &data.baselines,
            _ => &[],
        }
    }
}
