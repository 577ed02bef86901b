//! The link against real servers: what counts as confirmed by replicas, that a replica that is away
//! holds nothing up, and that a server which asks for a certificate is shown one.

use std::time::{Duration, Instant};

use agon_redis_link::{Address, Confirmation, Link};
use agon_tests::redis::{RedisServer, Sentinel};

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

/// Whom a server takes whoever comes over this address for.
async fn name_at(url: String) -> redis::RedisResult<String> {
    let mut link = Link::confirming(Address::read(&url)?, redis::pipe(), None);
    let mut ask = redis::cmd("ACL");
    ask.arg("WHOAMI").query_async(&mut link).await
}

#[tokio::test]
async fn server_that_asks_for_a_certificate_takes_whoever_shows_one() {
    let (server, tls) = RedisServer::start_with_tls();
    let _ = server.ask(&["ACL", "SETUSER", "agon", "on", ">word", "~*", "+@all"]);
    let _ = server.ask(&["CONFIG", "SET", "tls-auth-clients", "yes"]);
    let without = name_at(tls.url("agon", "word")).await;
    assert!(without.is_err(), "{without:?}");
    let shown = name_at(tls.url_with_certificate("agon", "word")).await;
    assert_eq!(shown.unwrap(), "agon");
    let half = format!("{}&cert=/nowhere", tls.url("agon", "word"));
    let refused = name_at(half).await.unwrap_err();
    assert!(refused.to_string().contains("belong together"), "{refused}");
}

#[tokio::test]
async fn sentinels_are_asked_over_tls_for_a_master_that_speaks_it_too() {
    let (server, tls) = RedisServer::start_with_tls();
    let _ = server.ask(&["ACL", "SETUSER", "agon", "on", ">word", "~*", "+@all"]);
    let (_sentinel, url) = Sentinel::with_tls(&tls, "agon", "word");
    assert_eq!(name_at(url.clone()).await.unwrap(), "agon");
    let (without, _) = url.split_once('?').unwrap();
    let refused = name_at(without.to_owned()).await;
    assert!(refused.is_err(), "nobody knows its authority: {refused:?}");
    let plain = url.replacen("rediss+", "redis+", 1);
    let refused = name_at(plain).await.unwrap_err();
    assert!(
        refused.to_string().contains("belong to rediss://"),
        "{refused}"
    );
}
