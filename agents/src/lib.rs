//! How model players think: which calls they make, what they remember, what
//! they are told and how their replies are read.
//!
//! No I/O: a model is called only through the [`Mind`] that an agent is handed.
//! The worker builds agents with [`build`] and shows them events and asks.
//!
//! Reading order: [`agent`], [`mind`], [`agents::direct`], [`turn`], [`dialogue`],
//! [`narrator`], [`library`], [`memory`], [`reading`]; for agents that make calls of their
//! own, [`asking`], [`templates`] and, in auctions, [`agents::auction`]; for those that think
//! about the others, [`agents::k_level`]. A module imports what stands lower in the list of
//! layers in `ARCHITECTURE.md`, and nothing above itself.

pub mod agent;
pub mod agents;
pub mod asking;
pub mod dialogue;
mod events;
pub mod forms;
pub mod info;
pub mod library;
pub mod memory;
pub mod mind;
pub mod narrator;
pub mod quotation;
pub mod reading;
mod rehearsal;
pub mod rivals;
pub mod roster;
pub mod settings;
pub mod templates;
pub mod turn;

pub use agent::{Agent, AgentError, Answer, Note, Verdict};
pub use info::{AgentInfo, Table};
pub use library::{AGENTS_VERSION, PromptLibrary};
pub use mind::{Message, Mind, MindError, ModelSettings, Reply, ReplyFormat, Role, Thought};
pub use rehearsal::replaced;
pub use roster::{
    AGENTS, build, check_player, check_seat, own_calls, prompts_version, prompts_version_of,
    templates_of, uses_replaced,
};
pub use settings::{PERSONAS, PlayerSettings, models_of};
