//! A figure as data: panels in a grid with axes, legend and caption. What it looks like is decided
//! elsewhere; here is only what the caller says.

use crate::chart::Chart;
use crate::palette::Palette;

/// One or several panels under a title, over a caption.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Figure {
    /// Stands above the panels.
    pub title: Option<String>,
    /// Drawn row by row.
    pub panels: Vec<Panel>,
    /// Panels beside each other; chosen from width and content if not given.
    pub columns: Option<usize>,
    /// One axis of the same name has one range in all panels, and heat maps one scale of colours.
    pub same_scale: bool,
    /// Stands below the panels: n, the method of the intervals, notes. What was left out of the
    /// drawing is added to it.
    pub caption: Option<String>,
    /// The printed width.
    pub width: Width,
    /// The looks of the series; names that it lacks are added in order of appearance.
    pub palette: Palette,
}

impl Figure {
    /// A figure of these panels.
    pub fn new(panels: Vec<Panel>) -> Self {
        Self {
            panels,
            ..Self::default()
        }
    }

    /// With a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// With a caption.
    pub fn caption(mut self, caption: impl Into<String>) -> Self {
        self.caption = Some(caption.into());
        self
    }

    /// Over the whole page instead of one column.
    pub fn wide(mut self) -> Self {
        self.width = Width::Two;
        self
    }

    /// With so many panels beside each other.
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = Some(columns);
        self
    }

    /// With one range for every axis of the same name.
    pub fn same_scale(mut self) -> Self {
        self.same_scale = true;
        self
    }

    /// With the palette of a report.
    pub fn palette(mut self, palette: Palette) -> Self {
        self.palette = palette;
        self
    }
}

/// The printed width of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Width {
    /// One column of a paper: 85 mm.
    #[default]
    One,
    /// Two columns: 178 mm.
    Two,
}

impl Width {
    /// In millimetres.
    pub fn millimetres(self) -> f64 {
        match self {
            Self::One => 85.0,
            Self::Two => 178.0,
        }
    }

    /// In points, the unit of all drawing: 72 to the inch.
    pub(crate) fn points(self) -> f64 {
        self.millimetres() / 25.4 * 72.0
    }
}

/// A chart with its axes.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Stands above the chart.
    pub title: Option<String>,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn.
    pub chart: Chart,
}

impl Panel {
    /// A chart between two axes.
    pub fn new(x: Axis, y: Axis, chart: Chart) -> Self {
        Self {
            title: None,
            x,
            y,
            chart,
        }
    }

    /// With a title.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }
}

/// The title, unit and range of an axis. Charts with categories use the title alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Axis {
    /// What it measures.
    pub title: String,
    /// Unit of its numbers, if they have one; shown in brackets after the title.
    pub unit: Option<String>,
    /// Even steps or even factors.
    pub spacing: Spacing,
    /// Where it begins and ends; taken from the data if not given.
    pub range: Option<(f64, f64)>,
    /// Its numbers are whole: rounds, days, sessions.
    pub whole: bool,
}

impl Axis {
    /// An axis of numbers without a unit, or of categories.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            ..Self::default()
        }
    }

    /// With a unit.
    pub fn unit(mut self, unit: impl Into<String>) -> Self {
        self.unit = Some(unit.into());
        self
    }

    /// With even factors: every value must be above zero.
    pub fn logarithmic(mut self) -> Self {
        self.spacing = Spacing::Logarithmic;
        self
    }

    /// From one number to another.
    pub fn range(mut self, from: f64, to: f64) -> Self {
        self.range = Some((from, to));
        self
    }

    /// With whole numbers only.
    pub fn whole(mut self) -> Self {
        self.whole = true;
        self
    }

    /// Title and unit, as the axis shows them.
    pub(crate) fn label(&self) -> String {
        match self.unit.as_deref().filter(|unit| !unit.is_empty()) {
            Some(unit) if self.title.is_empty() => unit.to_owned(),
            Some(unit) => format!("{} ({unit})", self.title),
            None => self.title.clone(),
        }
    }
}

/// How the numbers of an axis are spaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// Even steps.
    #[default]
    Linear,
    /// Even factors.
    Logarithmic,
}
