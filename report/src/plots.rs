//! Figures of the papers and general ones, from the observations of one's own sessions: what a figure
//! shows is a line of a list (`list.rs`), and every number is gathered by session or series, never
//! by seat or round. The crate `figures` draws. Called by `agon figure` and by the report's page.

mod drawing;
mod gathering;
mod links;
mod list;
mod panel;
mod points;
mod set;
mod spec;

pub use agon_figures::Figure;
pub use gathering::PlotData;
pub use list::{every_for_games, find, for_games, plots};
pub use set::PlotSet;
pub use spec::{By, Plot, PlotPanel, Shape, Value};
