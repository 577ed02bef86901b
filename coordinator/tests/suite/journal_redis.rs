//! The journal in Redis when Redis fails: restarts, lost tails, replicas, servers that hang, a
//! failover, and the queue of an older version. Real processes, one set for each test.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use agon_coordinator::journal::{
    Claim, Epoch, Journal, JournalError, JournalResult, Place, RedisJournal,
};
use agon_tests::redis::{RedisServer, Sentinel};
use bytes::Bytes;

use crate::journal::{
    LONG, PATIENCE, append, assert_deposed, assert_out_of_place, batches, granted, numbered,
    snapshot,
};

async fn connect(server: &RedisServer) -> RedisJournal {
    RedisJournal::connect(&server.url()).await.unwrap()
}

/// Sends a server commands of an operator's.
pub async fn tell<T: redis::FromRedisValue>(server: &RedisServer, words: &[&str]) -> T {
    let client = redis::Client::open(server.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(&mut connection).await.unwrap()
}

/// Appends again and again until the journal takes it, as an owner does.
async fn append_in_time(journal: &RedisJournal, epoch: Epoch, place: u64, batch: &'static str) {
    let began = Instant::now();
    loop {
        let batch = Bytes::from_static(batch.as_bytes());
        match journal.append(epoch, Place(place), batch).await {
            Ok(()) => return,
            Err(JournalError::Redis { .. }) if began.elapsed() < PATIENCE => {}
            Err(other) => panic!("{other:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[track_caller]
fn assert_refused<T: std::fmt::Debug>(answer: JournalResult<T>) {
    let refused = matches!(
        answer,
        Err(JournalError::Redis { .. } | JournalError::Unreachable { .. })
    );
    assert!(refused, "{answer:?}");
}

#[tokio::test]
async fn clock_that_was_set_back_while_the_owner_died_holds_nobody_up() {
    let server = RedisServer::start();
    let journal = connect(&server).await;
    let ttl = Duration::from_millis(200);
    let first = granted(&journal, "one", ttl).await;
    // An hour ago the clock was an hour ahead.
    let state = "{agon}:journal:v1:state";
    let expires: String = tell(&server, &["HGET", state, "expires_ms"]).await;
    let ahead = (expires.parse::<u64>().unwrap() + 3_600_000).to_string();
    let _: i64 = tell(&server, &["HSET", state, "expires_ms", &ahead]).await;
    let began = Instant::now();
    loop {
        match journal.claim("two", ttl).await.unwrap() {
            Claim::Granted(epoch) => {
                assert!(epoch > first);
                return;
            }
            Claim::Held { left, .. } => assert!(left <= ttl, "{left:?}"),
        }
        assert!(began.elapsed() < PATIENCE, "still held");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn owner_goes_on_after_a_restart_of_redis() {
    let mut server = RedisServer::start();
    let journal = connect(&server).await;
    let epoch = granted(&journal, "one", LONG).await;
    append(&journal, epoch, 1, &["a", "b"]).await;
    server.kill();
    let lost = journal.append(epoch, Place(3), Bytes::from_static(b"c"));
    assert_refused(lost.await);
    server.restart();
    append_in_time(&journal, epoch, 3, "c").await;
    append(&journal, epoch, 4, &["d"]).await;
    journal.renew(epoch, LONG).await.unwrap();
    assert_eq!(
        batches(&journal, 0).await,
        numbered(1, &["a", "b", "c", "d"])
    );
}

/// The append-only file, of which every answered command is a part.
fn append_only_file(server: &RedisServer) -> PathBuf {
    let folder = server.folder().join("appendonlydir");
    let files = std::fs::read_dir(folder).unwrap();
    let mut files = files.map(|entry| entry.unwrap().path());
    files
        .find(|path| path.to_string_lossy().ends_with(".incr.aof"))
        .unwrap()
}

fn written(server: &RedisServer) -> u64 {
    std::fs::metadata(append_only_file(server)).unwrap().len()
}

/// Kills the server and lets it forget what it wrote behind so many bytes.
fn lose_tail(server: &mut RedisServer, kept: u64) {
    server.kill();
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(append_only_file(server));
    file.unwrap().set_len(kept).unwrap();
    server.restart();
}

#[tokio::test]
async fn lost_tail_is_noticed_and_mended_with_a_snapshot() {
    let mut server = RedisServer::start();
    let journal = connect(&server).await;
    let epoch = granted(&journal, "one", LONG).await;
    append(&journal, epoch, 1, &["a", "b", "c"]).await;
    let kept = written(&server);
    append(&journal, epoch, 4, &["d", "e"]).await;
    lose_tail(&mut server, kept);
    let began = Instant::now();
    let out_of_place = loop {
        let answer = journal.append(epoch, Place(6), Bytes::from_static(b"f"));
        match answer.await {
            Err(JournalError::Redis { .. }) => assert!(began.elapsed() < PATIENCE),
            other => break other,
        }
    };
    assert_out_of_place(out_of_place, 6, 3);
    let put = journal.put_snapshot(epoch, snapshot(5, "abcde"), Place(5));
    put.await.unwrap();
    append(&journal, epoch, 6, &["f"]).await;
    assert_eq!(journal.end().await.unwrap(), Place(6));
    assert_eq!(batches(&journal, 5).await, numbered(6, &["f"]));
}

#[tokio::test]
async fn tail_cut_inside_a_batch_loses_that_batch_whole() {
    let mut server = RedisServer::start();
    let journal = connect(&server).await;
    let epoch = granted(&journal, "one", LONG).await;
    append(&journal, epoch, 1, &["a"]).await;
    let before = written(&server);
    append(&journal, epoch, 2, &["b"]).await;
    let kept = written(&server) - 3;
    assert!(kept > before);
    lose_tail(&mut server, kept);
    let journal = connect(&server).await;
    assert_eq!(journal.end().await.unwrap(), Place(1));
    assert_eq!(batches(&journal, 0).await, numbered(1, &["a"]));
    append(&journal, epoch, 2, &["b"]).await;
}

#[tokio::test]
async fn epoch_that_redis_forgot_is_not_given_twice() {
    let mut server = RedisServer::start();
    let journal = connect(&server).await;
    let kept = written(&server);
    let forgotten = granted(&journal, "one", LONG).await;
    lose_tail(&mut server, kept);
    let other = connect(&server).await;
    let epoch = granted(&other, "two", LONG).await;
    assert_ne!(epoch, forgotten);
    append(&other, epoch, 1, &["a"]).await;
    let journal = connect(&server).await;
    assert_deposed(journal.append(forgotten, Place(2), Bytes::new()).await);
}

#[tokio::test]
async fn replica_is_no_journal() {
    let master = RedisServer::start();
    let replica = RedisServer::start_replica_of(&master);
    assert_refused(RedisJournal::connect(&replica.url()).await.map(|_| ()));
}

#[tokio::test]
async fn master_that_becomes_a_replica_is_left_until_it_takes_writes_again() {
    let server = RedisServer::start();
    let other = RedisServer::start();
    let journal = connect(&server).await;
    let epoch = granted(&journal, "one", LONG).await;
    append(&journal, epoch, 1, &["a"]).await;
    // It keeps what it has, because it cannot reach what it is to copy.
    let nowhere = agon_tests::redis::free_port().to_string();
    let () = tell(&server, &["REPLICAOF", "127.0.0.1", &nowhere]).await;
    let same = Bytes::from_static(b"a");
    assert_refused(journal.append(epoch, Place(1), same).await);
    assert_refused(journal.renew(epoch, LONG).await);
    assert_refused(journal.claim("two", LONG).await);
    assert_refused(journal.put_blob("blob", Bytes::new()).await);
    assert_refused(journal.end().await);
    let () = tell(&server, &["REPLICAOF", "NO", "ONE"]).await;
    append_in_time(&journal, epoch, 2, "b").await;
    drop(other);
}

#[tokio::test]
async fn server_without_memory_is_an_error_until_it_has_some() {
    let server = RedisServer::start();
    let journal = connect(&server).await;
    let epoch = granted(&journal, "one", LONG).await;
    let () = tell(&server, &["CONFIG", "SET", "maxmemory", "1"]).await;
    assert_refused(journal.renew(epoch, LONG).await);
    let batch = Bytes::from_static(b"a");
    assert_refused(journal.append(epoch, Place(1), batch).await);
    let () = tell(&server, &["CONFIG", "SET", "maxmemory", "0"]).await;
    append(&journal, epoch, 1, &["a"]).await;
}

#[tokio::test]
async fn server_that_hangs_is_an_error_within_seconds_and_comes_back() {
    let server = RedisServer::start();
    let journal = connect(&server).await;
    let epoch = granted(&journal, "one", LONG).await;
    append(&journal, epoch, 1, &["a"]).await;
    server.pause();
    let began = Instant::now();
    let hung = journal.append(epoch, Place(2), Bytes::from_static(b"b"));
    assert_refused(hung.await);
    assert!(
        began.elapsed() < Duration::from_secs(9),
        "{:?}",
        began.elapsed()
    );
    server.resume();
    // Whether the first try arrived or not, the batch is there once.
    append_in_time(&journal, epoch, 2, "b").await;
    append(&journal, epoch, 3, &["c"]).await;
    assert_eq!(batches(&journal, 0).await, numbered(1, &["a", "b", "c"]));
}

#[tokio::test]
async fn owner_goes_on_with_the_master_that_sentinels_name() {
    let mut master = RedisServer::start();
    let replica = RedisServer::start_replica_of(&master);
    let sentinel = Sentinel::watching(&master);
    // A sentinel that is not there is passed over.
    let gone = agon_tests::redis::free_port();
    let url = format!(
        "redis+sentinel://127.0.0.1:{gone},127.0.0.1:{}/{}",
        sentinel.port(),
        Sentinel::MASTER
    );
    let journal = RedisJournal::connect(&url).await.unwrap();
    let epoch = granted(&journal, "one", LONG).await;
    append(&journal, epoch, 1, &["a", "b"]).await;
    // The sentinel knows the replica, and the replica has everything.
    let began = Instant::now();
    let sentinel_url = format!("redis://127.0.0.1:{}", sentinel.port());
    let client = redis::Client::open(sentinel_url).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    loop {
        let mut ask = redis::cmd("SENTINEL");
        ask.arg("REPLICAS").arg(Sentinel::MASTER);
        let replicas: Vec<redis::Value> = ask.query_async(&mut connection).await.unwrap();
        let end: Option<u64> = tell(&replica, &["HGET", "{agon}:journal:v1:state", "end"]).await;
        if replicas.len() == 1 && end == Some(2) {
            break;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "{} replicas, {end:?}",
            replicas.len()
        );
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    master.kill();
    append_in_time(&journal, epoch, 3, "c").await;
    journal.renew(epoch, LONG).await.unwrap();
    assert_eq!(batches(&journal, 0).await, numbered(1, &["a", "b", "c"]));
    let end: u64 = tell(&replica, &["HGET", "{agon}:journal:v1:state", "end"]).await;
    assert_eq!(end, 3);
}

#[tokio::test]
async fn of_two_coordinators_one_owns_and_the_other_takes_over() {
    let server = RedisServer::start();
    let (one, two) = (connect(&server).await, connect(&server).await);
    let first = granted(&one, "one", Duration::from_millis(50)).await;
    append(&one, first, 1, &["a"]).await;
    let began = Instant::now();
    let second = loop {
        match two.claim("two", LONG).await.unwrap() {
            Claim::Granted(epoch) => break epoch,
            Claim::Held { owner, .. } => assert_eq!(owner, "one"),
        }
        assert!(began.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(5)).await;
    };
    assert_eq!(batches(&two, 0).await, numbered(1, &["a"]));
    append(&two, second, 2, &["b"]).await;
    assert_deposed(one.append(first, Place(3), Bytes::new()).await);
    assert_deposed(one.renew(first, LONG).await);
}

/// An experiment as versions before the journal left it, with one session done of so many.
pub async fn older_experiment(server: &RedisServer, sessions: usize) {
    let p = "{agon}:coordinator:v1:";
    let () = tell(server, &["SADD", &format!("{p}experiments"), "x"]).await;
    let key = format!("{p}e:x");
    let () = tell(
        server,
        &["HSET", &key, "team", "t", "cancelled", "0", "n:done", "1"],
    )
    .await;
    for session in 0..sessions {
        let session = session.to_string();
        let () = tell(
            server,
            &["ZADD", &format!("{key}:places"), &session, &session],
        )
        .await;
    }
}

#[tokio::test]
async fn unfinished_experiments_of_an_older_version_are_refused_in_one_line() {
    let server = RedisServer::start();
    older_experiment(&server, 2).await;
    let refused = RedisJournal::connect(&server.url()).await.err().unwrap();
    assert!(matches!(refused, JournalError::Older { .. }), "{refused:?}");
    assert!(!refused.to_string().contains('\n'), "{refused}");
}

#[tokio::test]
async fn finished_experiments_of_an_older_version_are_in_nobodys_way() {
    let server = RedisServer::start();
    older_experiment(&server, 1).await;
    let journal = connect(&server).await;
    granted(&journal, "one", LONG).await;
}

#[tokio::test]
async fn address_without_a_server_is_told_without_its_password() {
    let port = agon_tests::redis::free_port();
    let url = format!("redis://user:hidden@127.0.0.1:{port}");
    let refused = RedisJournal::connect(&url).await.err().unwrap();
    assert!(
        matches!(refused, JournalError::Unreachable { .. }),
        "{refused:?}"
    );
    assert!(!refused.to_string().contains("hidden"), "{refused}");
}
