//! The agents, a file or a folder each, and what several of them share: the picture and the
//! bidder of auctions, what is predicted of rivals, the personas of a world. No agent knows
//! another.

pub mod auction;
pub mod bdi;
pub mod chain_of_thought;
pub mod direct;
pub mod elicitation;
pub mod harbor;
pub mod k_level;
pub mod person;
pub mod prediction;
pub mod prediction_chain_of_thought;
pub mod reflexion;
pub mod self_refine;
pub mod world;
