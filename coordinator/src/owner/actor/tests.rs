//! The owner's loop step by step over journals that have lost their end, in files and in Redis. What
//! the next owner would read is the judge.

use std::path::{Path, PathBuf};

use agon_proto::packed::pack;
use agon_proto::v1::SubmitExperimentRequest;
use agon_tests::redis::RedisServer;
use tokio::sync::oneshot;

use super::*;
use crate::experiment::ExperimentFile;
use crate::journal::{Claim, FileJournal, RedisJournal};
use crate::owner::document_name;
use crate::owner::loading::{Loaded, load};
use crate::owner::segments::Segments;
use crate::queue::{Introduction, Outcome, Queue, SessionResult};
use crate::specs::{Specs, Stored};
use crate::submission::prepare;

const LONG: Duration = Duration::from_secs(60);

const SECOND: Duration = Duration::from_secs(1);

/// Ahead of a journal that is empty: it has lost what was before.
const AHEAD: Place = Place(5);

/// An owner of a journal.
struct Bench {
    actor: OwnerActor,
    journal: Arc<dyn Journal>,
    _handle: mpsc::Sender<Message>,
    _folder: tempfile::TempDir,
    server: Option<RedisServer>,
}

async fn in_files(next: Place) -> Bench {
    let folder = tempfile::tempdir().unwrap();
    let journal = FileJournal::open(folder.path()).unwrap();
    bench(Arc::new(journal), folder, None, next).await
}

async fn in_redis(next: Place) -> Bench {
    let server = RedisServer::start();
    let journal = RedisJournal::connect(&server.url()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    bench(Arc::new(journal), folder, Some(server), next).await
}

async fn bench(
    journal: Arc<dyn Journal>,
    folder: tempfile::TempDir,
    server: Option<RedisServer>,
    next: Place,
) -> Bench {
    let Claim::Granted(epoch) = journal.claim("this", LONG).await.unwrap() else {
        panic!("somebody else owns a new journal");
    };
    let (handle, mailbox) = mpsc::channel(64);
    let queue = Queue::new(epoch.0, LONG);
    let options = OwnerOptions {
        address: "this".to_owned(),
        lease_time: LONG,
        ownership_time: LONG,
        own_workers_only: true,
    };
    let actor = OwnerActor {
        journal: Arc::clone(&journal),
        archive: Archive::folder(&folder.path().join("archive")).unwrap(),
        sealer: Sealer::new([7; 32]),
        epoch,
        options,
        tasks: Tasks::new(),
        state: OwnerState::new(queue, Segments::default(), Specs::default(), next),
        mailbox,
        on_stored: None,
        session_limits: None,
        role: watch::channel(Role::Starting).0,
        since: Instant::now(),
        journaled: 0,
    };
    Bench {
        actor,
        journal,
        _handle: handle,
        _folder: folder,
        server,
    }
}

impl Bench {
    fn submit(&mut self, name: &str) {
        let text = format!(
            "name = \"{name}\"\nplayers.me = {{ kind = \"rule\", strategy = \"equilibrium\" }}\n\
             [[games]]\ngame = \"guess_two_thirds\"\nseats = [\"me\", \"me\"]\n"
        );
        let document = ExperimentFile::parse("x.toml", &text).unwrap().check();
        let request = SubmitExperimentRequest {
            document: document.unwrap().to_json().into(),
            ..Default::default()
        };
        let made = prepare(request, Vec::new()).unwrap();
        let (reply, _) = oneshot::channel();
        self.actor.state.on_message(Message::Submit {
            submitted: made.submitted.clone(),
            document: made.document,
            stored: Box::new(Stored {
                document: Some((document_name(&made.submitted.document), made.stored)),
                templates: None,
            }),
            accept_new: false,
            pause: None,
            reply,
        });
    }

    /// A worker that can play everything that was submitted first, and what it is sent.
    fn register(&mut self, places: usize) -> (StreamId, mpsc::Receiver<ToStream>) {
        let submitted = self.actor.state.queue().submitted(1).unwrap();
        let mut capabilities = crate::queue::Capabilities::new();
        for one in &submitted.requirements {
            let versions = capabilities.entry(one.name.clone()).or_default();
            versions.insert(one.version.clone());
        }
        let introduction = Introduction {
            id: "w".to_owned(),
            incarnation: 1,
            places,
            capabilities,
        };
        let (outbox, sent) = mpsc::channel(64);
        let (reply, _) = oneshot::channel();
        self.actor.state.on_message(Message::Register {
            introduction,
            held: Vec::new(),
            outbox,
            reply,
        });
        // Streams are counted from 1.
        (StreamId(1), sent)
    }

    /// Appends all that waits for it, and does what waits for that.
    async fn settle(&mut self) {
        while let Some(batch) = self.actor.next_batch() {
            self.appended(batch).await;
        }
    }

    /// Carries a batch through, and what follows from it.
    async fn appended(&mut self, batch: UnderWay) {
        let mut under_way = Some(batch);
        while let Some(mut batch) = under_way {
            let result = (&mut batch.append).await;
            under_way = self.actor.on_appended(batch, result).await.unwrap();
        }
    }

    /// What the next owner finds.
    async fn loaded(&self) -> Loaded {
        let queue = Queue::new(2, LONG);
        load(&*self.journal, &self.actor.archive, queue)
            .await
            .unwrap()
    }

    async fn names(&self) -> Vec<String> {
        let listed = self.loaded().await.queue.list().into_iter();
        listed.map(|entry| entry.name).collect()
    }
}

async fn mend_is_not_overwritten(mut bench: Bench) {
    bench.submit("before");
    bench.actor.journaled = SNAPSHOT_AT_REST + 1;
    let batch = bench.actor.next_batch().unwrap();
    assert!(batch.snapshot.is_some(), "a snapshot is due");
    bench.submit("meanwhile");
    bench.appended(batch).await;
    assert_eq!(bench.names().await, ["before", "meanwhile"]);
}

#[tokio::test]
async fn snapshot_from_before_a_lost_tail_does_not_replace_the_one_that_mends_it_in_files() {
    mend_is_not_overwritten(in_files(AHEAD).await).await;
}

#[tokio::test]
async fn snapshot_from_before_a_lost_tail_does_not_replace_the_one_that_mends_it_in_redis() {
    mend_is_not_overwritten(in_redis(AHEAD).await).await;
}

#[tokio::test]
async fn owner_whose_claim_is_not_confirmed_grants_nothing_until_it_may_have_failed_again() {
    let mut bench = in_files(Place(1)).await;
    bench.submit("x");
    let unconfirmed = JournalError::Randomness(getrandom::Error::UNSUPPORTED);
    bench.actor.on_renewed(Err(unconfirmed)).unwrap();
    let since = bench.actor.since.elapsed();
    bench.actor.state.set_now(since + LONG - SECOND);
    let (_, _sent) = bench.register(1);
    bench.actor.state.on_tick();
    let leases = |bench: &Bench| bench.actor.state.queue().load().2;
    assert_eq!(leases(&bench), 0);
    bench.actor.state.set_now(since + LONG + SECOND);
    bench.actor.state.on_tick();
    assert_eq!(leases(&bench), 1);
}

/// An owner whose archive lies in its Redis, which has lost what was written since its last save: the
/// records of two experiments, and the document of the second. `since` passes in between.
async fn owner_of_a_redis_that_lost_its_end(since: Duration) -> Bench {
    let mut bench = in_redis(Place(1)).await;
    bench.actor.archive = Archive::in_journal(Arc::clone(&bench.journal));
    let state = std::mem::replace(
        &mut bench.actor.state,
        OwnerState::new(
            Queue::new(0, LONG),
            Segments::default(),
            Specs::default(),
            Place(1),
        ),
    );
    bench.actor.state = state.with_archive_in_journal(&BTreeMap::new());
    bench.submit("early");
    bench.settle().await;
    let saved = copy_of(bench.server.as_ref().unwrap().folder());

    bench.submit("late");
    let (stream, mut sent) = bench.register(2);
    bench.settle().await;
    let mut outcomes = Vec::new();
    while let Ok(ToStream::Grant(grants)) = sent.try_recv() {
        outcomes.extend(grants.into_iter().map(|grant| {
            let lease = grant.granted.lease;
            let result = SessionResult {
                session_id: format!("of {}", lease.session.experiment),
                digest: 1,
                record: pack("{}"),
                telemetry: pack("{}"),
            };
            (lease, Outcome::Finished(result))
        }));
    }
    assert_eq!(outcomes.len(), 2);
    let state = &mut bench.actor.state;
    state.on_message(Message::HandIn { stream, outcomes });
    state.on_tick();
    bench.settle().await;
    bench.write_segments().await;
    assert_eq!(bench.actor.state.queue().progress("late").unwrap().done, 1);
    bench.actor.state.set_now(since);
    bench.actor.state.on_tick();
    bench.settle().await;

    let server = bench.server.as_mut().unwrap();
    server.kill();
    for (file, bytes) in saved {
        std::fs::write(file, bytes).unwrap();
    }
    server.restart();
    bench.submit("last");
    bench.settle().await;
    bench
}

/// All files in a folder and below it.
fn copy_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let copies = paths.flat_map(|path| match path.is_dir() {
        true => copy_of(&path),
        false => vec![(path.clone(), std::fs::read(&path).unwrap())],
    });
    copies.collect()
}

impl Bench {
    async fn write_segments(&mut self) {
        for (key, experiment, entries) in self.actor.state.segments_to_write() {
            let written = archived(&self.actor.archive, &experiment, key.1, &entries).await;
            self.actor.state.on_segment_written(key, written.is_ok());
        }
        self.settle().await;
    }
}

#[tokio::test]
async fn records_and_documents_that_a_redis_has_lost_are_put_back() {
    let mut bench = owner_of_a_redis_that_lost_its_end(SECOND).await;
    bench.write_segments().await;
    let loaded = bench.loaded().await;
    for (number, name) in [(1, "early"), (2, "late"), (3, "last")] {
        assert!(loaded.specs.get(number).is_some(), "the document of {name}");
        let done = loaded.queue.progress(name).unwrap().done;
        assert_eq!(done, u32::from(number < 3), "{name}");
    }
    for name in ["early", "late"] {
        let segment = bench.actor.archive.read(name, 1).await.unwrap();
        let entry = segment.entry(0).unwrap();
        assert_eq!(entry.record, pack("{}"), "{name}");
    }
}

#[tokio::test]
async fn sessions_whose_records_nobody_has_any_more_are_played_again() {
    let bench = owner_of_a_redis_that_lost_its_end(LONG + LONG).await;
    let loaded = bench.loaded().await;
    for name in ["early", "late", "last"] {
        let progress = loaded.queue.progress(name).unwrap();
        assert_eq!((progress.done, progress.queued), (0, 1), "{name}");
    }
}
