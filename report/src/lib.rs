//! Tables, exports and readable logs: pure functions of session records, folded one line
//! at a time, so that a run of any size fits into memory. No files: the command line
//! reads and writes those.

pub mod accumulator;
mod alympics;
pub mod attempts;
pub mod auction;
mod axes;
mod basis;
pub mod blocks;
pub mod board;
pub mod common;
pub mod comparison;
mod econarena;
pub mod export;
pub mod game_report;
mod gathered;
mod grouping;
mod judging;
mod k_level;
pub mod layout;
pub mod leaderboard;
pub mod money;
pub mod observation;
pub mod page;
pub mod pivots;
pub mod plots;
mod published;
mod ranges;
mod ranking;
pub mod ratings;
pub mod reports;
pub mod results;
mod row;
pub mod selection;
pub mod session;
pub mod settings;
pub mod spreadsheet;
pub mod standings;
pub mod statistics;
pub mod story;
pub mod summary;
mod table;
pub mod tables;
#[cfg(test)]
mod testing;
pub mod viewing;
mod wrapping;

pub use axes::AxisNames;
pub use basis::{Answers, Basis, SessionAnswers};
pub use game_report::GameReport;
pub use layout::Layout;
pub use leaderboard::Leaderboard;
pub use money::{dollars, exact_dollars};
pub use pivots::Pivots;
pub use ratings::Ratings;
pub use reports::Reports;
pub use results::{Cells, ResultColumns};
pub use selection::Selection;
pub use session::{Session, SessionError};
pub use settings::{PlayerAnswers, SettingHead};
pub use standings::Standings;
pub use statistics::StatisticsError;
pub use story::Telling;
pub use summary::Summary;
pub use table::{Column, TextTable, count as grouped, counted};
pub use tables::Tables;
