//! Charts as SVG, PNG, PDF, CSV and terminal plots, from plain data; no game, record or file.
//!
//! A [`Figure`] holds [`Panel`]s; a panel is a [`Chart`] between two [`Axis`]; a chart holds series
//! of [`Mark`]s (value, interval, n, note, link). [`Figure::svg`] is for files,
//! [`Figure::svg_for_page`] with [`page_style`] for pages. A [`Palette`] of all names of a report,
//! given to each of its figures, keeps their looks the same.
//!
//! ```
//! use agon_figures::{Axis, Baseline, Chart, Curves, Figure, Mark, Palette, Panel, Point, Series};
//! let point = |round: i32, mean: f64| Point::new(round, Mark::new(mean).between(mean - 2.0, mean + 2.0).of(20));
//! let curves = Curves {
//!     series: vec![Series::new("tit for tat", (1..=20).map(|round| point(round, 50.0)).collect())],
//!     baselines: vec![Baseline::new("equilibrium", 0.0)],
//! };
//! let panel = Panel::new(Axis::new("round").whole(), Axis::new("choice").unit("points"), Chart::Lines(curves));
//! let figure = Figure::new(vec![panel]).caption("n = 20 sessions; 95 % t intervals.");
//! assert!(figure.palette(Palette::of(["tit for tat"])).svg().starts_with("<svg"));
//! ```

mod chart;
mod charts;
mod clip;
mod csv;
mod figure;
mod font;
mod frame;
mod grid;
mod layout;
mod legend;
mod mark;
mod number;
mod output;
mod palette;
mod plan;
mod prepare;
#[cfg(any(feature = "raster", feature = "pdf"))]
mod render;
mod samples;
mod scene;
mod shown;
mod side;
mod svg;
mod text;
mod texture;
mod ticks;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use chart::{
    ByCategory, CategorySeries, Chart, Curves, Direction, Heat, Sample, Samples, Word, Words,
};
pub use figure::{Axis, Figure, Panel, Spacing, Width};
pub use mark::{Baseline, Mark, Point, Series};
pub use palette::Palette;
#[cfg(any(feature = "raster", feature = "pdf"))]
pub use render::RenderError;
#[cfg(feature = "pdf")]
pub use render::pdf;
#[cfg(feature = "raster")]
pub use render::png;
pub use svg::page_style;
