//! The link against real servers: what counts as confirmed by replicas, and that a replica that is
//! away holds nothing up.

use std::time::{Duration, Instant};

use agon_redis_link::{Address, Confirmation, Link};
use agon_tests::redis::RedisServer;

fn confirming(server: &RedisServer, within: Duration) -> Link {
    let confirmation = Confirmation {
        replicas: 1,
        within,
    };
    let address = Address::read(&server.url()).unwrap();
    Link::confirming(address, redis::pipe(), Some(confirmation))
}

async fn write(link: &mut Link, key: &str) -> redis::RedisResult<()> {
    let mut set = redis::cmd("SET");
    set.arg(key).arg("x").exec_async(link).await
}

#[tokio::test]
async fn write_of_a_lost_connection_is_not_confirmed_by_another_one() {
    let server = RedisServer::start();
    let link = confirming(&server, Duration::from_millis(50));
    let mut writer = link.clone();
    write(&mut writer, "a").await.unwrap();
    // Every client is sent away, as by a server that dies.
    let operator = redis::Client::open(server.url()).unwrap();
    let mut operator = operator.get_multiplexed_async_connection().await.unwrap();
    let mut kill = redis::cmd("CLIENT");
    kill.arg(&["KILL", "TYPE", "normal"]);
    kill.exec_async(&mut operator).await.unwrap();
    let mut other = link.clone();
    while write(&mut other, "b").await.is_err() {}
    assert!(writer.confirm().await.unwrap_err().is_io_error());
    other.confirm().await.unwrap();
}

#[tokio::test]
async fn replica_that_is_away_holds_nothing_up() {
    let server = RedisServer::start();
    let link = confirming(&server, Duration::from_millis(200));
    let began = Instant::now();
    let writers = (0..200).map(|number| {
        let mut link = link.clone();
        tokio::spawn(async move {
            write(&mut link, &number.to_string()).await?;
            link.confirm().await
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap().unwrap();
    }
    let took = began.elapsed();
    // One after the other they would take 40 s.
    assert!(took < Duration::from_secs(3), "{took:?}");
}
