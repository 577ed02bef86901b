//! The contract of a journal: every claim here holds for both back ends. Each claim becomes two
//! tests, on a file and on a real Redis.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_coordinator::journal::{
    Claim, Epoch, FileJournal, Journal, JournalError, Place, RedisJournal, Snapshot,
};
use agon_tests::redis::RedisServer;
use bytes::Bytes;
use futures_util::future::join_all;

/// Makes two tests of every claim, one for each back end.
macro_rules! contract {
    ($($claim:ident),* $(,)?) => {
        mod files {
            $(#[tokio::test]
            async fn $claim() {
                let bench = super::Bench::files();
                super::$claim(&*bench.journal).await;
            })*
        }
        mod redis {
            $(#[tokio::test]
            async fn $claim() {
                let bench = super::Bench::redis().await;
                super::$claim(&*bench.journal).await;
            })*
        }
    };
}

contract! {
    journal_has_one_owner_at_a_time,
    of_many_that_claim_at_once_one_is_granted,
    each_epoch_is_higher_than_all_before,
    owner_that_stays_silent_is_deposed,
    owner_that_renews_stays,
    late_resignation_changes_nothing,
    batches_are_read_in_order_byte_by_byte,
    reading_is_bounded_and_always_moves_on,
    appends_that_wait_together_keep_their_order,
    batch_out_of_place_is_refused,
    append_may_be_repeated_with_the_same_batch_only,
    deposed_owner_changes_nothing,
    of_two_owners_that_race_one_writes,
    snapshot_replaces_the_beginning,
    snapshot_behind_the_end_mends_a_lost_tail,
    snapshot_that_was_overtaken_changes_nothing,
    snapshot_of_megabytes_is_kept,
    blobs_are_kept_listed_and_deleted,
}

/// A claim that no test outlives.
pub const LONG: Duration = Duration::from_secs(600);

/// How long a test waits for something before it says that something is wrong.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A journal, and what it lies in.
struct Bench {
    journal: Arc<dyn Journal>,
    lies_in: LiesIn,
}

enum LiesIn {
    Folder(FileJournal, tempfile::TempDir),
    Redis(RedisServer),
}

impl Bench {
    fn files() -> Self {
        Self::files_in(tempfile::tempdir().unwrap())
    }

    fn files_in(folder: tempfile::TempDir) -> Self {
        let journal = FileJournal::open(folder.path()).unwrap();
        Self {
            journal: Arc::new(journal.clone()),
            lies_in: LiesIn::Folder(journal, folder),
        }
    }

    async fn redis() -> Self {
        Self::redis_in(RedisServer::start()).await
    }

    async fn redis_in(server: RedisServer) -> Self {
        let journal = RedisJournal::connect(&server.url()).await.unwrap();
        Self {
            journal: Arc::new(journal),
            lies_in: LiesIn::Redis(server),
        }
    }

    /// Everything that was not on disk is gone; the journal is opened again.
    async fn crash(self) -> Self {
        match self.lies_in {
            LiesIn::Folder(journal, folder) => {
                // What the files hold at this moment is what `kill -9` would have left.
                let copy = tempfile::tempdir().unwrap();
                for entry in std::fs::read_dir(folder.path()).unwrap() {
                    let entry = entry.unwrap();
                    std::fs::copy(entry.path(), copy.path().join(entry.file_name())).unwrap();
                }
                journal.close();
                Self::files_in(copy)
            }
            LiesIn::Redis(mut server) => {
                server.restart();
                Self::redis_in(server).await
            }
        }
    }
}

pub async fn granted(journal: &dyn Journal, owner: &str, ttl: Duration) -> Epoch {
    match journal.claim(owner, ttl).await.unwrap() {
        Claim::Granted(epoch) => epoch,
        held @ Claim::Held { .. } => panic!("{owner} was not granted the journal: {held:?}"),
    }
}

/// Claims again and again until it is granted.
async fn granted_in_time(journal: &dyn Journal, owner: &str) -> Epoch {
    let began = Instant::now();
    loop {
        match journal.claim(owner, LONG).await.unwrap() {
            Claim::Granted(epoch) => return epoch,
            Claim::Held { .. } => assert!(began.elapsed() < PATIENCE, "still held"),
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Appends `one`, `two`, ... from a place on.
pub async fn append(journal: &dyn Journal, epoch: Epoch, first: u64, batches: &[&'static str]) {
    for (place, batch) in (first..).zip(batches) {
        let batch = Bytes::from_static(batch.as_bytes());
        journal.append(epoch, Place(place), batch).await.unwrap();
    }
}

/// All batches behind a place, as text.
pub async fn batches(journal: &dyn Journal, after: u64) -> Vec<(u64, String)> {
    let found = journal.read(Place(after), usize::MAX / 2).await.unwrap();
    let text = |bytes: &Bytes| String::from_utf8(bytes.to_vec()).unwrap();
    found
        .iter()
        .map(|(place, batch)| (place.0, text(batch)))
        .collect()
}

pub fn numbered(first: u64, batches: &[&str]) -> Vec<(u64, String)> {
    let text = |batch: &&str| (*batch).to_owned();
    (first..).zip(batches.iter().map(text)).collect()
}

pub fn snapshot(upto: u64, bytes: &'static str) -> Snapshot {
    Snapshot {
        upto: Place(upto),
        bytes: Bytes::from_static(bytes.as_bytes()),
    }
}

#[track_caller]
pub fn assert_deposed<T: std::fmt::Debug>(answer: Result<T, JournalError>) {
    assert!(matches!(answer, Err(JournalError::Deposed)), "{answer:?}");
}

#[track_caller]
pub fn assert_out_of_place(answer: Result<(), JournalError>, place: u64, end: u64) {
    match answer {
        Err(JournalError::OutOfPlace { place: at, end: is }) => {
            assert_eq!((at.0, is.0), (place, end));
        }
        other => panic!("it was not out of place: {other:?}"),
    }
}

async fn journal_has_one_owner_at_a_time(journal: &dyn Journal) {
    let first = granted(journal, "one", LONG).await;
    for claimant in ["two", "one"] {
        match journal.claim(claimant, LONG).await.unwrap() {
            Claim::Held { owner, left } => {
                assert_eq!(owner, "one");
                assert!(left <= LONG && left > LONG / 2, "{left:?}");
            }
            Claim::Granted(epoch) => panic!("{claimant} was granted {epoch:?} beside {first:?}"),
        }
    }
    journal.resign(first).await.unwrap();
    assert_ne!(granted(journal, "two", LONG).await, first);
}

async fn of_many_that_claim_at_once_one_is_granted(journal: &dyn Journal) {
    let names: Vec<String> = (0..16).map(|number| number.to_string()).collect();
    let claims = names.iter().map(|name| journal.claim(name, LONG));
    let granted = join_all(claims).await.into_iter();
    let granted = granted.filter(|claim| matches!(claim, Ok(Claim::Granted(_))));
    assert_eq!(granted.count(), 1);
}

async fn each_epoch_is_higher_than_all_before(journal: &dyn Journal) {
    let mut last = Epoch(0);
    for owner in ["one", "two", "one", "one"] {
        let epoch = granted(journal, owner, LONG).await;
        assert!(epoch > last, "{epoch:?} after {last:?}");
        last = epoch;
        journal.resign(epoch).await.unwrap();
    }
}

async fn owner_that_stays_silent_is_deposed(journal: &dyn Journal) {
    let silent = granted(journal, "one", Duration::from_millis(20)).await;
    let next = granted_in_time(journal, "two").await;
    assert!(next > silent);
    assert_deposed(journal.renew(silent, LONG).await);
    assert_deposed(journal.append(silent, Place(1), Bytes::new()).await);
    journal.renew(next, LONG).await.unwrap();
}

async fn owner_that_renews_stays(journal: &dyn Journal) {
    let epoch = granted(journal, "one", PATIENCE).await;
    journal.renew(epoch, LONG).await.unwrap();
    match journal.claim("two", LONG).await.unwrap() {
        Claim::Held { left, .. } => assert!(left > PATIENCE, "{left:?}"),
        Claim::Granted(_) => panic!("the owner has been heard of"),
    }
    // An owner whose time is up, but whom nobody has followed, goes on.
    journal.renew(epoch, Duration::ZERO).await.unwrap();
    append(journal, epoch, 1, &["late"]).await;
    journal.renew(epoch, LONG).await.unwrap();
}

async fn late_resignation_changes_nothing(journal: &dyn Journal) {
    let first = granted(journal, "one", LONG).await;
    journal.resign(first).await.unwrap();
    let second = granted(journal, "two", LONG).await;
    journal.resign(first).await.unwrap();
    journal.resign(Epoch(second.0 + 1)).await.unwrap();
    let claim = journal.claim("three", LONG).await.unwrap();
    assert!(matches!(claim, Claim::Held { .. }), "{claim:?}");
}

async fn batches_are_read_in_order_byte_by_byte(journal: &dyn Journal) {
    assert_eq!(journal.end().await.unwrap(), Place(0));
    assert!(journal.read(Place(0), 1_000).await.unwrap().is_empty());
    let epoch = granted(journal, "one", LONG).await;
    let everything: Vec<u8> = (0..=255).collect();
    let batches = [Bytes::new(), Bytes::from(everything), Bytes::from("\r\n\0")];
    for (place, batch) in (1..).zip(&batches) {
        let appended = journal.append(epoch, Place(place), batch.clone()).await;
        appended.unwrap();
        assert_eq!(journal.end().await.unwrap(), Place(place));
    }
    let expected: Vec<(Place, Bytes)> = (1..).map(Place).zip(batches).collect();
    assert_eq!(journal.read(Place(0), 1_000).await.unwrap(), expected);
    assert_eq!(journal.read(Place(1), 1_000).await.unwrap(), expected[1..]);
    assert!(journal.read(Place(3), 1_000).await.unwrap().is_empty());
    assert!(journal.read(Place(9), 1_000).await.unwrap().is_empty());
}

async fn reading_is_bounded_and_always_moves_on(journal: &dyn Journal) {
    let epoch = granted(journal, "one", LONG).await;
    let mut expected = Vec::new();
    for place in 1..=50 {
        let batch = Bytes::from(vec![b'x'; usize::try_from(place).unwrap()]);
        expected.push((Place(place), batch.clone()));
        journal.append(epoch, Place(place), batch).await.unwrap();
    }
    for most_bytes in [0, 1, 40, 100, 1_000] {
        let mut found: Vec<(Place, Bytes)> = Vec::new();
        loop {
            let after = found.last().map_or(Place(0), |(place, _)| *place);
            let part = journal.read(after, most_bytes).await.unwrap();
            let bytes: usize = part.iter().map(|(_, batch)| batch.len()).sum();
            assert!(part.len() <= 1 || bytes <= most_bytes, "{bytes} bytes");
            if part.is_empty() {
                break;
            }
            found.extend(part);
        }
        assert_eq!(found, expected, "{most_bytes} bytes at a time");
    }
}

async fn appends_that_wait_together_keep_their_order(journal: &dyn Journal) {
    let epoch = granted(journal, "one", LONG).await;
    for round in 0..20 {
        let places = round * 16 + 1..=round * 16 + 16;
        let appends = places.map(|place| {
            let batch = Bytes::from(place.to_string());
            journal.append(epoch, Place(place), batch)
        });
        for appended in join_all(appends).await {
            appended.unwrap();
        }
    }
    let found = batches(journal, 0).await;
    let expected: Vec<(u64, String)> = (1..=320).map(|place| (place, place.to_string())).collect();
    assert_eq!(found, expected);
}

async fn batch_out_of_place_is_refused(journal: &dyn Journal) {
    let epoch = granted(journal, "one", LONG).await;
    let late = Bytes::from_static(b"late");
    assert_out_of_place(journal.append(epoch, Place(2), late.clone()).await, 2, 0);
    append(journal, epoch, 1, &["a", "b"]).await;
    assert_out_of_place(journal.append(epoch, Place(4), late.clone()).await, 4, 2);
    assert_out_of_place(journal.append(epoch, Place(0), late).await, 0, 2);
    assert_eq!(batches(journal, 0).await, numbered(1, &["a", "b"]));
}

async fn append_may_be_repeated_with_the_same_batch_only(journal: &dyn Journal) {
    let epoch = granted(journal, "one", LONG).await;
    append(journal, epoch, 1, &["a", "b", "c"]).await;
    append(journal, epoch, 2, &["b", "c"]).await;
    for (place, other) in [(2, "B"), (3, "cc"), (3, "")] {
        let again = journal.append(epoch, Place(place), Bytes::from(other));
        assert_out_of_place(again.await, place, 3);
    }
    append(journal, epoch, 4, &["d"]).await;
    assert_eq!(
        batches(journal, 0).await,
        numbered(1, &["a", "b", "c", "d"])
    );
    // What a snapshot has replaced is not compared any more.
    let put = journal.put_snapshot(epoch, snapshot(4, "all"), Place(3));
    put.await.unwrap();
    let again = journal.append(epoch, Place(2), Bytes::from_static(b"b"));
    assert_out_of_place(again.await, 2, 4);
}

async fn deposed_owner_changes_nothing(journal: &dyn Journal) {
    let first = granted(journal, "one", LONG).await;
    append(journal, first, 1, &["a"]).await;
    journal.resign(first).await.unwrap();
    let second = granted(journal, "two", LONG).await;
    let next = Bytes::from_static(b"b");
    assert_deposed(journal.append(first, Place(2), next.clone()).await);
    // Nor is it told that its last batch is safe: it may not act on that any more.
    let same = Bytes::from_static(b"a");
    assert_deposed(journal.append(first, Place(1), same).await);
    let put = journal.put_snapshot(first, snapshot(1, "old"), Place(1));
    assert_deposed(put.await);
    assert_deposed(journal.append(Epoch(0), Place(2), next.clone()).await);
    assert_eq!(journal.snapshot().await.unwrap(), None);
    assert_eq!(batches(journal, 0).await, numbered(1, &["a"]));
    journal.append(second, Place(2), next).await.unwrap();
}

async fn of_two_owners_that_race_one_writes(journal: &dyn Journal) {
    // Each takes the journal from the other as soon as it can and appends what it says it did.
    async fn own_and_append(journal: &dyn Journal, name: &'static str) -> u64 {
        let mut appended = 0;
        while appended < 40 {
            let claim = journal.claim(name, Duration::from_millis(1)).await;
            let Claim::Granted(epoch) = claim.unwrap() else {
                tokio::task::yield_now().await;
                continue;
            };
            loop {
                let place = journal.end().await.unwrap().next();
                let batch = Bytes::from_static(name.as_bytes());
                match journal.append(epoch, place, batch).await {
                    Ok(()) => appended += 1,
                    Err(JournalError::Deposed | JournalError::OutOfPlace { .. }) => break,
                    Err(other) => panic!("{other}"),
                }
                if appended == 40 {
                    journal.resign(epoch).await.unwrap();
                    break;
                }
            }
        }
        appended
    }
    let race = async {
        tokio::join!(
            own_and_append(journal, "one"),
            own_and_append(journal, "two")
        )
    };
    let (one, two) = tokio::time::timeout(PATIENCE, race).await.unwrap();
    let found = batches(journal, 0).await;
    let of = |name: &str| found.iter().filter(|(_, batch)| batch == name).count() as u64;
    assert_eq!((of("one"), of("two")), (one, two));
    let places: Vec<u64> = found.iter().map(|(place, _)| *place).collect();
    assert_eq!(places, (1..=one + two).collect::<Vec<u64>>());
}

async fn snapshot_replaces_the_beginning(journal: &dyn Journal) {
    assert_eq!(journal.snapshot().await.unwrap(), None);
    let epoch = granted(journal, "one", LONG).await;
    append(journal, epoch, 1, &["a", "b", "c", "d"]).await;
    let put = journal.put_snapshot(epoch, snapshot(3, "abc"), Place(2));
    put.await.unwrap();
    assert_eq!(journal.snapshot().await.unwrap(), Some(snapshot(3, "abc")));
    // Who comes late sees that something is missing in front of the first.
    assert_eq!(batches(journal, 0).await, numbered(3, &["c", "d"]));
    assert_eq!(batches(journal, 3).await, numbered(4, &["d"]));
    assert_eq!(journal.end().await.unwrap(), Place(4));
    let put = journal.put_snapshot(epoch, snapshot(4, "abcd"), Place(4));
    put.await.unwrap();
    assert!(batches(journal, 0).await.is_empty());
    assert_eq!(journal.end().await.unwrap(), Place(4));
    append(journal, epoch, 5, &["e"]).await;
    assert_eq!(batches(journal, 0).await, numbered(5, &["e"]));
    assert_eq!(journal.snapshot().await.unwrap(), Some(snapshot(4, "abcd")));
}

async fn snapshot_behind_the_end_mends_a_lost_tail(journal: &dyn Journal) {
    let epoch = granted(journal, "one", LONG).await;
    append(journal, epoch, 1, &["a", "b"]).await;
    // The owner knows three more batches, which are not there.
    let put = journal.put_snapshot(epoch, snapshot(5, "abcde"), Place(1));
    put.await.unwrap();
    assert_eq!(journal.end().await.unwrap(), Place(5));
    assert!(batches(journal, 0).await.is_empty());
    let again = journal.append(epoch, Place(3), Bytes::from_static(b"c"));
    assert_out_of_place(again.await, 3, 5);
    append(journal, epoch, 6, &["f"]).await;
    assert_eq!(batches(journal, 5).await, numbered(6, &["f"]));
}

async fn snapshot_that_was_overtaken_changes_nothing(journal: &dyn Journal) {
    let epoch = granted(journal, "one", LONG).await;
    append(journal, epoch, 1, &["a", "b", "c"]).await;
    for (upto, bytes) in [(3, "abc"), (2, "ab")] {
        let put = journal.put_snapshot(epoch, snapshot(upto, bytes), Place(upto));
        put.await.unwrap();
    }
    assert_eq!(journal.snapshot().await.unwrap(), Some(snapshot(3, "abc")));
    assert_eq!(journal.end().await.unwrap(), Place(3));
    let put = journal.put_snapshot(epoch, snapshot(3, "ABC"), Place(3));
    put.await.unwrap();
    assert_eq!(journal.snapshot().await.unwrap(), Some(snapshot(3, "ABC")));
}

async fn snapshot_of_megabytes_is_kept(journal: &dyn Journal) {
    let epoch = granted(journal, "one", LONG).await;
    append(journal, epoch, 1, &["a"]).await;
    for fill in [1, 2] {
        let bytes = Bytes::from(vec![fill; 20_000_000]);
        let large = Snapshot {
            upto: Place(1),
            bytes,
        };
        let put = journal.put_snapshot(epoch, large.clone(), Place(1));
        put.await.unwrap();
        assert_eq!(journal.snapshot().await.unwrap(), Some(large));
    }
    let put = journal.put_snapshot(epoch, snapshot(1, ""), Place(1));
    put.await.unwrap();
    assert_eq!(journal.snapshot().await.unwrap(), Some(snapshot(1, "")));
}

async fn blobs_are_kept_listed_and_deleted(journal: &dyn Journal) {
    assert_eq!(journal.blob("a/1").await.unwrap(), None);
    for (name, text) in [("b/1", "third"), ("a/2", "second"), ("a/1", "first")] {
        journal.put_blob(name, Bytes::from(text)).await.unwrap();
    }
    journal.put_blob("a/1", Bytes::from("new")).await.unwrap();
    assert_eq!(journal.blob("a/1").await.unwrap(), Some(Bytes::from("new")));
    assert_eq!(journal.blobs("a/").await.unwrap(), ["a/1", "a/2"]);
    assert_eq!(journal.blobs("").await.unwrap(), ["a/1", "a/2", "b/1"]);
    assert!(journal.blobs("c").await.unwrap().is_empty());
    journal.delete_blob("a/1").await.unwrap();
    journal.delete_blob("never").await.unwrap();
    assert_eq!(journal.blob("a/1").await.unwrap(), None);
    assert_eq!(journal.blobs("").await.unwrap(), ["a/2", "b/1"]);
}

/// What was acknowledged is there after a crash, and an owner can be found at once or in time.
async fn acknowledged_changes_survive_a_crash(bench: Bench) {
    let epoch = granted(&*bench.journal, "one", Duration::from_millis(50)).await;
    append(&*bench.journal, epoch, 1, &["a", "b", "c"]).await;
    let put = bench
        .journal
        .put_snapshot(epoch, snapshot(2, "ab"), Place(1));
    put.await.unwrap();
    let blob = bench.journal.put_blob("blob", Bytes::from("kept"));
    blob.await.unwrap();
    let bench = bench.crash().await;
    let journal = &*bench.journal;
    assert_eq!(journal.end().await.unwrap(), Place(3));
    assert_eq!(batches(journal, 0).await, numbered(2, &["b", "c"]));
    assert_eq!(journal.snapshot().await.unwrap(), Some(snapshot(2, "ab")));
    assert_eq!(
        journal.blob("blob").await.unwrap(),
        Some(Bytes::from("kept"))
    );
    let next = granted_in_time(journal, "two").await;
    assert!(next > epoch);
    append(journal, next, 4, &["d"]).await;
}

#[tokio::test]
async fn acknowledged_changes_survive_a_crash_of_the_file() {
    acknowledged_changes_survive_a_crash(Bench::files()).await;
}

#[tokio::test]
async fn acknowledged_changes_survive_a_crash_of_redis() {
    acknowledged_changes_survive_a_crash(Bench::redis().await).await;
}

#[tokio::test]
async fn folder_has_one_process_and_is_free_again_after_it() {
    let folder = tempfile::tempdir().unwrap();
    let journal = FileJournal::open(folder.path()).unwrap();
    let epoch = granted(&journal, "one", LONG).await;
    let second = FileJournal::open(folder.path()).err();
    assert!(
        matches!(second, Some(JournalError::InUse { .. })),
        "{second:?}"
    );
    journal.close();
    let late = journal.append(epoch, Place(1), Bytes::new()).await;
    assert!(matches!(late, Err(JournalError::Stopped)), "{late:?}");
    // Whoever owned it was that process, so that nobody waits for it.
    let journal = FileJournal::open(folder.path()).unwrap();
    assert!(granted(&journal, "two", LONG).await > epoch);
}

#[tokio::test]
async fn folder_with_the_queue_of_an_older_version_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("coordinator.db"), "").unwrap();
    let refused = FileJournal::open(folder.path()).err().unwrap();
    assert!(matches!(refused, JournalError::Older { .. }), "{refused:?}");
    let line = refused.to_string();
    assert!(line.contains("--data") && !line.contains('\n'), "{line}");
    assert!(!folder.path().join("journal.db").exists());
}
