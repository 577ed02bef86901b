//! Claims about who comes in.
//! Tokens, cookies, and names by which this machine is called.

use http::HeaderMap;
use http::header::{COOKIE, HOST, ORIGIN};

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::{Doorkeeper, Entrance, MOST_BROWSERS, check_host, check_origin};
use crate::api::tests::Records;
use crate::refusal::Refusal;
use crate::{Access, AccessHolder, Library, Shelf, SignedIn};

fn access(begun: CancellationToken) -> Access {
    let library = Arc::new(Library::new(Arc::new(Records(Vec::new()))));
    Access::new(Arc::new(Shelf::new(library, begun)), None)
}

fn open() -> (Entrance, String) {
    let token = super::token().unwrap();
    let entrance = Entrance::open(&token, access(CancellationToken::new())).unwrap();
    (entrance, token)
}

fn headers(name: http::header::HeaderName, value: &str) -> HeaderMap {
    HeaderMap::from_iter([(name, value.parse().unwrap())])
}

fn pair(cookie: &str) -> &str {
    cookie.split(';').next().unwrap()
}

#[tokio::test]
async fn only_the_token_gives_a_cookie_and_only_the_cookie_lets_in() {
    let (entrance, token) = open();
    for wrong in ["", "x", &token[1..], &format!("{token}0")] {
        assert!(entrance.enter(wrong).await.is_err(), "{wrong}");
    }
    let cookie = entrance.enter(&token).await.unwrap();
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

#[tokio::test]
async fn whoever_signs_in_too_often_signs_out_of_their_own_first_browser_alone() {
    let never = CancellationToken::new();
    let red = of_team("red", CancellationToken::new(), &never);
    let blue = of_team("blue", CancellationToken::new(), &never);
    let entrance = Entrance::kept_by(Arc::new(Teams::of(red, blue)), false).unwrap();
    let of_blue = entrance.enter("blue").await.unwrap();
    let mut of_red = Vec::new();
    for _ in 0..=MOST_BROWSERS {
        of_red.push(entrance.enter("red").await.unwrap());
    }
    let is_in = |cookie: &String| entrance.admit(&headers(COOKIE, pair(cookie))).is_ok();
    assert_eq!(
        of_red.iter().filter(|cookie| is_in(cookie)).count(),
        MOST_BROWSERS
    );
    assert!(!is_in(&of_red[0]) && is_in(&of_blue));
}

#[tokio::test]
async fn pages_believe_tokens_of_a_store_no_longer_than_it_is_heard() {
    let never = CancellationToken::new();
    let mut red = of_team("red", CancellationToken::new(), &never);
    red.is_stored = true;
    let blue = of_team("blue", CancellationToken::new(), &never);
    let teams = Teams::of(red, blue);
    let silent = Arc::clone(&teams.is_silent);
    let entrance = Entrance::kept_by(Arc::new(teams), false).unwrap();
    let of_red = entrance.enter("red").await.unwrap();
    let of_blue = entrance.enter("blue").await.unwrap();
    let is_in = |cookie: &str| entrance.admit(&headers(COOKIE, pair(cookie))).is_ok();
    for (is_silent, red_is_in) in [(false, true), (true, false), (false, true)] {
        silent.store(is_silent, Ordering::Relaxed);
        assert_eq!((is_in(&of_red), is_in(&of_blue)), (red_is_in, true));
    }
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

#[tokio::test]
async fn cookies_of_two_servers_of_one_machine_stand_beside_each_other() {
    let (one, first) = open();
    let (other, second) = open();
    let cookies = [
        one.enter(&first).await.unwrap(),
        other.enter(&second).await.unwrap(),
    ];
    let both = cookies.each_ref().map(|cookie| pair(cookie)).join("; ");
    assert!(one.admit(&headers(COOKIE, &both)).is_ok());
    assert!(other.admit(&headers(COOKIE, &both)).is_ok());
    assert!(other.admit(&headers(COOKIE, pair(&cookies[0]))).is_err());
}

/// Two teams, whose tokens are their names.
struct Teams {
    red: SignedIn,
    blue: SignedIn,
    /// The store of tokens does not answer.
    is_silent: Arc<AtomicBool>,
}

impl Teams {
    fn of(red: SignedIn, blue: SignedIn) -> Self {
        Self {
            red,
            blue,
            is_silent: Arc::default(),
        }
    }
}

/// Somebody of a team, until `ended`.
fn of_team(team: &str, begun: CancellationToken, ended: &CancellationToken) -> SignedIn {
    let holder = AccessHolder {
        name: "ci".to_owned(),
        team: Some(team.to_owned()),
    };
    SignedIn {
        access: Arc::new(access(begun).of(holder)),
        ended: ended.clone(),
        is_stored: false,
    }
}

/// Each browser of it has an end of its own.
fn child_of(signed_in: &SignedIn) -> SignedIn {
    SignedIn {
        access: Arc::clone(&signed_in.access),
        ended: signed_in.ended.child_token(),
        is_stored: signed_in.is_stored,
    }
}

impl Doorkeeper for Teams {
    fn enter(&self, token: String) -> BoxFuture<'_, Result<SignedIn, Refusal>> {
        let access = match &*token {
            "red" => Ok(child_of(&self.red)),
            "blue" => Ok(child_of(&self.blue)),
            _ => Err(Refusal::Closed("this token is not known here".to_owned())),
        };
        async move { access }.boxed()
    }

    fn hint(&self) -> &'static str {
        "a token of your team"
    }

    fn in_doubt(&self) -> Option<String> {
        let is_silent = self.is_silent.load(Ordering::Relaxed);
        is_silent.then(|| "the store does not answer".to_owned())
    }

    fn serves_others(&self) -> bool {
        true
    }
}

#[tokio::test]
async fn each_cookie_leads_to_its_holder_alone_until_the_token_ends_or_they_sign_out() {
    let (ended, begun) = (CancellationToken::new(), CancellationToken::new());
    let never = CancellationToken::new();
    let red = of_team("red", begun.clone(), &ended);
    let blue = of_team("blue", CancellationToken::new(), &never);
    let entrance = Entrance::kept_by(Arc::new(Teams::of(red, blue)), true).unwrap();
    assert!(matches!(
        entrance.enter("green").await,
        Err(Refusal::Closed(_))
    ));
    let of_red = entrance.enter(" red\n").await.unwrap();
    let of_blue = entrance.enter("blue").await.unwrap();
    assert!(of_red.contains("; Secure"), "{of_red}");
    let team = |cookie: &str| {
        let admitted = entrance.admit(&headers(COOKIE, pair(cookie)));
        admitted.ok()?.access.holder.clone().unwrap().team
    };
    assert_eq!(team(&of_red).as_deref(), Some("red"));
    assert_eq!(team(&of_blue).as_deref(), Some("blue"));
    ended.cancel();
    assert_eq!(team(&of_red), None);
    let gone = entrance.leave(&headers(COOKIE, pair(&of_blue)));
    assert!(gone.contains("Max-Age=0"), "{gone}");
    assert_eq!(team(&of_blue), None);
    drop(entrance);
    assert!(
        begun.is_cancelled(),
        "what was begun for a holder ends with the last access"
    );
}
