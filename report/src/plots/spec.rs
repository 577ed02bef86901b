//! What a figure shows, as plain data: panels, each with a measure, what stands on its axes, and its
//! shape.

use crate::observation::Observation;

/// A figure by name.
#[derive(Debug)]
pub struct Plot {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it shows, for lists and above it.
    pub about: &'static str,
    /// The figure of the paper that it is like; empty for a general one.
    pub source: &'static str,
    /// Registered names of the games whose sessions it takes in; all where there is none.
    pub games: &'static [&'static str],
    /// Its panels.
    pub panels: &'static [PlotPanel],
}

/// A panel of a figure, or one for each value of [`PlotPanel::split`].
#[derive(Debug)]
pub struct PlotPanel {
    /// Above the panel; empty for the value that it is split by.
    pub title: &'static str,
    /// What is measured.
    pub value: Value,
    /// What stands on the axis of places: rounds, categories.
    pub x: By,
    /// What tells series apart.
    pub series: By,
    /// What there is a panel for each of.
    pub split: By,
    /// How it is drawn.
    pub shape: Shape,
    /// Title of the axis of places.
    pub x_title: &'static str,
    /// Title of the axis of numbers.
    pub y_title: &'static str,
    /// Unit of the numbers; empty for none, and for those whose range says enough.
    pub unit: &'static str,
    /// The range that the numbers are in, where that is known; drawn unless one of them is outside.
    pub range: Option<(f64, f64)>,
    /// What no number is below, where that alone is known; intervals end there.
    pub lowest: Option<f64>,
    /// Lines to compare with: name and value.
    pub baselines: &'static [(&'static str, f64)],
    /// Digits after the point of the numbers in a matrix, where they are not to follow from these.
    pub digits: Option<usize>,
}

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// The mean of a measure: of the observations of a session, then over sessions.
    Mean(&'static str),
    /// The same of a measure with this category.
    Of(&'static str, &'static str),
    /// The same of the first seat alone, whose way of playing some experiments vary.
    OfFirstSeat(&'static str),
    /// A sum over another: of all observations, with sessions as what is independent.
    Ratio(&'static str, &'static [&'static str]),
    /// 100 times the same.
    Percent(&'static str, &'static [&'static str]),
    /// Every observation of a measure by itself; only for distributions.
    Each(&'static str),
}

/// What observations are told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum By {
    /// Nothing.
    Nothing,
    /// The game.
    Game,
    /// The setting.
    Setting,
    /// What the experiment calls the setting, whatever its other axes; or else the setting.
    Label,
    /// Who plays: the player of the observation's seat, or all of the session.
    Player,
    /// The seat whose observation it is.
    Seat,
    /// The seat that it is about.
    About,
    /// The round.
    Round,
    /// The category.
    Category,
    /// The item, or what is rated.
    Item,
    /// The item's starting price.
    Price,
    /// An axis of the experiment, by the last segment of its path.
    Axis(&'static str),
}

/// How a panel is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// Lines with bands over numbers.
    Lines,
    /// Dots with intervals by category.
    Dots,
    /// Bars with intervals by category.
    Bars,
    /// Bars whose parts are shares.
    Stacked,
    /// Boxes with every point.
    Boxes,
    /// Densities.
    Densities,
    /// Histograms.
    Histograms,
    /// A matrix in colours and numbers.
    Heat,
    /// A spoke per category.
    Radar,
    /// The share of sessions above each number of the range, the mean over places.
    Profiles,
    /// Strengths of players who met in sessions, in points by two models; nothing else is measured.
    Strengths,
    /// Their TrueSkill.
    Skills,
}

impl Shape {
    /// Whether it shows values and no means.
    pub(super) fn is_distribution(self) -> bool {
        matches!(self, Self::Boxes | Self::Densities | Self::Histograms)
    }

    /// Whether it shows means and no intervals.
    pub(super) fn hides_intervals(self) -> bool {
        matches!(self, Self::Heat | Self::Radar | Self::Stacked)
    }

    /// Whether it rates players who met in sessions.
    pub(super) fn rates_players(self) -> bool {
        matches!(self, Self::Strengths | Self::Skills)
    }

    /// Whether it needs what each session came to, and not only sums.
    pub(super) fn needs_values(self) -> bool {
        self.is_distribution() || self == Self::Profiles
    }
}

impl PlotPanel {
    /// A panel with nothing said but what is measured and how it is drawn.
    pub const fn new(value: Value, shape: Shape) -> Self {
        Self {
            title: "",
            value,
            x: By::Player,
            series: By::Nothing,
            split: By::Nothing,
            shape,
            x_title: "",
            y_title: "",
            unit: "",
            range: None,
            lowest: None,
            baselines: &[],
            digits: None,
        }
    }

    /// With a title.
    pub const fn title(mut self, title: &'static str) -> Self {
        self.title = title;
        self
    }

    /// With something on the axis of places.
    pub const fn over(mut self, x: By, title: &'static str) -> Self {
        self.x = x;
        self.x_title = title;
        self
    }

    /// With series.
    pub const fn series(mut self, series: By) -> Self {
        self.series = series;
        self
    }

    /// With a panel for each value.
    pub const fn split(mut self, split: By) -> Self {
        self.split = split;
        self
    }

    /// With the axis of numbers.
    pub const fn measuring(mut self, title: &'static str, unit: &'static str) -> Self {
        self.y_title = title;
        self.unit = unit;
        self
    }

    /// With a known range of numbers.
    pub const fn range(mut self, from: f64, to: f64) -> Self {
        self.range = Some((from, to));
        self
    }

    /// With numbers that are never below 0.
    pub const fn from_zero(mut self) -> Self {
        self.lowest = Some(0.0);
        self
    }

    /// With so many digits after the point.
    pub const fn digits(mut self, digits: usize) -> Self {
        self.digits = Some(digits);
        self
    }

    /// With lines to compare with.
    pub const fn beside(mut self, baselines: &'static [(&'static str, f64)]) -> Self {
        self.baselines = baselines;
        self
    }
}

impl Value {
    /// What an observation adds to numerator and denominator; nothing where it is of another
    /// measure.
    pub(super) fn parts(&self, one: &Observation<'_>) -> Option<(f64, f64)> {
        let (measure, category, value) = (one.measure, one.at.category, one.value);
        match self {
            Self::OfFirstSeat(wanted) => {
                (measure == *wanted && one.at.seat == Some(0)).then_some((value, 1.0))
            }
            Self::Mean(wanted) | Self::Each(wanted) => (measure == *wanted).then_some((value, 1.0)),
            Self::Of(wanted, of) => {
                (measure == *wanted && category == Some(*of)).then_some((value, 1.0))
            }
            Self::Ratio(part, whole) | Self::Percent(part, whole) => {
                let numerator = if measure == *part { value } else { 0.0 };
                let denominator = if whole.contains(&measure) { value } else { 0.0 };
                (measure == *part || whole.contains(&measure)).then_some((numerator, denominator))
            }
        }
    }

    /// What the ratio is multiplied by.
    pub(super) fn scale(&self) -> f64 {
        match self {
            Self::Percent(..) => 100.0,
            _ => 1.0,
        }
    }

    /// Whether the mean of a session counts as one number, however many observations it has.
    pub(super) fn is_mean(&self) -> bool {
        matches!(self, Self::Mean(_) | Self::Of(..) | Self::OfFirstSeat(_))
    }
}
