//! How model players think: which calls they make, what they remember, what
//! they are told and how their replies are read.
//!
//! No I/O: a model is called only through the [`Mind`] that an agent is handed.
//! The worker builds agents with [`build`] and shows them events and asks.
//!
//! Reading order: [`agent`], [`mind`], `agents/direct.rs`, `turn.rs`, `dialogue.rs`,
//! [`narrator`], `library.rs`, `memory.rs`, [`reading`]; for agents that make calls of their
//! own, `agents/self_refine.rs`, `asking.rs`, [`templates`] and, in auctions,
//! `agents/auction.rs`. A module imports what stands lower in the list of layers in
//! `ARCHITECTURE.md`, and nothing above itself.

pub mod agent;
mod agents;
mod asking;
mod dialogue;
mod events;
pub mod forms;
mod info;
mod library;
mod memory;
pub mod mind;
pub mod narrator;
mod notes;
mod quotation;
pub mod reading;
mod rehearsal;
mod rivals;
mod roster;
pub mod settings;
pub mod templates;
mod turn;
mod understudy;

pub use agent::{Agent, AgentError, Answer, Verdict};
pub use agents::person::check_deadline;
pub use info::{AgentInfo, OwnCalls, Table};
pub use library::{AGENTS_VERSION, PromptLibrary, engine_fault, path_of_outside};
pub use mind::{Message, Mind, MindError, ModelSettings, Reply, ReplyFormat, Role, Thought};
pub use notes::Note;
pub use rehearsal::replaced;
pub use roster::{
    AGENTS, build, check_player, check_seat, own_calls, prompts_version, prompts_version_of,
    templates_of, uses_replaced,
};
pub use settings::{PERSONAS, PlayerSettings, models_of};
