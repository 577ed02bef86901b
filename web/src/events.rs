//! Events of streams, sent as the document describes them: each type of events is an enum whose variants
//! are the names of its events, with their data. Called by the routes that pages follow.

use axum::response::sse::Event;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A value that is written as the name of an event and its data.
#[derive(Deserialize)]
struct Parts<'a> {
    event: &'a str,
    #[serde(borrow)]
    data: &'a RawValue,
}

/// An event as it is sent. `told` is an enum with `#[serde(tag = "event", content = "data")]`, of which the
/// document is made, too.
pub(crate) fn sent(told: &impl Serialize) -> Event {
    let Ok(text) = serde_json::to_string(told) else {
        return Event::default();
    };
    let parts: Result<Parts<'_>, _> = serde_json::from_str(&text);
    match parts {
        Ok(Parts { event, data }) => Event::default().event(event).data(data.get()),
        Err(_) => Event::default(),
    }
}
