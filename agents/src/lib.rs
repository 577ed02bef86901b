//! How model players think: which calls they make, what they remember, what
//! they are told and how their replies are read.
//!
//! No I/O: a model is called only through the [`Mind`] that an agent is handed.
//! The worker builds agents with [`build`] and shows them events and asks.

pub mod agent;
pub mod mind;

pub use agent::{Agent, AgentError, Note};
pub use mind::{Message, Mind, MindError, ModelSettings, Reply, ReplyFormat, Role, Thought};
