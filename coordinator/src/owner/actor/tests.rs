//! The owner's loop step by step over journals that have lost their end, in files and in Redis. What
//! the next owner would read is the judge.

use agon_proto::v1::SubmitExperimentRequest;
use agon_tests::redis::RedisServer;
use tokio::sync::oneshot;

use super::*;
use crate::experiment::ExperimentFile;
use crate::journal::{Claim, FileJournal, RedisJournal};
use crate::owner::loading::{Loaded, load};
use crate::owner::segments::Segments;
use crate::queue::{Introduction, Queue};
use crate::specs::Specs;
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
    _server: Option<RedisServer>,
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
        archive: archive(&folder),
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
        _server: server,
    }
}

fn archive(folder: &tempfile::TempDir) -> Archive {
    Archive::folder(&folder.path().join("archive")).unwrap()
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
            submitted: made.submitted,
            document: made.document,
            accept_new: false,
            pause: None,
            reply,
        });
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
    let submitted = bench.actor.state.queue().submitted(1).unwrap();
    let mut capabilities = crate::queue::Capabilities::new();
    for one in &submitted.requirements {
        let versions = capabilities.entry(one.name.clone()).or_default();
        versions.insert(one.version.clone());
    }
    let unconfirmed = JournalError::Randomness(getrandom::Error::UNSUPPORTED);
    bench.actor.on_renewed(Err(unconfirmed)).unwrap();
    let since = bench.actor.since.elapsed();
    bench.actor.state.set_now(since + LONG - SECOND);
    let introduction = Introduction {
        id: "w".to_owned(),
        incarnation: 1,
        places: 1,
        capabilities,
    };
    let (outbox, _) = mpsc::channel(64);
    let (reply, _) = oneshot::channel();
    bench.actor.state.on_message(Message::Register {
        introduction,
        held: Vec::new(),
        outbox,
        reply,
    });
    bench.actor.state.on_tick();
    let leases = |bench: &Bench| bench.actor.state.queue().load().2;
    assert_eq!(leases(&bench), 0);
    bench.actor.state.set_now(since + LONG + SECOND);
    bench.actor.state.on_tick();
    assert_eq!(leases(&bench), 1);
}
