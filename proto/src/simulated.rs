//! How the simulated model server and those who call it know each other. A leaf, so that the
//! gateway need not import the server and the server need not import the gateway.

/// The header on every reply of the simulated model server, whatever its protocol: nobody can
/// take it for a real model.
pub const SIMULATED_HEADER: &str = "x-agon-simulated";

/// The header of a request with the reply that whoever plays a dry run thinks plausible, as a
/// JSON string in ASCII. The server answers with it but for some slips.
pub const REPLY_HEADER: &str = "x-agon-simulated-reply";

/// The name under which results know the simulated provider that a process brings along.
pub const SIMULATED_ENDPOINT: &str = "this process";
