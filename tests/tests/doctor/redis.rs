//! Checks of Redis: real servers, well and badly set, and a proxy that changes what one says of the
//! time.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use agon_tests::redis::{RedisServer, Sentinel, free_port};

use super::{doctor, expect, said};

#[test]
fn well_set_redis_passes_every_check() {
    let redis = RedisServer::start_synced_every_second();
    let ended = doctor(&["--redis", &redis.url()]).expect_code(0);
    for (check, words) in [
        ("redis", "is a master and takes writes"),
        ("redis version", "."),
        ("redis appendonly", "yes"),
        ("redis appendfsync", "everysec"),
        ("redis append-only file", "the last write succeeded"),
        ("redis snapshot", "the last write succeeded"),
        ("redis maxmemory-policy", "noeviction"),
        ("redis memory", "without a limit"),
        ("redis clock", "the clock of this machine"),
        ("redis latency", "answers in"),
        ("redis keys", "none of an older agon"),
    ] {
        expect(&ended, "ok", check, words);
    }
    assert_eq!(said(&ended, "redis settings"), "", "{}", ended.out);
}

#[test]
fn settings_that_lose_something_are_told_with_what_to_set() {
    let redis = RedisServer::start();
    let ended = doctor(&["--redis", &redis.url()]).expect_code(0);
    // The servers of tests leave syncing to the system.
    expect(
        &ended,
        "warn",
        "redis appendfsync",
        "; set `appendfsync everysec`",
    );
    for (name, value) in [
        ("maxmemory", "100mb"),
        ("maxmemory-policy", "allkeys-lru"),
        ("appendonly", "no"),
    ] {
        // The answer is no string.
        let _ = redis.ask(&["CONFIG", "SET", name, value]);
    }
    let ended = doctor(&["--redis", &redis.url()]).expect_code(1);
    expect(
        &ended,
        "fail",
        "redis maxmemory-policy",
        "; set `maxmemory-policy noeviction`",
    );
    expect(&ended, "fail", "redis appendonly", "; set `appendonly yes`");
    expect(&ended, "ok", "redis memory", "of 100 MiB used");
}

#[test]
fn redis_without_memory_takes_no_writes_and_says_so() {
    let redis = RedisServer::start();
    let _ = redis.ask(&["CONFIG", "SET", "maxmemory", "1mb"]);
    let _ = redis.ask(&["SET", "filler", &"x".repeat(2 << 20)]);
    let ended = doctor(&["--redis", &redis.url()]).expect_code(1);
    expect(&ended, "fail", "redis", "takes no writes");
    expect(&ended, "fail", "redis memory", "; raise maxmemory");
}

#[test]
fn snapshot_that_cannot_be_written_is_told() {
    let redis = RedisServer::start();
    let _ = redis.ask(&["CONFIG", "SET", "appendonly", "no"]);
    std::fs::remove_dir_all(redis.folder()).unwrap();
    let _ = redis.ask(&["BGSAVE"]);
    agon_tests::waiting::until("the snapshot has failed", || {
        let info = redis.ask(&["INFO", "persistence"]).unwrap_or_default();
        info.contains("rdb_last_bgsave_status:err")
    });
    let ended = doctor(&["--redis", &redis.url()]).expect_code(1);
    expect(&ended, "fail", "redis snapshot", "; free space on its disk");
}

#[test]
fn redis_that_is_away_or_a_replica_is_told() {
    let gone = format!("redis://:hidden-password@127.0.0.1:{}", free_port());
    let ended = doctor(&["--redis", &gone]).expect_code(1);
    expect(&ended, "fail", "redis", "; start it, or correct --redis");
    assert!(
        !format!("{ended:?}").contains("hidden-password"),
        "{ended:?}"
    );
    let master = RedisServer::start();
    let replica = RedisServer::start_replica_of(&master);
    let ended = doctor(&["--redis", &replica.url()]).expect_code(1);
    expect(&ended, "fail", "redis", "is a replica");
}

#[test]
fn password_that_is_refused_is_told_and_not_shown() {
    let redis = RedisServer::start();
    let _ = redis.ask(&["CONFIG", "SET", "requirepass", "the-right-one"]);
    let url = format!("redis://:the-wrong-one@127.0.0.1:{}", redis.port());
    let ended = doctor(&["--redis", &url]).expect_code(1);
    expect(&ended, "fail", "redis", "; correct user, password");
    assert!(!format!("{ended:?}").contains("the-wrong-one"), "{ended:?}");
}

#[test]
fn user_who_may_not_see_settings_is_told_what_to_grant() {
    let redis = RedisServer::start();
    // As docs/gateway.md grants it.
    let rights = "on >secret-of-agon ~agon:* ~{agon}* -@all +@read +@write +@scripting +@connection \
                  +@transaction -@dangerous +role +time +wait";
    let words: Vec<&str> = ["ACL", "SETUSER", "agon"]
        .into_iter()
        .chain(rights.split_whitespace())
        .collect();
    let _ = redis.ask(&words);
    let url = format!("redis://agon:secret-of-agon@127.0.0.1:{}", redis.port());
    let ended = doctor(&["--redis", &url]).expect_code(0);
    expect(&ended, "ok", "redis", "takes writes");
    expect(
        &ended,
        "warn",
        "redis settings",
        "; grant it +info and +config|get",
    );
    let _ = redis.ask(&["ACL", "SETUSER", "agon", "+info", "+config|get"]);
    let ended = doctor(&["--redis", &url]).expect_code(0);
    assert_eq!(said(&ended, "redis settings"), "", "{}", ended.out);
    expect(&ended, "ok", "redis maxmemory-policy", "noeviction");
}

#[test]
fn sentinels_want_a_master_that_stops_when_it_is_cut_off() {
    let master = RedisServer::start();
    let sentinel = Sentinel::patient(&master, std::time::Duration::from_secs(60));
    let url = format!(
        "redis+sentinel://127.0.0.1:{}/{}",
        sentinel.port(),
        Sentinel::MASTER
    );
    let ended = doctor(&["--redis", &url]).expect_code(0);
    expect(&ended, "warn", "redis replicas", "; start a replica");
    expect(
        &ended,
        "warn",
        "redis min-replicas-to-write",
        "; set `min-replicas-to-write 1`",
    );
    let _replica = RedisServer::start_replica_of(&master);
    let _ = master.ask(&["CONFIG", "SET", "min-replicas-to-write", "1"]);
    agon_tests::waiting::until("the replica has caught up", || {
        let info = master.ask(&["INFO", "replication"]).unwrap_or_default();
        info.contains("min_slaves_good_slaves:1")
    });
    let ended = doctor(&["--redis", &url]).expect_code(0);
    expect(
        &ended,
        "ok",
        "redis min-replicas-to-write",
        "1, with 1 connected",
    );
    assert_eq!(said(&ended, "redis replicas"), "", "{}", ended.out);
}

#[test]
fn keys_of_an_older_agon_are_told() {
    let redis = RedisServer::start();
    let of = |rest: &str| format!("{{agon}}:coordinator:v1:{rest}");
    let _ = redis.ask(&["SADD", &of("experiments"), "left"]);
    let _ = redis.ask(&["HSET", &of("e:left"), "cancelled", "1"]);
    let ended = doctor(&["--redis", &redis.url()]).expect_code(0);
    expect(
        &ended,
        "warn",
        "redis keys",
        "finished: 1; fetch their results",
    );
    let _ = redis.ask(&["HSET", &of("e:left"), "cancelled", "0"]);
    let _ = redis.ask(&["ZADD", &of("e:left:places"), "0", "a"]);
    let ended = doctor(&["--redis", &redis.url()]).expect_code(1);
    expect(
        &ended,
        "fail",
        "redis keys",
        "unfinished: 1; let that version finish them",
    );
}

/// Passes everything on and takes seconds off every time that the server tells.
fn proxy_of_the_past(server: u16, seconds: u64) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for caller in listener.incoming().flatten() {
            let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
            let (mut from, mut to) = (caller.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || std::io::copy(&mut from, &mut to));
            thread::spawn(move || tell_the_past(server, caller, seconds));
        }
    });
    port
}

/// Until one of them goes.
fn tell_the_past(mut server: TcpStream, mut caller: TcpStream, seconds: u64) -> Option<()> {
    // The answer to TIME: two strings, of which the first has ten digits.
    let head = "*2\r\n$10\r\n";
    let mut answer = vec![0; 1 << 20];
    loop {
        let length = server.read(&mut answer).ok().filter(|length| *length > 0)?;
        let mut bytes = answer[..length].to_vec();
        if let Some(digits) = bytes
            .strip_prefix(head.as_bytes())
            .and_then(|rest| rest.get(..10))
        {
            let told: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
            let changed = (told - seconds).to_string();
            bytes[head.len()..head.len() + 10].copy_from_slice(changed.as_bytes());
        }
        caller.write_all(&bytes).ok()?;
    }
}

#[test]
fn clock_of_redis_is_compared_with_ours() {
    let redis = RedisServer::start();
    for (seconds, result, code) in [(0, "ok", 0), (3, "warn", 0), (60, "fail", 1)] {
        let port = proxy_of_the_past(redis.port(), seconds);
        let url = format!("redis://127.0.0.1:{port}");
        let ended = doctor(&["--redis", &url]).expect_code(code);
        expect(&ended, result, "redis clock", "the clock of this machine");
        if seconds > 0 {
            expect(&ended, result, "redis clock", "behind");
        }
    }
}
