//! What is said of a session, the same by the server and in a published site. Plain data; the routes and
//! `site.rs` fill it.

use agon_report::viewing::{Head, Shown};
use serde::Serialize;

use crate::index::SessionRow;

/// A session without its steps.
#[derive(Serialize)]
pub(crate) struct SessionHead {
    pub run: String,
    #[serde(flatten)]
    pub head: Head,
    pub paired: Vec<SessionRow>,
}

/// Some steps.
#[derive(Serialize)]
pub(crate) struct Steps {
    pub steps: Vec<Shown>,
    pub total: usize,
}
