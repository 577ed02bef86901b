//! Makes the queue from the journal: the snapshot, then every batch behind it. Records that are not in
//! the archive yet are taken from the batches, those before the snapshot included.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{ExperimentSubmitted, JournalBatch, QueueSnapshot, StoredDocument};
use agon_service_kit::compute;
use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use tokio::time::{Instant, timeout_at};
use tracing::warn;

use super::segments::Segments;
use crate::archive::Archive;
use crate::experiment::ExperimentDocument;
use crate::journal::{Journal, JournalError, JournalResult, Place};
use crate::queue::Queue;
use crate::specs::{KnownExperiment, Specs, Stored};
use crate::wire;

/// Begins the names of the blobs of documents, and of replaced templates.
pub(super) const DOCUMENTS: &str = "document:";
pub(super) const TEMPLATES: &str = "templates:";

/// Bytes of the journal that are read at a time.
const PAGE: usize = 16 * 1024 * 1024;

/// Lists and documents that are asked for at the same time.
const MOST_AT_ONCE: usize = 32;

/// What the archive gets to list the segments of all experiments: nothing is granted meanwhile.
const LIST_WITHIN: Duration = Duration::from_secs(5);

/// What is said of an experiment that this program would play otherwise.
const OUTDATED: &str = "it was submitted to another version of agon, whose rules or prompts make \
                        other sessions of it; submit it again, or go on with that version";

/// A queue as it was left.
pub struct Loaded {
    pub queue: Queue,
    pub segments: Segments,
    pub specs: Specs,
    /// Segments that the archive has, by experiment, as far as it said.
    pub archived: BTreeMap<u32, Vec<u32>>,
    pub next: Place,
    /// Whether something is still to be played.
    pub unfinished: bool,
    /// Bytes of the journal that were read.
    pub bytes: usize,
}

/// Reads the journal into an empty queue.
pub async fn load(
    journal: &dyn Journal,
    archive: &Archive,
    mut queue: Queue,
) -> JournalResult<Loaded> {
    let corrupt = |what: &str| JournalError::Corrupt {
        what: what.to_owned(),
    };
    let mut upto = Place::default();
    let mut segments = Segments::default();
    if let Some(snapshot) = journal.snapshot().await? {
        upto = snapshot.upto;
        let kept = QueueSnapshot::decode(snapshot.bytes).map_err(|_| corrupt("the snapshot"))?;
        segments.take_from_snapshot(&kept.records, upto);
        if !queue.restore(kept) {
            return Err(corrupt("the snapshot"));
        }
    }
    let (mut last, mut bytes) = (Place::default(), 0);
    loop {
        let page = journal.read(last, PAGE).await?;
        let Some((end, _)) = page.last() else { break };
        last = *end;
        for (place, batch) in page {
            bytes += batch.len();
            let batch = JournalBatch::decode(batch);
            let batch = batch.map_err(|_| corrupt(&format!("batch {} of the journal", place.0)))?;
            for entry in batch.entries {
                // An entry without a change was written by a later version.
                let change = entry
                    .change
                    .ok_or_else(|| corrupt("an entry of a later agon"))?;
                note_record(&mut segments, &change, place);
                if place > upto {
                    queue.replay(&change);
                }
            }
        }
    }
    // Effects of a replay are those of the past.
    let _ = queue.effects();
    let specs = Specs::default();
    let mut unfinished = false;
    let numbers = queue.numbers().into_iter();
    let submitted = numbers.filter_map(|key| queue.submitted(key).cloned());
    let submitted: Vec<_> = submitted.collect();
    let keys: Vec<u32> = submitted.iter().map(|one| one.experiment).collect();
    let archived = segments_of(archive, &submitted).await;
    let known = stream::iter(submitted).map(|submitted| known(journal, submitted));
    let known: Vec<_> = known.buffered(MOST_AT_ONCE).try_collect().await?;
    for (
        key,
        Known {
            experiment,
            current,
        },
    ) in keys.into_iter().zip(known)
    {
        unfinished |= !queue.is_over(key);
        segments.close_before(key, queue.open_segment(key));
        let last = archived.get(&key).and_then(|all| all.last()).copied();
        if let Some(last) = last.filter(|last| *last >= queue.open_segment(key)) {
            queue.skip_segments(key, last);
        }
        if let Some(experiment) = experiment {
            specs.put(experiment);
        }
        if !current {
            queue.set_outdated(key, OUTDATED.to_owned(), Duration::ZERO);
        }
    }
    Ok(Loaded {
        queue,
        segments,
        specs,
        archived,
        next: last.max(upto).next(),
        unfinished,
        bytes,
    })
}

fn note_record(segments: &mut Segments, change: &Change, place: Place) {
    match change {
        Change::Done(done) => segments.add(done, place, Duration::ZERO),
        Change::SegmentClosed(closed) => segments.close((closed.experiment, closed.segment)),
        Change::SegmentWritten(written) => {
            segments.written((written.experiment, written.segment));
        }
        Change::Deleted(deleted) => segments.forget(deleted.experiment),
        _ => {}
    }
}

/// The segments of experiments in the archive, by the experiments' numbers. What cannot be listed now
/// cannot be written either, and is noticed then.
pub(super) async fn segments_of(
    archive: &Archive,
    experiments: &[ExperimentSubmitted],
) -> BTreeMap<u32, Vec<u32>> {
    let deadline = Instant::now() + LIST_WITHIN;
    let lists = experiments.iter().map(|submitted| {
        let (archive, name) = (archive.clone(), submitted.name.clone());
        let key = submitted.experiment;
        async move {
            let listed = timeout_at(deadline, archive.list(&name)).await;
            (key, listed.ok().and_then(Result::ok))
        }
    });
    let lists: Vec<_> = lists.collect();
    let mut lists = stream::iter(lists).buffer_unordered(MOST_AT_ONCE);
    let (mut all, mut unlisted) = (BTreeMap::new(), 0);
    while let Some((key, listed)) = lists.next().await {
        match listed {
            Some(numbers) => drop(all.insert(key, numbers)),
            None => unlisted += 1,
        }
    }
    if unlisted > 0 {
        warn!(
            experiments = unlisted,
            "the archive does not say which segments it has"
        );
    }
    all
}

/// What is known of an experiment that was submitted.
struct Known {
    /// Nothing when its document is gone or this program cannot read it.
    experiment: Option<KnownExperiment>,
    /// Whether this program makes the same sessions of it.
    current: bool,
}

async fn known(journal: &dyn Journal, submitted: ExperimentSubmitted) -> JournalResult<Known> {
    let name = document_name(&submitted.document);
    let blob = journal.blob(&name).await?;
    // A document is read, and a thousand of its cells are made, off the threads that serve.
    let read = compute::SHORT.run(move || {
        let experiment = blob.and_then(|blob| read(submitted, name, blob));
        let current = experiment.as_ref().is_some_and(KnownExperiment::is_current);
        Known {
            experiment,
            current,
        }
    });
    // A document that makes this program panic is none that it can read.
    let mut known = read.await.unwrap_or(Known {
        experiment: None,
        current: false,
    });
    if let Some(experiment) = &mut known.experiment
        && let Some(digest) = &experiment.document().prompt_bundle
    {
        let name = bundle_name(digest);
        let templates = journal.blob(&name).await?;
        experiment.stored.templates = templates.map(|bytes| (name, bytes));
    }
    Ok(known)
}

fn read(submitted: ExperimentSubmitted, name: String, blob: Bytes) -> Option<KnownExperiment> {
    let kept = Stored {
        document: Some((name, blob.clone())),
        templates: None,
    };
    let stored = StoredDocument::decode(blob).ok()?;
    let document = ExperimentDocument::from_json(&stored.document).ok()?;
    let document = ExperimentDocument {
        origins: wire::origins(&stored.origins),
        ..document
    };
    Some(KnownExperiment::new(submitted, Arc::new(document), kept))
}

/// The name of a document's blob.
pub(crate) fn document_name(digest: &str) -> String {
    format!("{DOCUMENTS}{digest}")
}

/// The name of the blob of replaced templates.
pub(crate) fn bundle_name(digest: &str) -> String {
    format!("{TEMPLATES}{digest}")
}

#[cfg(test)]
mod tests;
