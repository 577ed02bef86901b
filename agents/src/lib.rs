//! How model players think: which calls they make, what they remember, what
//! they are told and how their replies are read.
//!
//! No I/O: a model is called only through the [`Mind`] that an agent is handed.
//! The worker builds agents with [`build`] and shows them events and asks.
//!
//! Reading order: [`agent`], [`mind`], [`direct`], [`turn`], [`dialogue`], [`narrator`],
//! [`library`], [`memory`], [`summing`], [`reading`], [`reader`]; for agents that make calls of their own,
//! [`asking`], [`templates`] and, in auctions, [`auction`]; for those that think about
//! the others, [`k_level`].

pub mod agent;
pub mod asking;
pub mod auction;
pub mod bdi;
pub mod chain_of_thought;
pub mod dialogue;
pub mod direct;
pub mod elicitation;
pub mod harbor;
pub mod k_level;
pub mod library;
pub mod memory;
pub mod mind;
pub mod narrator;
pub mod person;
pub mod prediction;
pub mod prediction_chain_of_thought;
pub mod quotation;
pub mod reader;
pub mod reading;
pub mod reflexion;
mod rehearsal;
pub mod rivals;
pub mod roster;
pub mod self_refine;
pub mod settings;
pub mod summing;
pub mod templates;
pub mod turn;

pub use agent::{Agent, AgentError, Note, Verdict};
pub use library::{AGENTS_VERSION, PromptLibrary};
pub use mind::{Message, Mind, MindError, ModelSettings, Reply, ReplyFormat, Role, Thought};
pub use roster::{
    AGENTS, AgentInfo, build, check_player, check_seat, prompts_version, prompts_version_of,
    templates_of, uses_replaced,
};
pub use settings::{PERSONAS, PlayerSettings, models_of};
