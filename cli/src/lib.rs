//! The command line of Agon: every role, and all roles in one process.
//!
//! `main.rs` only calls [`main`]; one file per command under `commands/`. Exit
//! codes are listed in [`failure`] and printed by `agon --help`.

mod ahead;
mod announcements;
mod commands;
mod connecting;
mod coordinators;
mod data_folder;
mod describing;
mod embedded;
mod estimates;
mod experiment_arguments;
mod exporting;
mod failure;
mod fetching;
mod forgetting;
mod gathering;
mod handing_in;
mod identities;
mod inviting;
mod judged;
mod keeping;
mod lines;
mod model_config;
mod named_file;
mod numbers;
mod output;
mod outside;
mod pausing;
mod playing;
mod presets;
mod program;
mod progress;
mod publishing;
mod results;
mod role;
mod run_folder;
mod runtime;
mod sent;
mod sessions;
mod storage;
mod templates;
mod viewing;

pub use commands::Cli;
pub use failure::Failure;
pub use program::main;
