//! A coordinator whose Redis is away when it starts: it waits, says so, and is in charge once a
//! server is there that takes writes. What no waiting mends is an error. Real servers.

use std::time::{Duration, Instant};

use agon_coordinator::journal::JournalError;
use agon_coordinator::{Coordinator, CoordinatorError, CoordinatorOptions, StoreChoice};
use agon_proto::v1::ListExperimentsRequest;
use agon_service_kit::tasks::Tasks;
use agon_tests::redis::{RedisServer, Sentinel};
use tonic::Code;

use crate::journal::PATIENCE;
use crate::journal_redis::{older_experiment, tell};
use crate::stand::{Stand, open, submit};
use crate::worker::commands;

/// Service comes back within five seconds of the store's return; a machine that does other things may
/// need more.
const BACK_WITHIN: Duration = Duration::from_secs(20);

/// A coordinator looks for its Redis for a few seconds before it serves; a machine that does other things
/// may need more.
const OPENS_WITHIN: Duration = Duration::from_secs(20);

fn waiting() -> CoordinatorOptions {
    CoordinatorOptions {
        store_may_come_later: true,
        // A standby would look too seldom for the bar.
        ownership_time: Duration::from_secs(120),
        ..CoordinatorOptions::default()
    }
}

/// A coordinator that finds nobody at the address, and says so to whoever asks.
async fn opened_alone(url: String) -> Stand {
    let began = Instant::now();
    let stand = open(Some(StoreChoice::Redis(url)), waiting()).await;
    assert!(began.elapsed() < OPENS_WITHIN, "{:?}", began.elapsed());
    assert!(!*stand.coordinator.in_charge().borrow());
    let asked = commands(&stand.coordinator.services())
        .list_experiments(ListExperimentsRequest {})
        .await;
    let told = asked.unwrap_err();
    assert_eq!(told.code(), Code::Unavailable);
    assert!(told.message().contains("redis"), "{told}");
    stand
}

/// It is in charge in time, and takes an experiment.
async fn serves(stand: &Stand) {
    let came = Instant::now();
    let mut in_charge = stand.coordinator.in_charge();
    let served = in_charge.wait_for(|in_charge| *in_charge);
    let served = tokio::time::timeout(BACK_WITHIN, served).await;
    assert!(served.is_ok(), "{:?} and not in charge", came.elapsed());
    submit(&mut commands(&stand.coordinator.services())).await;
}

#[tokio::test]
async fn coordinator_opens_before_its_redis_and_is_in_charge_once_it_is_there() {
    let mut server = RedisServer::start();
    server.kill();
    let stand = opened_alone(server.url()).await;
    server.restart();
    serves(&stand).await;
}

#[tokio::test]
async fn redis_that_hangs_when_a_coordinator_opens_holds_nobody_up() {
    let server = RedisServer::start();
    server.pause();
    let stand = opened_alone(server.url()).await;
    server.resume();
    serves(&stand).await;
}

#[tokio::test]
async fn coordinator_waits_until_a_replica_takes_writes() {
    let mut master = RedisServer::start();
    let replica = RedisServer::start_replica_of(&master);
    let stand = opened_alone(replica.url()).await;
    master.kill();
    let () = tell(&replica, &["REPLICAOF", "NO", "ONE"]).await;
    serves(&stand).await;
}

#[tokio::test]
async fn coordinator_waits_for_sentinels_that_know_no_master_yet() {
    let master = RedisServer::start();
    let sentinel = Sentinel::watching_nobody();
    let (port, name) = (sentinel.port(), Sentinel::MASTER);
    let stand = opened_alone(format!("redis+sentinel://127.0.0.1:{port}/{name}")).await;
    sentinel.watch(&master);
    serves(&stand).await;
}

#[tokio::test]
async fn redis_that_refuses_a_coordinator_is_told_at_once() {
    let server = RedisServer::start();
    let url = server.url().replace("redis://", "redis://:secret@");
    let opened = Coordinator::open(StoreChoice::Redis(url), waiting(), &Tasks::new()).await;
    let error = opened.err().unwrap();
    let CoordinatorError::Store(refused @ JournalError::Refused { .. }) = &error else {
        panic!("{error:?}");
    };
    let expected = format!("Redis at {} refuses this coordinator", server.url());
    assert_eq!(refused.to_string(), expected);
    assert!(!format!("{error:?}").contains("secret"));
}

#[tokio::test]
async fn unfinished_experiments_of_an_older_version_stop_a_coordinator_that_waited() {
    let mut server = RedisServer::start();
    older_experiment(&server, 2).await;
    server.kill();
    let stand = opened_alone(server.url()).await;
    server.restart();
    let stopped = stand.tasks.shutdown_token();
    let stopped = tokio::time::timeout(PATIENCE, stopped.cancelled_owned());
    stopped.await.unwrap();
    let failure = stand.tasks.shutdown(PATIENCE).await.unwrap_err();
    assert!(failure.to_string().contains("older agon"), "{failure}");
}

#[tokio::test]
async fn redis_that_refuses_a_coordinator_that_waited_stops_it() {
    let mut server = RedisServer::start();
    let url = server.url().replace("redis://", "redis://:secret@");
    server.kill();
    let stand = opened_alone(url).await;
    server.restart();
    let stopped = stand.tasks.shutdown_token();
    let stopped = tokio::time::timeout(PATIENCE, stopped.cancelled_owned());
    stopped.await.unwrap();
    let failure = stand.tasks.shutdown(PATIENCE).await.unwrap_err();
    assert!(
        failure.to_string().contains("refuses this coordinator"),
        "{failure}"
    );
}
