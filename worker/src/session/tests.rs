//! Claims about whole sessions, played by the real actors with minds that answer
//! from a script.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_agents::{Mind, MindError, PromptLibrary, Reply, Thought};
use agon_engine::extent::{Extent, RECORD};
use agon_engine::spec::Settings;
use agon_engine::{
    Carried, FoulKind, Luck, PlayerKind, PlayerSpec, RecordedDecision, Seat, SessionSpec, registry,
};
use agon_proto::digest::CanonicalRequest;
use agon_referee::Games;
use agon_service_kit::tasks::Tasks;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;

use super::{SessionEnd, SessionPlan, run};
use crate::mind::Journal;
use crate::verify::{VerifyError, verify};
use crate::wire;

type Answer = Box<dyn Fn(Seat, u32) -> BoxFuture<'static, Result<String, MindError>> + Send + Sync>;

/// Answers by seat and position.
struct Script {
    session_id: String,
    seat: Seat,
    next: AtomicUsize,
    journal: Arc<Journal>,
    answer: Arc<Answer>,
}

impl Mind for Script {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let index = self.next.fetch_add(1, Ordering::Relaxed) as u32;
        let (seat, answered) = (self.seat, (self.answer)(self.seat, index));
        let journal = Arc::clone(&self.journal);
        let purpose = thought.purpose;
        let address = wire::Address {
            session_id: &self.session_id,
            seat,
            index,
        };
        let request = wire::decide_request(&address, &wire::Asker::default(), &thought);
        let request = CanonicalRequest::from(&request).digest();
        async move {
            let decision = RecordedDecision {
                seat,
                index,
                purpose: purpose.to_owned(),
                request,
                model: None,
                answered_by: "script".to_owned(),
                finish_reason: "stop".to_owned(),
                reply: answered.await?,
                reasoning: String::new(),
                applied: None,
                logprobs: Vec::new(),
                simulated: true,
            };
            let reply = wire::reply(&decision);
            journal.add(decision);
            Ok(reply)
        }
        .boxed()
    }
}

fn spec(models: usize, rules: usize, rounds: u32) -> SessionSpec {
    let player = |kind, settings: serde_json::Value| PlayerSpec {
        name: format!("{kind:?}").to_lowercase(),
        kind,
        settings: serde_json::from_value(settings).unwrap(),
    };
    let model = player(PlayerKind::Model, json!({ "model": "script" }));
    let rule = player(PlayerKind::Rule, json!({ "strategy": "random" }));
    let mut seats = vec![model; models];
    seats.extend(vec![rule; rules]);
    let asked: Settings = serde_json::from_value(json!({
        "players": seats.len(), "rounds": rounds, "foul_allowance": 2,
    }))
    .unwrap();
    let game = registry::find("guess_two_thirds").unwrap();
    let params = game.build(&asked).unwrap().params;
    SessionSpec {
        experiment: "test".to_owned(),
        setting: Settings::new(),
        luck: Luck::new(5, 0),
        game: "guess_two_thirds".to_owned(),
        outside: None,
        rules_version: game.info.rules_version,
        params,
        seats,
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

async fn play(
    spec: SessionSpec,
    given_up: CancellationToken,
    answer: impl Fn(Seat, u32) -> BoxFuture<'static, Result<String, MindError>> + Send + Sync + 'static,
) -> SessionEnd {
    play_on(spec, None, given_up, answer).await
}

/// The same, of a session that may come after another.
async fn play_on(
    spec: SessionSpec,
    carried: Option<Carried>,
    given_up: CancellationToken,
    answer: impl Fn(Seat, u32) -> BoxFuture<'static, Result<String, MindError>> + Send + Sync + 'static,
) -> SessionEnd {
    let answer: Arc<Answer> = Arc::new(Box::new(answer));
    let session_id = spec.id().to_string();
    let minds = move |seat: Seat, journal: Arc<Journal>| -> Arc<dyn Mind> {
        let answer = Arc::clone(&answer);
        Arc::new(Script {
            session_id: session_id.clone(),
            seat,
            next: AtomicUsize::new(0),
            journal,
            answer,
        })
    };
    let library = Arc::new(PromptLibrary::builtin());
    let plan = SessionPlan {
        spec,
        carried,
        library,
        referee: None,
        minds: Box::new(minds),
        most: RECORD,
        given_up,
    };
    run(Tasks::new(), plan).await
}

fn guess(number: i64) -> Result<String, MindError> {
    Ok(json!({ "guess": number }).to_string())
}

fn record(end: SessionEnd) -> agon_engine::Record {
    match end {
        SessionEnd::Finished { record, .. } => *record,
        other => panic!("no record: {other:?}"),
    }
}

#[tokio::test]
async fn seats_that_move_at_the_same_time_are_asked_at_the_same_time() {
    // Nobody answers before all four have been asked: one after another would hang.
    let barrier = Arc::new(Barrier::new(4));
    let played = play(spec(4, 1, 3), CancellationToken::new(), move |seat, _| {
        let barrier = Arc::clone(&barrier);
        async move {
            barrier.wait().await;
            guess(seat as i64)
        }
        .boxed()
    });
    let played = tokio::time::timeout(Duration::from_secs(20), played)
        .await
        .unwrap();
    assert_eq!(record(played).moves.len(), 3 * 5);
}

#[tokio::test(start_paused = true)]
async fn the_record_does_not_know_who_was_faster() {
    let mut lines = Vec::new();
    for pattern in 0..6u64 {
        let played = play(
            spec(5, 2, 4),
            CancellationToken::new(),
            move |seat, index| {
                async move {
                    // Another order of answers in every pattern.
                    let delay = (seat as u64 * (pattern * 7 + 3) + u64::from(index) * pattern) % 11;
                    tokio::time::sleep(Duration::from_millis(delay)).await;
                    guess(((seat as i64 + 1) * i64::from(index + 3)) % 100)
                }
                .boxed()
            },
        );
        lines.push(record(played.await).to_line().unwrap());
    }
    assert!(lines.iter().all(|line| *line == lines[0]));
}

#[tokio::test]
async fn a_foul_is_asked_again_with_its_reason_and_counted() {
    let played = play(spec(2, 1, 1), CancellationToken::new(), |seat, index| {
        let answer = match (seat, index) {
            (0, 0) => Ok("I would rather not say.".to_owned()),
            (0, 1) => guess(1000),
            _ => guess(20),
        };
        async move { answer }.boxed()
    });
    let record = record(played.await);
    let fouls: Vec<FoulKind> = record.moves[0].fouls.iter().map(|foul| foul.kind).collect();
    assert_eq!(fouls, [FoulKind::Unreadable, FoulKind::OutOfRange]);
    assert_eq!(record.outcome.fouls[0].values().sum::<u32>(), 2);
    assert_eq!(record.outcome.forfeits, [0, 0, 0]);
    assert_eq!(
        record
            .decisions
            .iter()
            .filter(|decision| decision.seat == 0)
            .count(),
        3
    );
}

#[tokio::test]
async fn one_foul_too_many_forfeits_the_ask_and_the_game_goes_on() {
    let played = play(spec(2, 1, 2), CancellationToken::new(), |seat, _| {
        let answer = if seat == 0 {
            Ok("no".to_owned())
        } else {
            guess(20)
        };
        async move { answer }.boxed()
    });
    let record = record(played.await);
    assert_eq!(record.outcome.forfeits, [2, 0, 0]);
    assert!(record.moves[0].forfeited && record.moves[0].action.is_none());
}

/// A session of two sealed-bid auctions with this agent at every seat, whose first `refused`
/// calls bid what the game does not allow: enough to forfeit the first ask.
async fn forfeiting(agent: &str, refused: u32) -> agon_engine::Record {
    let game = registry::find("sealed_bid_auction").unwrap();
    let asked: Settings =
        serde_json::from_value(json!({ "players": 2, "rounds": 2, "foul_allowance": 3 })).unwrap();
    let mut spec = spec(2, 0, 2);
    spec.game = game.info.name.to_string();
    spec.rules_version = game.info.rules_version;
    spec.params = game.build(&asked).unwrap().params;
    for player in &mut spec.seats {
        player.settings.insert("agent".to_owned(), agent.into());
    }
    let played = play(spec, CancellationToken::new(), move |_, index| {
        // Far more than the item can be worth: only the game knows that.
        let bid = if index < refused { 5000 } else { 20 };
        let reply = json!({ "goal": "g", "previous_bid": 5000, "previous_payoff": 0,
            "bid": bid, "reason": "r" });
        async move { Ok(reply.to_string()) }.boxed()
    });
    record(played.await)
}

#[tokio::test]
async fn a_forfeited_answer_is_no_answer_of_the_past_now_or_when_played_again() {
    let record = forfeiting("elicitation", 4).await;
    assert_eq!(record.outcome.forfeits, [1, 1]);
    let reviewed = record.notes.iter().filter(|note| note.note == "reasons");
    let reviewed: Vec<_> = reviewed.filter(|note| note.turn == 2).collect();
    assert_eq!(reviewed.len(), 2);
    for note in reviewed {
        assert_eq!(note.body["said"]["previous_bid"], 5000);
        assert_eq!(note.body["true"]["previous_bid"], serde_json::Value::Null);
    }
    let line = record.to_line().unwrap();
    let library = Arc::new(PromptLibrary::builtin());
    verify(&Tasks::new(), &line, library, &Games::default())
        .await
        .unwrap();
}

#[tokio::test]
async fn what_an_agent_concludes_from_a_verdict_is_noted_in_the_turn_of_its_ask() {
    // A draft and what is said to it come before the four tries.
    let mut record = forfeiting("self_refine", 2 + 4).await;
    assert_eq!(record.outcome.forfeits, [1, 1]);
    record.notes.retain(|note| note.note == "refinement");
    let seen = record.notes.iter().filter(|note| note.seat == 1);
    let seen: Vec<_> = seen
        .map(|note| (note.turn, note.body["last"].clone()))
        .collect();
    let refused = (1, serde_json::Value::Null);
    assert_eq!(seen[..4], vec![refused; 4]);
    assert_eq!(seen[4..], [(2, json!(20))]);
}

#[tokio::test]
async fn a_panic_of_one_seat_ends_this_try_and_nothing_else() {
    let played = play(spec(3, 0, 2), CancellationToken::new(), |seat, _| {
        async move {
            assert_ne!(seat, 1, "a fault in an agent");
            std::future::pending::<()>().await;
            guess(1)
        }
        .boxed()
    });
    let played = tokio::time::timeout(Duration::from_secs(20), played)
        .await
        .unwrap();
    assert!(
        matches!(&played, SessionEnd::Crashed(reason) if reason.contains("seat 1")),
        "{played:?}"
    );
}

#[tokio::test]
async fn a_session_that_is_given_up_ends_although_its_seats_wait() {
    let given_up = CancellationToken::new();
    let ending = given_up.clone();
    let asked = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&asked);
    let played = play(spec(2, 0, 2), given_up, move |_, _| {
        if seen.fetch_add(1, Ordering::SeqCst) == 1 {
            ending.cancel();
        }
        std::future::pending().boxed()
    });
    let played = tokio::time::timeout(Duration::from_secs(20), played)
        .await
        .unwrap();
    assert!(matches!(played, SessionEnd::GivenUp), "{played:?}");
    assert_eq!(asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn no_answer_from_outside_parks_and_an_impossible_call_does_not() {
    let parked = play(spec(1, 1, 1), CancellationToken::new(), |_, _| {
        async { Err(MindError::NoAnswer("patience is over".to_owned())) }.boxed()
    });
    let parked = parked.await;
    assert!(matches!(&parked, SessionEnd::Parked(why) if why == "patience is over"));
    let impossible = play(spec(1, 1, 1), CancellationToken::new(), |_, _| {
        async { Err(MindError::Impossible("no such model".to_owned())) }.boxed()
    });
    assert!(matches!(impossible.await, SessionEnd::Impossible(_)));
}

#[tokio::test]
async fn a_spent_budget_ends_the_try_though_other_seats_wait() {
    let played = play(spec(2, 0, 1), CancellationToken::new(), |seat, _| {
        if seat == 0 {
            return std::future::pending().boxed();
        }
        async { Err(MindError::BudgetSpent("$7 of $7".to_owned())) }.boxed()
    });
    let ended = tokio::time::timeout(Duration::from_secs(20), played).await;
    assert!(matches!(ended.unwrap(), SessionEnd::BudgetSpent(why) if why == "$7 of $7"));
}

#[tokio::test]
async fn a_spec_for_other_rules_is_left_to_other_workers() {
    let mut other = spec(0, 2, 1);
    other.rules_version += 1;
    let refused = play(other, CancellationToken::new(), |_, _| {
        async { guess(1) }.boxed()
    })
    .await;
    assert!(matches!(&refused, SessionEnd::Unplayable(why) if why.contains("rules")));
}

#[tokio::test]
async fn a_session_of_a_series_is_played_with_what_the_one_before_it_left_or_not_at_all() {
    let first = play(spec(1, 1, 2), CancellationToken::new(), |_, _| {
        async { guess(5) }.boxed()
    });
    let first = record(first.await);
    let left = Carried::from_record(first.to_line().unwrap().as_bytes()).unwrap();
    let mut second = spec(1, 1, 2);
    second.luck = second.luck.at(1);
    let mut third = second.clone();
    third.luck = third.luck.at(2);
    for (spec, carried, expected) in [
        (
            second.clone(),
            None,
            "was handed nothing of the session before",
        ),
        (third, Some(left.clone()), "but was handed notes of session"),
        (
            spec(1, 1, 2),
            Some(left.clone()),
            "no session comes before it",
        ),
    ] {
        let refused = play_on(spec, carried, CancellationToken::new(), |_, _| {
            async { guess(5) }.boxed()
        });
        match refused.await {
            SessionEnd::Impossible(why) => assert!(why.contains(expected), "{why}"),
            other => panic!("{other:?}"),
        }
    }
    let played = play_on(
        second,
        Some(left.clone()),
        CancellationToken::new(),
        |_, _| async { guess(5) }.boxed(),
    );
    let played = record(played.await);
    assert_eq!(played.carried, Some(left));
    let line = played.to_line().unwrap();
    let library = Arc::new(PromptLibrary::builtin());
    verify(
        &Tasks::new(),
        &line,
        Arc::clone(&library),
        &Games::default(),
    )
    .await
    .unwrap();
    let from = first.session.to_string();
    let elsewhere = line.replacen(&from, &"0".repeat(32), 1);
    let fault = verify(&Tasks::new(), &elsewhere, library, &Games::default()).await;
    assert!(matches!(fault, Err(VerifyError::NotPlayable { .. })));
}

#[tokio::test]
async fn a_record_verifies_and_a_changed_one_does_not() {
    let asked = Arc::new(Mutex::new(0));
    let played = play(
        spec(3, 2, 5),
        CancellationToken::new(),
        move |seat, index| {
            *asked.lock().unwrap() += 1;
            async move { guess((seat as i64 * 13 + i64::from(index) * 7) % 90) }.boxed()
        },
    );
    let line = record(played.await).to_line().unwrap();
    let library = Arc::new(PromptLibrary::builtin());
    let tasks = Tasks::new();
    verify(&tasks, &line, Arc::clone(&library), &Games::default())
        .await
        .unwrap();

    let other_answer = line.replacen("{\\\"guess\\\":7}", "{\\\"guess\\\":8}", 1);
    assert_ne!(line, other_answer);
    // The next prompt tells the seat what it said, so it asks something else.
    let fault = verify(
        &tasks,
        &other_answer,
        Arc::clone(&library),
        &Games::default(),
    )
    .await
    .unwrap_err();
    assert!(matches!(fault, VerifyError::NotPlayable { .. }), "{fault}");

    // The same answer to another question: the first request's digest is another.
    let at = line.find("\"request\":\"").unwrap() + "\"request\":\"".len();
    let other_digit = if line.as_bytes()[at] == b'0' {
        "1"
    } else {
        "0"
    };
    let other_question = format!("{}{other_digit}{}", &line[..at], &line[at + 1..]);
    let fault = verify(
        &tasks,
        &other_question,
        Arc::clone(&library),
        &Games::default(),
    )
    .await
    .unwrap_err();
    assert!(fault.to_string().contains("another question"), "{fault}");

    let cut = &line[..line.len() / 2];
    let fault = verify(&tasks, cut, library, &Games::default())
        .await
        .unwrap_err();
    assert!(matches!(fault, VerifyError::Unreadable(_)), "{fault}");
}

#[tokio::test]
async fn a_session_that_is_too_large_for_a_record_ends_without_one() {
    for (models, rules) in [(0, 1000), (1, 999)] {
        let played = play(
            spec(models, rules, 10_000),
            CancellationToken::new(),
            |_, _| async { guess(5) }.boxed(),
        );
        match played.await {
            SessionEnd::TooLarge(much) => {
                assert!(much.to_string().contains("2000000 are the most"), "{much}");
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn no_further_reply_is_paid_for_once_those_that_came_fill_a_record() {
    const LONG: usize = 5 * 1024 * 1024;
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let played = play(spec(2, 0, 1000), CancellationToken::new(), move |_, _| {
        counted.fetch_add(1, Ordering::Relaxed);
        let padding = " ".repeat(LONG);
        async move { Ok(guess(5)? + &padding) }.boxed()
    });
    match played.await {
        SessionEnd::TooLarge(much) => {
            assert!(
                much.to_string().contains("104857600 are the most"),
                "{much}"
            );
        }
        other => panic!("{other:?}"),
    }
    // Both are asked at once, and the last pair had room.
    let most = RECORD.bytes as usize / LONG + 2;
    assert!(asked.load(Ordering::Relaxed) <= most, "{asked:?}");
}

/// A short record that tells of a long session: it is played no further than it is long.
#[tokio::test]
async fn a_record_whose_moves_are_cut_off_is_refused_without_playing_on() {
    let short = play(spec(0, 1000, 1), CancellationToken::new(), |_, _| {
        async { guess(5) }.boxed()
    });
    let short = record(short.await);
    let long = spec(0, 1000, 10_000);
    for moves in [Vec::new(), short.moves.clone()] {
        let forged = agon_engine::Record {
            session: long.id(),
            spec: long.clone(),
            moves,
            ..short.clone()
        };
        let line = forged.to_line().unwrap();
        let library = Arc::new(PromptLibrary::builtin());
        let fault = verify(&Tasks::new(), &line, library, &Games::default())
            .await
            .unwrap_err();
        let VerifyError::Shorter { much, .. } = &fault else {
            panic!("{fault}");
        };
        // One turn beyond what the line holds, at most.
        let most = Extent::of_json(line.as_bytes()).values + 10 * 1000;
        assert!(much.found() <= most, "{much}");
    }
}
