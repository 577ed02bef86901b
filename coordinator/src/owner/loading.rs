//! Makes the queue from the journal: the snapshot, then every batch behind it. Records that are not in
//! the archive yet are taken from the batches, those before the snapshot included.

use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::journal_entry::Change;
use agon_proto::v1::{ExperimentSubmitted, JournalBatch, QueueSnapshot, StoredDocument};
use prost::Message as _;

use super::segments::Segments;
use crate::archive::Archive;
use crate::experiment::ExperimentDocument;
use crate::journal::{Journal, JournalError, JournalResult, Place};
use crate::queue::Queue;
use crate::specs::{KnownExperiment, Specs};
use crate::wire;

/// Bytes of the journal that are read at a time.
const PAGE: usize = 16 * 1024 * 1024;

/// What is said of an experiment that this program would play otherwise.
const OUTDATED: &str = "it was submitted to another version of agon, whose rules or prompts make \
                        other sessions of it; submit it again, or go on with that version";

/// A queue as it was left.
pub struct Loaded {
    pub queue: Queue,
    pub segments: Segments,
    pub specs: Specs,
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
    for key in queue.numbers() {
        unfinished |= !queue.is_over(key);
        segments.close_before(key, queue.open_segment(key));
        let Some(submitted) = queue.submitted(key) else {
            continue;
        };
        let name = submitted.name.clone();
        let known = known(journal, submitted.clone()).await?;
        let current = known.as_ref().is_some_and(KnownExperiment::is_current);
        if let Some(known) = known {
            specs.put(known);
        }
        // What cannot be listed now cannot be written either, and is noticed then.
        let last = archive
            .list(&name)
            .await
            .ok()
            .and_then(|found| found.into_iter().max());
        if let Some(last) = last.filter(|last| *last >= queue.open_segment(key)) {
            queue.skip_segments(key, last);
        }
        if !current {
            queue.set_outdated(key, OUTDATED.to_owned(), Duration::ZERO);
        }
    }
    Ok(Loaded {
        queue,
        segments,
        specs,
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

/// An experiment with its document; nothing when that is gone or this program cannot read it.
async fn known(
    journal: &dyn Journal,
    submitted: ExperimentSubmitted,
) -> JournalResult<Option<KnownExperiment>> {
    let blob = journal.blob(&document_name(&submitted.document)).await?;
    let Some(stored) = blob.and_then(|blob| StoredDocument::decode(blob).ok()) else {
        return Ok(None);
    };
    let document = ExperimentDocument::from_json(&stored.document).ok();
    Ok(document.map(|document| {
        let document = ExperimentDocument {
            origins: wire::origins(&stored.origins),
            ..document
        };
        KnownExperiment::new(submitted, Arc::new(document))
    }))
}

/// The name of a document's blob.
pub(crate) fn document_name(digest: &str) -> String {
    format!("document:{digest}")
}

/// The name of the blob of replaced templates.
pub(crate) fn bundle_name(digest: &str) -> String {
    format!("templates:{digest}")
}

#[cfg(test)]
mod tests;
