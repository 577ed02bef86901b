//! Hostile and malformed replies in the water game (injected instructions, huge numbers,
//! names of others, markup, broken JSON, control characters): what each is read as, and
//! that none of them breaks a game or reaches another seat's model.
//!
//! `hostile/replies.tsv`: what is expected (a bid, or `!` for a foul), a tab, the reply.
//! `\n`, `\r`, `\t`, `\\` and `\u{..}` stand for what they stand for in Rust.

use std::sync::Arc;

use agon_agents::{Agent, Message, PromptLibrary, Reply, Verdict, reading};
use agon_engine::chance::Luck;
use agon_engine::{Action, Ask, Cents, Chance, Foul, FoulKind, Play, Reaction, Seat, registry};
use proptest::prelude::*;
use serde_json::json;

#[path = "conversations/table.rs"]
#[allow(missing_docs, dead_code)]
mod table;

use table::{Scripted, act, player, show};

const GAME: &str = "water_allocation";

const SEATS: usize = 3;

/// The seat whose replies are hostile.
const HOSTILE: Seat = 0;

/// What every other seat says.
const PLAIN: &str = "I bid 11.";

/// Who plays; they take turns from reply to reply.
const AGENTS: [&str; 5] = [
    "direct",
    "k_level",
    "prediction_chain_of_thought",
    "reflexion",
    "self_refine",
];

/// A reply, and the bid that it is; `None` for a foul.
struct Case {
    bid: Option<Action>,
    text: String,
}

fn cases() -> Vec<Case> {
    let table = include_str!("hostile/replies.tsv").lines();
    let cases = table.map(|line| {
        let (expected, text) = line.split_once('\t').expect("a tab");
        Case {
            bid: amount(expected),
            text: unescaped(text),
        }
    });
    cases.collect()
}

fn amount(text: &str) -> Option<Action> {
    let amount = Cents::of(text.parse().ok()?);
    Some(amount.expect("an amount").into())
}

fn unescaped(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(letter) = rest.next() {
        if letter != '\\' {
            plain.push(letter);
            continue;
        }
        plain.push(match rest.next().expect("an escape") {
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            '\\' => '\\',
            'u' => {
                let digits = rest.by_ref().skip(1).take_while(|digit| *digit != '}');
                let code = u32::from_str_radix(&digits.collect::<String>(), 16);
                char::from_u32(code.expect("digits")).expect("a character")
            }
            other => panic!("no escape: {other}"),
        });
    }
    plain
}

/// What became of a game whose seat 0 always says the same.
struct Played {
    /// What each seat's model was sent, call by call.
    sent: Vec<Vec<Vec<Message>>>,
    /// Bids of the first day.
    bids: serde_json::Value,
    events: Vec<agon_engine::Event>,
}

/// Plays two days; the hostile seat's model says `text`, in answer to everything.
fn played(text: &str, style: &str, agent: &str) -> Played {
    let settings = json!({ "players": SEATS, "rounds": 2, "supply_min": 20, "supply_max": 20 });
    let registration = registry::find(GAME).unwrap();
    let built = registration.build(&table::settings(settings)).unwrap();
    let game = table::play(GAME, &built.params, 1, 0);
    let spec = player(json!({ "reply": style, "agent": agent }));
    let library = PromptLibrary::builtin();
    let mut agents: Vec<Box<dyn Agent>> = (0..SEATS)
        .map(|seat| game.agent(&spec, seat, &library))
        .collect();
    let minds: Vec<Scripted> = (0..SEATS).map(|_| Scripted::default()).collect();
    for (seat, mind) in minds.iter().enumerate() {
        mind.prepare(if seat == HOSTILE { text } else { PLAIN });
    }
    let chance = Chance::seeded(Luck::new(1, 0));
    let mut play = Play::start(Arc::clone(&built.game), chance, vec![None, None, None]);
    let mut told = [0; SEATS];
    loop {
        let events = play.log().all().to_vec();
        for (seat, agent) in agents.iter_mut().enumerate() {
            show(&mut **agent, seat, &events[told[seat]..], &minds[seat]);
            told[seat] = events.len();
        }
        let open: Vec<Ask> = play.waiting().cloned().collect();
        if open.is_empty() {
            break;
        }
        for ask in open {
            let mut refused: Option<Foul> = None;
            while play.waiting().any(|one| one.seat == ask.seat) {
                let agent = &mut *agents[ask.seat];
                let answer = act(agent, &ask, refused.as_ref(), &minds[ask.seat]);
                let reaction = play.answer(ask.seat, answer);
                if let Some(verdict) = Verdict::of(&reaction) {
                    agent.settle(&verdict);
                }
                refused = match reaction {
                    Reaction::Refused { foul, .. } => Some(foul),
                    _ => None,
                };
            }
        }
    }
    let result = play.log().of_kind("round_result").next().unwrap();
    Played {
        sent: minds
            .iter()
            .map(|mind| {
                let thoughts = mind.thoughts().into_iter();
                thoughts.map(|thought| thought.messages).collect()
            })
            .collect(),
        bids: serde_json::to_value(result.get("bids").unwrap()).unwrap(),
        events: play.log().all().to_vec(),
    }
}

fn read(text: &str) -> Result<Action, Foul> {
    let built = registry::find(GAME)
        .unwrap()
        .build(&table::settings(json!({})))
        .unwrap();
    let chance = Chance::seeded(Luck::new(1, 0));
    let play = Play::start(built.game, chance, (0..5).map(|_| None).collect());
    let ask = play.waiting().next().unwrap().clone();
    let reply = Reply {
        text: text.to_owned(),
        finish_reason: "stop".to_owned(),
    };
    let read = reading::read(&ask, &reply)?;
    // What the rules do not allow is a foul too.
    ask.form.check(&read.action)?;
    Ok(read.action)
}

#[test]
fn hostile_replies_are_read_as_a_bid_or_refused_with_a_reason() {
    let cases = cases();
    assert!(cases.len() >= 200, "{} cases", cases.len());
    let mut misread = Vec::new();
    for case in &cases {
        let found = read(&case.text);
        let expected = &case.bid;
        if found.as_ref().ok() != expected.as_ref() {
            misread.push(format!(
                "{:?}: expected {expected:?}, found {found:?}",
                case.text
            ));
        }
        if let Err(foul) = found {
            let reason = &foul.reason;
            let helps = ["bid", "amount", "empty"]
                .iter()
                .any(|word| reason.contains(word));
            assert!(helps, "{:?}: {foul:?}", case.text);
        }
    }
    assert!(misread.is_empty(), "{}", misread.join("\n"));
}

#[test]
fn hostile_reply_breaks_no_game_and_changes_no_other_seats_view() {
    for style in ["text", "structured"] {
        // What the others are sent depends on the bid alone, so games are compared with
        // one in which the same is said plainly.
        for (place, case) in cases().into_iter().enumerate() {
            let agent = AGENTS[place % AGENTS.len()];
            let plain = match &case.bid {
                Some(bid) => format!("I bid {}.", json!(bid)),
                None => "I would rather not say.".to_owned(),
            };
            let (hostile, twin) = (
                played(&case.text, style, agent),
                played(&plain, style, agent),
            );
            assert_eq!(hostile.bids, twin.bids, "{:?}", case.text);
            assert_eq!(hostile.bids[0], json!(case.bid), "{:?}", case.text);
            assert_eq!(hostile.bids[1], json!(11), "{:?}", case.text);
            assert_eq!(hostile.events, twin.events, "{:?}", case.text);
            for seat in 1..SEATS {
                assert_eq!(
                    hostile.sent[seat], twin.sent[seat],
                    "seat {seat}, {:?}",
                    case.text
                );
            }
        }
    }
}

#[test]
fn what_was_said_is_gone_once_the_bid_is_made() {
    for case in cases().iter().filter(|case| case.bid.is_some()) {
        let game = played(&case.text, "text", "direct");
        let words = case.text.trim();
        let plain = case
            .bid
            .as_ref()
            .map(|bid| format!("I bid {}.", json!(bid)));
        let short = words.parse::<i64>().is_ok() || Some(words) == plain.as_deref();
        for messages in &game.sent[HOSTILE] {
            let repeated = messages
                .iter()
                .any(|message| !short && message.content.contains(words));
            assert!(!repeated, "{:?}: {messages:?}", case.text);
        }
    }
}

fn foul_kind(text: &str) -> Option<FoulKind> {
    read(text).err().map(|foul| foul.kind)
}

#[test]
fn replies_of_any_length_and_depth_are_read_in_time() {
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let object = "{\"bid\":".repeat(50_000);
    let long = "I will think about it. ".repeat(50_000);
    for text in [&deep, &object, &long] {
        assert!(foul_kind(text).is_some(), "{}", &text[..40]);
    }
    let with_bid = format!("{long}I bid 12.");
    assert_eq!(read(&with_bid), Ok(Action::Integer(12)));
    let digits = format!("I bid {}.", "9".repeat(100_000));
    assert!(foul_kind(&digits).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_a_bid_that_the_rules_allow_or_a_foul(text in ".{0,200}") {
        if let Ok(action) = read(&text) {
            let amount = action.amount();
            prop_assert!(amount >= Some(Cents::ZERO), "{action:?}");
        }
    }
}
