//! Tables, exports and readable logs: pure functions of session records, folded one line
//! at a time, so that a run of any size fits into memory. No files: the command line
//! reads and writes those.

pub mod accumulator;
pub mod auction;
pub mod leaderboard;
pub mod money;
pub mod ratings;
pub mod results;
pub mod session;
pub mod statistics;
pub mod story;
pub mod summary;
mod table;

pub use auction::AuctionReport;
pub use leaderboard::Leaderboard;
pub use money::{dollars, exact_dollars};
pub use ratings::Ratings;
pub use results::ResultColumns;
pub use session::{Session, SessionError};
pub use statistics::StatisticsError;
pub use story::Telling;
pub use summary::Summary;
