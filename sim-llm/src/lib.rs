//! A simulated model provider over HTTP: OpenAI, Azure OpenAI, Anthropic and Gemini, with limits,
//! charge rules and vices of its own. An answer is a pure function of the server's seed and the
//! request's bytes, never of arrival order. It refuses streaming. `agon sim-llm` runs it as a
//! process, tests and benchmarks inside theirs; to the gateway it is one more base URL. Options,
//! names of models and counts are told in `options.rs` and `stats.rs`.

mod answer;
mod books;
mod charge;
mod draw;
mod http;
mod limits;
mod options;
mod protocol;
mod schema;
mod server;
mod stats;
mod window;

#[cfg(test)]
mod tests;

pub use charge::OPENAI_OUTPUT_WHEN_UNSAID;
pub use options::{SimCharge, SimHeaders, SimLimits, SimModel, SimOptions};
pub use server::SimLlm;
pub use stats::{SimCounts, SimLimit, SimStats, SimTaken, SimTokens, SimUse};
