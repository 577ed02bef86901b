//! Reads every session once and lists it, so that pages fill while it goes on; lists it again when files
//! have come, gone or changed. Called by `agon view` and `agon publish`; keeps no record.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use agon_outlets::InLine as _;
use agon_report::Session;
use agon_service_kit::tasks::with_causes;
use agon_web::{Index, Library, Place, RunKey};
use parking_lot::RwLock;
use tokio_util::sync::CancellationToken;

use super::files::Files;
use crate::lines::{self, MOST_UNREADABLE};
use crate::storage;

/// How soon after a look at the files the next one comes, unless they take long to look at.
const AGAIN_AFTER: Duration = Duration::from_secs(2);

/// Of its time, looking at files takes at most one part in so many.
const PARTS: u32 = 50;

/// What is listed of files, kept as they are now.
pub struct Listing {
    /// The files.
    pub files: Arc<Files>,
    /// Where they were found.
    pub paths: Vec<PathBuf>,
    /// What pages show of them.
    pub library: Arc<Library>,
    /// Tells when nobody needs them any more.
    pub stopping: CancellationToken,
}

/// A file's number, its length, and when it changed last.
type Stamp = (u32, Option<(u64, SystemTime)>);

impl Listing {
    /// Lists everything, then again whenever something has changed. Never what is in a bucket: each look
    /// at one is paid for.
    pub async fn keep(self) {
        let listing = Arc::new(self);
        let first = listing.files.all();
        let mut listed = stamps(&first);
        listing
            .work(move |this| {
                read(&first, &this.library.index, || this.stopping.is_cancelled());
            })
            .await;
        if listing.paths.iter().any(|path| storage::is_address(path)) {
            return;
        }
        let mut pause = AGAIN_AFTER;
        while listing
            .stopping
            .run_until_cancelled(tokio::time::sleep(pause))
            .await
            .is_some()
        {
            let begun = Instant::now();
            let known = std::mem::take(&mut listed);
            let looked = listing.work(move |this| this.look_again(known)).await;
            let Some(looked) = looked else { return };
            listed = looked;
            pause = AGAIN_AFTER.max(begun.elapsed() * PARTS);
        }
    }

    /// Lists everything anew if it is not as it was. What is there now.
    fn look_again(&self, listed: Vec<Stamp>) -> Vec<Stamp> {
        let Ok(found) = self.files.look_again(&self.paths) else {
            return listed;
        };
        let now = stamps(&found);
        if now != listed {
            let fresh = RwLock::new(Index::default());
            read(&found, &fresh, || self.stopping.is_cancelled());
            self.library.replace(fresh.into_inner());
        }
        now
    }

    /// Works beside everything else: readers wait for disks. `None` when that panicked.
    async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> Option<T> {
        let this = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&this)).await.ok()
    }
}

fn stamps(files: &[(u32, PathBuf)]) -> Vec<Stamp> {
    let stamp = |(number, file): &(u32, PathBuf)| {
        let about = fs::metadata(file).ok();
        let state = about.and_then(|about| Some((about.len(), about.modified().ok()?)));
        (*number, state)
    };
    files.iter().map(stamp).collect()
}

/// Lists the sessions of these files, until it is told to stop.
pub fn read(files: &[(u32, PathBuf)], index: &RwLock<Index>, is_over: impl Fn() -> bool) {
    let mut runs: HashMap<(PathBuf, String), RunKey> = HashMap::new();
    for (number, file) in files {
        let number = *number;
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let (mut unreadable, mut last) = (0, None);
        for line in lines::read(file) {
            if is_over() {
                return;
            }
            let read = line.map_err(|error| error.to_string()).and_then(|line| {
                let session = Session::from_line(line.text.as_bytes());
                let session = session.map_err(|error| {
                    let (file, number) = (file.in_line(), line.number);
                    format!("{file}:{number}: {}", with_causes(&error))
                })?;
                Ok((session, line.offset))
            });
            match read {
                Ok((session, offset)) => {
                    let place = Place {
                        file: number,
                        offset,
                    };
                    let experiment = session.spec.experiment.clone();
                    let mut index = index.write();
                    let key = runs.entry((folder.clone(), experiment)).or_insert_with_key(
                        |(folder, experiment)| {
                            index.add_run(experiment, folder.in_line().to_string())
                        },
                    );
                    index.add(*key, &session, place);
                    last = Some(*key);
                }
                Err(reason) => {
                    tracing::warn!(%reason, "a line is no record");
                    if let Some(key) = last {
                        index.write().note(key, format!("unreadable: {reason}"));
                    }
                    unreadable += 1;
                    if unreadable == MOST_UNREADABLE {
                        break;
                    }
                }
            }
        }
    }
}
