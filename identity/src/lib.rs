//! Who comes in at the doors of coordinator and gateway: teams, their tokens and what each may do,
//! kept in the store that both share or in a file; the gate that every request passes; and the
//! record of who did what. Knows no experiment, session or decision: each service says by a table
//! which scopes its calls take.

pub mod audit;
pub mod document;
pub mod gate;
pub mod holder;
pub mod identity_file;
pub mod layer;
pub mod metrics;
pub mod scope;
pub mod sign_in;
pub mod store;
pub mod token;
pub mod view;
