//! What is drawn at one place: a value with its interval, how many observations stand behind it, a
//! note and a link. All plain data; a value that is not finite is left out of the drawing.

/// A value, and what is known about it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Mark {
    /// The value; NaN and infinite ones are left out and counted in the caption.
    pub value: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Observations behind the value.
    pub n: Option<u64>,
    /// Said in the tooltip, and in the CSV as `label`.
    pub note: Option<String>,
    /// Where a click on the page leads: a relative address, `http` or `https`.
    pub link: Option<String>,
}

impl Mark {
    /// A bare value.
    pub fn new(value: f64) -> Self {
        Self {
            value,
            ..Self::default()
        }
    }

    /// With the ends of its interval.
    pub fn between(mut self, low: f64, high: f64) -> Self {
        (self.low, self.high) = (Some(low), Some(high));
        self
    }

    /// With the number of observations behind it.
    pub fn of(mut self, n: u64) -> Self {
        self.n = Some(n);
        self
    }

    /// With a note for the tooltip.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }

    /// With a link for the page.
    pub fn link(mut self, link: impl Into<String>) -> Self {
        self.link = Some(link.into());
        self
    }

    /// Value and ends of the interval, as far as there are any.
    pub(crate) fn extent(&self) -> impl Iterator<Item = f64> {
        [Some(self.value), self.low, self.high]
            .into_iter()
            .flatten()
    }
}

impl From<f64> for Mark {
    fn from(value: f64) -> Self {
        Self::new(value)
    }
}

/// A mark at a number on the x axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Point {
    /// Where it stands on the x axis.
    pub x: f64,
    /// Its value on the y axis.
    pub y: Mark,
}

impl Point {
    /// A mark at `x`.
    pub fn new(x: impl Into<f64>, y: impl Into<Mark>) -> Self {
        Self {
            x: x.into(),
            y: y.into(),
        }
    }
}

/// Points under one name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Series {
    /// Looked up in the palette; an empty name has no line in the legend.
    pub name: String,
    /// In the order in which a line joins them.
    pub points: Vec<Point>,
}

impl Series {
    /// Points under a name.
    pub fn new(name: impl Into<String>, points: Vec<Point>) -> Self {
        Self {
            name: name.into(),
            points,
        }
    }
}

/// A straight line to compare with: an equilibrium, a rule player's score, chance.
#[derive(Debug, Clone, PartialEq)]
pub struct Baseline {
    /// Its line in the legend.
    pub name: String,
    /// Where it crosses the axis of values.
    pub value: f64,
}

impl Baseline {
    /// A line at a value.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }
}
