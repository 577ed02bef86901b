//! A person at one seat of one session: the session as an experiment of its own, what
//! was typed as an answer, the conversation at the door. Everything that is decided
//! passes the gateway like any other decision. Called by `agon play`.

pub mod answers;
pub mod seating;
pub mod sitting;
pub mod typing;
