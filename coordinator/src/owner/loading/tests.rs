//! What an owner makes of a journal that has lost its end, while the archive holds segments that it
//! knew of. Works on files alone.

use agon_proto::packed::pack;
use agon_proto::v1::{JournalBatch, SessionDone, SessionPlace, SubmitExperimentRequest};

use super::*;
use crate::archive::Entry;
use crate::experiment::ExperimentFile;
use crate::journal::{Claim, FileJournal};
use crate::owner::state::{OwnerState, Release};
use crate::queue::entry;
use crate::submission::prepare;

const LONG: Duration = Duration::from_secs(60);

const TEXT: &str = "name = \"x\"\nrepeats = 3\nplayers.me = { kind = \"rule\", strategy = \
                    \"equilibrium\" }\n[[games]]\ngame = \"guess_two_thirds\"\nseats = [\"me\", \
                    \"me\"]\n";

fn submitted(first_segment: u32) -> ExperimentSubmitted {
    let document = ExperimentFile::parse("x.toml", TEXT).unwrap().check();
    let request = SubmitExperimentRequest {
        document: document.unwrap().to_json().into(),
        ..Default::default()
    };
    let made = prepare(request, Vec::new()).unwrap();
    ExperimentSubmitted {
        experiment: 1,
        first_segment,
        ..made.submitted
    }
}

#[tokio::test]
async fn segment_that_was_open_when_the_journal_lost_its_end_is_closed_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let journal = FileJournal::open(&folder.path().join("journal")).unwrap();
    let archive = Archive::folder(&folder.path().join("archive")).unwrap();
    let Claim::Granted(epoch) = journal.claim("this", LONG).await.unwrap() else {
        panic!("somebody else owns a new journal");
    };
    let done = SessionDone {
        session: Some(SessionPlace {
            experiment: 1,
            position: 0,
        }),
        digest: 7,
        session_id: "s0".to_owned(),
        record: pack("{}"),
        telemetry: pack("{}"),
        segment: 3,
        entry: 0,
    };
    let changes = [Change::Submitted(submitted(3)), Change::Done(done)];
    let batch = JournalBatch {
        entries: changes.map(entry).to_vec(),
    };
    let batch = batch.encode_to_vec().into();
    journal.append(epoch, Place(1), batch).await.unwrap();
    // The journal knew once of segments 3 to 5.
    let lost = Entry {
        position: 1,
        session: "s1".to_owned(),
        digest: 8,
        record: pack("{}"),
        telemetry: pack("{}"),
    };
    archive.write("x", 5, vec![lost]).await.unwrap();

    let loaded = load(&journal, &archive, Queue::new(epoch.0, LONG)).await;
    let loaded = loaded.unwrap();
    assert_eq!(loaded.queue.open_segment(1), 6);
    let mut state = OwnerState::new(loaded.queue, loaded.segments, loaded.specs, loaded.next);
    // Whether anything more comes into a segment is for the journal to say, and then it is written.
    assert!(state.segments_to_write().is_empty());
    state.on_tick();
    let Ok(batch) = state.take_batch() else {
        panic!("numbers that are passed over are journaled");
    };
    for release in batch.releases {
        if let Release::Closed(key) = release {
            state.on_segment_closed(key);
        }
    }
    let written: Vec<_> = state.segments_to_write();
    let keys: Vec<_> = written.iter().map(|(key, ..)| *key).collect();
    assert_eq!(keys, [(1, 3)]);
    state.on_segment_written((1, 3), true);
    let Ok(batch) = state.take_batch() else {
        panic!("what is written is journaled");
    };
    let (upto, _, trim_to) = state.snapshot().unwrap();
    assert_eq!((upto, trim_to), (batch.place, batch.place));
}
