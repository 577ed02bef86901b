//! Claims about the lobby of an experiment that a cluster has and that pauses for its people: who is sent
//! there, when it may begin, and that whoever pauses or resumes it by hand is left alone.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::watch;

use super::*;
use crate::sweeps::{Action, State, States, Sweep, Sweeps, WAITING_FOR_PEOPLE};

/// How experiments stand, as a test says.
struct Cluster(watch::Sender<States>);

impl Sweeps for Cluster {
    fn states(&self) -> watch::Receiver<States> {
        self.0.subscribe()
    }

    fn act(&self, _: String, _: Action) -> BoxFuture<'static, Result<(), String>> {
        async { Err("nobody acts in this test".to_owned()) }.boxed()
    }
}

/// An experiment of two sessions, of which so many have not begun.
fn paused(reason: &str, waiting: u64) -> Sweep {
    Sweep {
        experiment: "x".to_owned(),
        team: "default".to_owned(),
        state: State::Paused,
        reason: Some(reason.to_owned()),
        sessions: 2,
        waiting,
        ..Sweep::default()
    }
}

fn running() -> Sweep {
    Sweep {
        state: State::Running,
        reason: None,
        ..paused("", 1)
    }
}

/// A stand with two people at their pages, of whom ann is ready.
async fn two() -> (Stand, Arc<Cluster>, Guest, Guest) {
    let cluster = Arc::new(Cluster(watch::Sender::default()));
    let sweeps = Arc::clone(&cluster) as Arc<dyn Sweeps>;
    let stand = Stand::of(People::default(), Some(&sweeps));
    let ann = stand.seated("ann").await;
    let bob = stand.seated("bob").await;
    stand.ready(&ann).await;
    (stand, cluster, ann, bob)
}

impl Stand {
    async fn ready(&self, guest: &Guest) {
        let said = self.post(guest, "ready", json!({ "ready": true })).await;
        assert_eq!(said.0, StatusCode::NO_CONTENT);
    }

    async fn stage(&self, guest: &Guest) -> String {
        let state: Value = serde_json::from_str(&self.state(guest).await.1).unwrap();
        state["stage"].as_str().unwrap().to_owned()
    }

    fn goes_on(&self) -> bool {
        self.seats.everybody_ready("x").now_or_never().is_some()
    }
}

impl Cluster {
    fn tell(&self, sweep: Sweep) {
        self.0.send_replace(Arc::new(vec![sweep]));
    }
}

#[tokio::test]
async fn experiment_that_pauses_for_people_has_them_in_the_lobby_until_all_are_ready() {
    let (stand, cluster, ann, bob) = two().await;
    assert!(!stand.goes_on(), "it was not handed in");
    cluster.tell(paused(WAITING_FOR_PEOPLE, 2));
    assert_eq!(stand.stage(&ann).await, "lobby");
    assert!(!stand.goes_on(), "bob is not ready");
    stand.ready(&bob).await;
    assert!(stand.goes_on());
    assert!(stand.seats.is_waiting("x"), "nobody has resumed it yet");
    assert_eq!(stand.seats.waiting(), ["x"]);
    assert_eq!(Vec::from_iter(stand.seats.invited("x")), ["ann", "bob"]);
    cluster.tell(running());
    assert_eq!(stand.stage(&bob).await, "play");
    assert!(!stand.seats.is_waiting("x") && stand.seats.waiting().is_empty());
}

#[tokio::test]
async fn who_is_asked_already_is_not_sent_back_to_the_lobby() {
    let (stand, cluster, ann, _bob) = two().await;
    cluster.tell(paused(WAITING_FOR_PEOPLE, 1));
    assert_eq!(stand.stage(&ann).await, "play");
    assert!(!stand.goes_on(), "the rest of it waits for bob");
}

#[tokio::test]
async fn pause_for_another_reason_is_nobodys_lobby() {
    let (stand, cluster, ann, bob) = two().await;
    cluster.tell(paused("the model changes at noon", 2));
    assert!(stand.goes_on() && !stand.seats.is_waiting("x"));
    assert_eq!(stand.stage(&ann).await, "play");
    stand.ready(&bob).await;
    assert!(stand.seats.waiting().is_empty());
}

#[tokio::test]
async fn who_has_done_everything_is_not_waited_for_while_no_game_is_left_for_them() {
    let (stand, cluster, ann, bob) = two().await;
    cluster.tell(paused(WAITING_FOR_PEOPLE, 1));
    let finish = |games: usize| {
        let played = (0..games).map(|game| super::super::PlayedGame {
            session: format!("s{game}"),
            seat: 0,
        });
        let played: Vec<_> = played.collect();
        let change = &mut |book: &mut Book| {
            let claim = book.claim_mut(&bob.id).unwrap();
            (claim.finished, claim.games) = (true, played.clone());
        };
        stand.keeper.change(change).unwrap();
    };
    finish(0);
    assert!(!stand.goes_on(), "a game is left for bob");
    finish(1);
    assert!(stand.goes_on());
    let _ = stand.post(&ann, "leave", json!({})).await;
    assert!(!stand.goes_on(), "ann has left");
}

#[tokio::test]
async fn who_is_no_longer_in_the_experiment_is_neither_waited_for_nor_shown_in_its_lobby() {
    let (stand, cluster, ann, bob) = two().await;
    let carl = stand.seated("carl").await;
    cluster.tell(paused(WAITING_FOR_PEOPLE, 2));
    stand.ready(&bob).await;
    assert!(!stand.goes_on(), "as far as is known carl plays, too");
    let doors = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    *stand.doors.asked.lock() = doors(&["ann", "bob"]);
    assert!(stand.goes_on());
    let state: Value = serde_json::from_str(&stand.state(&ann).await.1).unwrap();
    assert_eq!(state["lobby"]["people"].as_array().unwrap().len(), 2);
    assert_eq!(stand.stage(&carl).await, "lobby");
    *stand.doors.asked.lock() = doors(&["ann", "bob", "carl"]);
    assert!(!stand.goes_on(), "carl is back in it");
}

#[tokio::test]
async fn experiment_to_which_nobody_is_invited_waits_without_these_pages() {
    let cluster = Arc::new(Cluster(watch::Sender::default()));
    let sweeps = Arc::clone(&cluster) as Arc<dyn Sweeps>;
    let stand = Stand::of(People::default(), Some(&sweeps));
    cluster.tell(paused(WAITING_FOR_PEOPLE, 2));
    assert!(stand.seats.waiting().is_empty() && !stand.seats.are_ready("x"));
}
