//! What events of every game are called, as far as agents go by their names. What facts mean
//! the same in every game, a game says itself (`FactNames` of the engine).

/// The event that every game starts with.
pub const BRIEFING: &str = "briefing";

/// The event that ends a round.
pub const ROUND_RESULT: &str = "round_result";
