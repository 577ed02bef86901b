//! Claims about who comes in.
//! Tokens, cookies, and names by which this machine is called.

use http::HeaderMap;
use http::header::{COOKIE, HOST, ORIGIN};

use super::{Entrance, MOST_COOKIES, check_host, check_origin};

fn headers(name: http::header::HeaderName, value: &str) -> HeaderMap {
    HeaderMap::from_iter([(name, value.parse().unwrap())])
}

fn pair(cookie: &str) -> &str {
    cookie.split(';').next().unwrap()
}

#[test]
fn only_the_token_gives_a_cookie_and_only_the_cookie_lets_in() {
    let (entrance, token) = Entrance::open().unwrap();
    for wrong in ["", "x", &token[1..], &format!("{token}0")] {
        assert!(entrance.enter(wrong).is_err(), "{wrong}");
    }
    let cookie = entrance.enter(&token).unwrap();
    assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
    let shown = format!("other=1; {}; last=2", pair(&cookie));
    assert!(entrance.admit(&headers(COOKIE, &shown)).is_ok());
    let value = pair(&cookie).split_once('=').unwrap().1;
    for wrong in [
        "agon-view=",
        &format!("agon-view={value}"),
        "other=1",
        &pair(&cookie)[..30],
    ] {
        assert!(entrance.admit(&headers(COOKIE, wrong)).is_err(), "{wrong}");
    }
    assert!(entrance.admit(&HeaderMap::new()).is_err());
}

#[test]
fn oldest_cookie_ends_when_there_are_too_many() {
    let (entrance, token) = Entrance::open().unwrap();
    let first = entrance.enter(&token).unwrap();
    for _ in 0..MOST_COOKIES - 1 {
        entrance.enter(&token).unwrap();
    }
    assert!(entrance.admit(&headers(COOKIE, pair(&first))).is_ok());
    entrance.enter(&token).unwrap();
    assert!(entrance.admit(&headers(COOKIE, pair(&first))).is_err());
}

#[test]
fn only_names_of_this_machine_are_answered() {
    for host in [
        "localhost",
        "LocalHost:7790",
        "127.0.0.1:7790",
        "127.8.0.1",
        "[::1]:80",
        "[::1]",
    ] {
        assert!(check_host(&headers(HOST, host)).is_ok(), "{host}");
    }
    for host in [
        "evil.example",
        "localhost.evil.example:80",
        "10.0.0.1",
        "0.0.0.0:7790",
        "",
    ] {
        assert!(check_host(&headers(HOST, host)).is_err(), "{host}");
    }
    assert!(check_host(&HeaderMap::new()).is_err());
}

#[test]
fn changes_are_taken_from_ones_own_pages_only() {
    let mut from = headers(HOST, "127.0.0.1:7790");
    assert!(check_origin(&from).is_ok());
    from.insert(ORIGIN, "http://127.0.0.1:7790".parse().unwrap());
    assert!(check_origin(&from).is_ok());
    for origin in ["http://evil.example", "null", "http://127.0.0.1:7791"] {
        from.insert(ORIGIN, origin.parse().unwrap());
        assert!(check_origin(&from).is_err(), "{origin}");
    }
    let mut cross = headers(HOST, "127.0.0.1:7790");
    cross.insert("sec-fetch-site", "cross-site".parse().unwrap());
    assert!(check_origin(&cross).is_err());
}

#[test]
fn cookies_of_two_servers_of_one_machine_stand_beside_each_other() {
    let (one, first) = Entrance::open().unwrap();
    let (other, second) = Entrance::open().unwrap();
    let cookies = [one.enter(&first).unwrap(), other.enter(&second).unwrap()];
    let both = cookies.each_ref().map(|cookie| pair(cookie)).join("; ");
    assert!(one.admit(&headers(COOKIE, &both)).is_ok());
    assert!(other.admit(&headers(COOKIE, &both)).is_ok());
    assert!(other.admit(&headers(COOKIE, pair(&cookies[0]))).is_err());
}
