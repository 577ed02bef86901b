//! What several games share, each file about one thing. A file here knows no game; the files
//! of games import it through `prelude`.

pub mod columns;
pub mod defaults;
pub mod parameters;
pub mod ranking;
pub mod rationality;
pub mod rounds;
pub mod survival;
