//! How many files the process may open: every connection is one. Many systems allow 1,024 unless
//! a program asks for more. Called by the program as it starts, and by whoever bounds connections.

use std::sync::OnceLock;

/// Assumed where the system does not say.
const USUAL: usize = 1_024;

/// More connections than memory is there for; some systems allow a billion files.
const MOST: usize = 1 << 20;

static LIMIT: OnceLock<usize> = OnceLock::new();

/// Raises the soft limit to the hard one at the first call; answers the limit.
pub fn limit() -> usize {
    *LIMIT.get_or_init(|| raised().unwrap_or(USUAL).min(MOST))
}

#[cfg(unix)]
fn raised() -> Option<usize> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(
        Resource::Nofile,
        Rlimit {
            current: maximum,
            maximum,
        },
    );
    let files = match raised {
        Ok(()) => maximum,
        // macOS allows less than its hard limit says.
        Err(_) => current,
    };
    // None is "no limit".
    Some(files.map_or(MOST, |files| usize::try_from(files).unwrap_or(MOST)))
}

#[cfg(not(unix))]
fn raised() -> Option<usize> {
    None
}
