//! What several games share, each file about one thing.

pub mod columns;
pub mod defaults;
pub mod private_values;
pub mod ranking;
pub mod rationality;
pub mod rounds;
pub mod survival;
