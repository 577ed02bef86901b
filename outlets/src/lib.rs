//! Text that others wrote, on its way out: one function for each outlet. A provider's complaint,
//! the name of a model, a team or a file may hold escape codes that rewrite a terminal, line breaks
//! that forge a line of a log, marks that turn the direction of reading, or a formula that a
//! spreadsheet runs. Here they become visible and harmless. It knows nothing of what a text means,
//! and keeps no secrets (`agon_service_kit::secrets` does).

mod foreign;
mod shown;

pub use foreign::Foreign;
pub use shown::{InLine, Line, cell, json, line, lines, quoted};

#[cfg(test)]
mod tests;
