//! Who is at their page now: whose page follows its seat, and was heard of not long ago. A page says
//! that it lives every few seconds; the stream that it follows says at once when it goes.
//! Knows no seats, only names of invitations. Called by `service.rs`.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// Browsers let pages that are not in view speak once a minute.
const SILENT: Duration = Duration::from_secs(75);

/// A page that is loaded again has no stream for a moment.
const RELOADS_WITHIN: Duration = Duration::from_secs(5);

/// Streams of one seat.
const MOST_STREAMS: usize = 4;

/// See the module.
#[derive(Default)]
pub struct Presence {
    pages: Arc<Mutex<HashMap<String, Page>>>,
}

#[derive(Clone, Copy)]
struct Page {
    streams: usize,
    heard: Instant,
}

/// A page that follows its seat, for as long as this is kept.
pub struct Following {
    pages: Arc<Mutex<HashMap<String, Page>>>,
    id: String,
}

impl Presence {
    /// A page said something.
    pub fn hear(&self, id: &str) {
        let heard = Instant::now();
        let mut pages = self.pages.lock();
        let page = pages.entry(id.to_owned());
        page.or_insert(Page { streams: 0, heard }).heard = heard;
    }

    /// A page begins to follow; none where too many do.
    pub fn follow(&self, id: &str) -> Option<Following> {
        self.hear(id);
        let mut pages = self.pages.lock();
        let page = pages.get_mut(id)?;
        if page.streams >= MOST_STREAMS {
            return None;
        }
        page.streams += 1;
        Some(Following {
            pages: Arc::clone(&self.pages),
            id: id.to_owned(),
        })
    }

    /// Whether somebody is there.
    pub fn is_here(&self, id: &str) -> bool {
        let pages = self.pages.lock();
        pages.get(id).is_some_and(|page| {
            let silent = page.heard.elapsed();
            silent < RELOADS_WITHIN || (page.streams > 0 && silent < SILENT)
        })
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if let Some(page) = self.pages.lock().get_mut(&self.id) {
            page.streams = page.streams.saturating_sub(1);
            page.heard = Instant::now();
        }
    }
}
