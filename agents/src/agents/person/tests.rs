//! Claims about the agent of a person: what it is told, and that its stand-in does what
//! the same rule player would do at the seat. The mind answers at once.

use std::sync::Mutex;

use agon_engine::session::open;
use agon_engine::{Foul, Luck, Play, PlayerKind, PlayerSpec};
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use serde_json::json;

use agon_engine::registry;

use super::*;
use crate::agent::{Agent, AgentError, Verdict};
use crate::library::PromptLibrary;
use crate::mind::Reply;
use crate::roster;

/// Is always late, so that the gateway answers with what stands in, or with nothing where
/// nobody does; keeps what it was asked.
#[derive(Default)]
struct Late(Mutex<Vec<Thought>>);

impl Mind for Late {
    fn think(&self, thought: Thought) -> BoxFuture<'static, Result<Reply, MindError>> {
        let stood_in = thought.stand_in.as_ref();
        let (text, finish_reason) = match stood_in {
            Some(answer) => (answer.reply.clone(), TIME_IS_UP),
            None => ("{}".to_owned(), "stop"),
        };
        self.0.lock().unwrap().push(thought);
        Box::pin(std::future::ready(Ok(Reply {
            text,
            finish_reason: finish_reason.to_owned(),
        })))
    }
}

impl Late {
    fn asked(self) -> Vec<Thought> {
        self.0.into_inner().unwrap()
    }
}

/// The settings of a person for whom this strategy answers after two minutes.
fn timed(stand_in: Value) -> Value {
    json!({ "model": "human/ann", "agent": "person", "deadline": "2m", "stand_in": stand_in })
}

fn player(kind: PlayerKind, settings: Value) -> PlayerSpec {
    let settings = settings.as_object().unwrap().clone().into_iter().collect();
    let name = "somebody".to_owned();
    PlayerSpec {
        name,
        kind,
        settings,
    }
}

fn spec(game: &str, strategies: &[&str]) -> SessionSpec {
    let registration = registry::find(game).unwrap();
    let players = json!({ "players": strategies.len() });
    let params = players.as_object().unwrap().clone().into_iter().collect();
    let seats = strategies.iter();
    SessionSpec {
        experiment: "test".to_owned(),
        setting: Default::default(),
        luck: Luck::new(9, 2),
        game: game.to_owned(),
        outside: None,
        rules_version: registration.info.rules_version,
        params: registration.build(&params).unwrap().params,
        seats: seats
            .map(|name| player(PlayerKind::Rule, json!({ "strategy": name })))
            .collect(),
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

/// The agent of seat 1, told of everything before its first ask, and that ask.
fn briefed(spec: &SessionSpec, mind: &dyn Mind) -> (Box<dyn Agent>, Ask) {
    let play = open(spec).unwrap();
    let ask = play.waiting().next().unwrap().clone();
    let sights = play.view(1).sights().map(|sight| sight.to_event());
    let events: Vec<SeenEvent> = sights.collect();
    let library = PromptLibrary::builtin();
    let mut agent = roster::build(&spec.seats[1], spec, None, 1, &library).unwrap();
    let observed = agent.observe(&events, mind).now_or_never();
    observed.unwrap().unwrap();
    (agent, ask)
}

/// Plays to the end with a person at a seat.
fn play_out(spec: &SessionSpec, seat: Seat, mind: &Late) -> Play {
    let library = PromptLibrary::builtin();
    let mut person = roster::build(&spec.seats[seat], spec, None, seat, &library).unwrap();
    let mut play = open(spec).unwrap();
    let mut seen = 0;
    while !play.is_finished() {
        let ask = play.waiting().next().unwrap().clone();
        let events: Vec<SeenEvent> = play
            .view(seat)
            .sights()
            .skip(seen)
            .map(|sight| sight.to_event())
            .collect();
        seen += events.len();
        person
            .observe(&events, mind)
            .now_or_never()
            .unwrap()
            .unwrap();
        let answer = person.act(&ask, None, mind).now_or_never().unwrap();
        let reaction = play.answer(seat, answer.unwrap());
        person.settle(&Verdict::of(&reaction).unwrap());
    }
    play
}

#[test]
fn a_stand_in_plays_as_the_same_rule_player_would_in_every_game() {
    for registration in registry::GAMES {
        let game = &*registration.info.name;
        for strategy in ["equilibrium", "random"] {
            let mut spec = spec(game, &["equilibrium", strategy, "random", "random"]);
            let ruled = open(&spec).unwrap();
            spec.seats[1] = player(PlayerKind::Model, timed(json!(strategy)));
            let stood_in = play_out(&spec, 1, &Late::default());
            assert_eq!(stood_in.log(), ruled.log(), "{game}, {strategy}");
            assert_eq!(stood_in.moves(), ruled.moves(), "{game}, {strategy}");
        }
    }
}

#[test]
fn a_person_is_told_the_same_without_demands_on_the_form() {
    let mut spec = spec("english_auction", &["equilibrium", "equilibrium", "random"]);
    spec.seats[1] = player(PlayerKind::Model, timed(json!("truthful")));
    let mind = Late::default();
    play_out(&spec, 1, &mind);
    let asked = mind.asked();
    let messages = &asked[0].messages;
    assert!(messages[0].content.contains("You are player_1"));
    let question = &messages[1].content;
    assert!(
        question.contains("Type a whole number or \"withdraw\"."),
        "{question}"
    );
    let mut messages = asked.iter().flat_map(|thought| &thought.messages);
    assert!(messages.all(|message| !message.content.contains("JSON")));
}

#[test]
fn a_refused_answer_does_not_put_the_ask_to_the_stand_in_again() {
    let mut spec = spec("guess_two_thirds", &["random", "random", "random"]);
    spec.seats[1] = player(PlayerKind::Model, timed(json!("random")));
    let mind = Late::default();
    let (mut person, ask) = briefed(&spec, &mind);
    let foul = Foul::new(agon_engine::FoulKind::OutOfRange, "too much");
    for (refused, is_over) in [
        (None, false),
        (Some(&foul), false),
        (Some(&foul), true),
        (None, true),
    ] {
        let _ = person.act(&ask, refused, &mind).now_or_never().unwrap();
        if is_over {
            person.settle(&Verdict::Taken);
        }
    }
    let asked = mind.asked();
    let stood_in = asked.iter().map(|thought| thought.stand_in.as_ref());
    let answers: Vec<&str> = stood_in.map(|answer| &*answer.unwrap().reply).collect();
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
    // The next ask is another one; equal luck twice would be none.
    assert_ne!(answers[0], answers[3]);
    assert!(
        asked[1]
            .messages
            .last()
            .unwrap()
            .content
            .contains("too much")
    );
}

#[test]
fn a_wrong_stand_in_is_refused_with_what_there_is() {
    let library = PromptLibrary::builtin();
    let refused = |stand_in: Value| -> String {
        let mut spec = spec("pirate", &["random", "random", "random"]);
        let person = json!({ "model": "human/ann", "agent": "person", "stand_in": stand_in });
        spec.seats[0] = player(PlayerKind::Model, person);
        let built = roster::build(&spec.seats[0], &spec, None, 0, &library);
        let error: AgentError = built.map(|_| ()).unwrap_err();
        error.to_string()
    };
    assert!(refused(json!("brave")).contains("expected one of: equilibrium"));
    assert!(refused(json!(7)).contains("stand_in must be a strategy"));
    assert!(refused(json!({ "k": 1 })).contains("stand_in must be a strategy"));
    assert!(refused(json!({ "strategy": "equilibrium", "k": 1 })).contains("equilibrium"));
}

#[test]
fn a_question_does_not_depend_on_what_the_stand_in_would_answer() {
    for game in registry::GAMES.iter().map(|game| &*game.info.name) {
        let questions = |stand_in: Option<&str>| {
            let mut spec = spec(game, &["equilibrium", "random", "random", "random"]);
            let settings = match stand_in {
                Some(strategy) => timed(json!(strategy)),
                None => json!({ "model": "human/ann", "agent": "person" }),
            };
            spec.seats[1] = player(PlayerKind::Model, settings);
            let mind = Late::default();
            let (mut person, ask) = briefed(&spec, &mind);
            let _ = person.act(&ask, None, &mind).now_or_never().unwrap();
            let mut asked = mind.asked().remove(0);
            let answer = asked.stand_in.take();
            assert_eq!(answer.is_some(), stand_in.is_some());
            asked
        };
        let alone = questions(None);
        assert!(!alone.format.as_ref().unwrap().schema.contains("default"));
        for strategy in ["equilibrium", "random"] {
            assert_eq!(questions(Some(strategy)), alone, "{game}, {strategy}");
        }
    }
}

#[test]
fn with_a_deadline_the_stand_ins_answer_goes_along_and_is_noted_when_it_counts() {
    let mut spec = spec("guess_two_thirds", &["random", "random", "random"]);
    for (deadline, seconds) in [(Some("90s"), Some(90)), (None, None)] {
        let mut person = json!({ "model": "human/ann", "agent": "person",
            "stand_in": { "strategy": "level_k", "k": 2 } });
        if let Some(deadline) = deadline {
            person["deadline"] = json!(deadline);
        }
        spec.seats[1] = player(PlayerKind::Model, person);
        let mind = Late::default();
        let (mut agent, ask) = briefed(&spec, &mind);
        let acted = agent.act(&ask, None, &mind).now_or_never().unwrap();
        let stood_in = mind.asked().remove(0).stand_in;
        assert_eq!(stood_in.as_ref().map(|one| one.after.as_secs()), seconds);
        let notes = agent.take_notes();
        let notes: Vec<_> = notes
            .iter()
            .filter(|note| note.kind() == "stand_in")
            .collect();
        let Some(stood_in) = stood_in else {
            assert!(notes.is_empty());
            continue;
        };
        assert_eq!(stood_in.name, "level_k");
        assert!(acted.unwrap().is_ok(), "{}", stood_in.reply);
        let body = json!({ "ask": "guess", "strategy": "level_k", "reason": "deadline",
            "deadline": "1m 30s" });
        assert_eq!(notes.len(), 1);
        assert_eq!(notes[0].body(), body);
        assert!(agent.take_notes().is_empty(), "noted once");
    }
}

#[test]
fn a_wrong_deadline_is_refused_with_what_would_be_right() {
    let library = PromptLibrary::builtin();
    let refused = |own: Value| -> String {
        let mut settings = json!({ "model": "human/ann", "agent": "person" });
        settings
            .as_object_mut()
            .unwrap()
            .extend(own.as_object().unwrap().clone());
        let mut spec = spec("pirate", &["random", "random", "random"]);
        spec.seats[0] = player(PlayerKind::Model, settings);
        let checked = roster::check_seat(&spec.seats[0], &spec, 0, &library);
        checked.unwrap_err().to_string()
    };
    let alone = refused(json!({ "deadline": "2m" }));
    assert!(alone.contains("deadline needs a stand_in"), "{alone}");
    for wrong in [
        json!("soon"),
        json!(5),
        json!("0s"),
        json!("40days"),
        json!("-3s"),
    ] {
        let told = refused(json!({ "deadline": wrong, "stand_in": "equilibrium" }));
        assert!(
            told.contains("deadline must be a time from 1ms to 30days"),
            "{told}"
        );
    }
    let strange = refused(json!({ "deadline": "2m", "stand_in": "brave" }));
    assert!(
        strange.contains("expected one of: equilibrium"),
        "{strange}"
    );
}

/// What an agent of these settings is told up to its first bid, at seat 1 of three.
fn told(settings: Value) -> Vec<String> {
    let mut spec = spec("english_auction", &["truthful", "truthful", "truthful"]);
    spec.seats[1] = player(PlayerKind::Model, settings);
    let mind = Late::default();
    let (mut agent, ask) = briefed(&spec, &mind);
    let _ = agent.act(&ask, None, &mind).now_or_never().unwrap();
    let messages = mind.asked().into_iter().flat_map(|asked| asked.messages);
    messages
        .map(|message| message.content.to_string())
        .collect()
}

#[test]
fn a_person_is_told_of_its_world_in_the_words_in_which_a_model_is() {
    let personas = json!([
        { "name": "a", "text": "You like a." }, { "name": "b", "text": "You like b." },
        { "name": "c", "text": "You like c." },
    ]);
    let worlds = [
        (json!({ "own": ["a"] }), 6),
        (json!({ "own": ["a", "b"] }), 8),
        (json!({ "own": ["a"], "seats": [["b", "c"], ["a"], []] }), 5),
        (json!({ "seats": [["a"], [], ["c"]] }), 7),
    ];
    for (mut world, lines) in worlds {
        world["personas"] = personas.clone();
        let knows = world.get("seats").is_some();
        let model = told(json!({
            "model": "m", "agent": "harbor", "profile": true, "strategic": true,
            "second_order": true, "theory_of_mind": if knows { "true" } else { "none" },
            "world": world.clone(),
        }));
        let model = model.join("\n");
        let person = json!({ "model": "human/ann", "agent": "person", "stand_in": "truthful" });
        let without = told(person.clone());
        let mut person = person;
        person["world"] = world.clone();
        let with = told(person);
        let more = with[0].strip_suffix(&*without[0]).unwrap();
        let more: Vec<&str> = more.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(more.len(), lines, "{world}: {more:?}");
        for line in more {
            assert!(model.contains(line), "{world}: {line} is not in {model}");
        }
        assert_eq!(with[1..], without[1..]);
    }
}

#[test]
fn a_wrong_world_of_a_person_is_refused_and_says_what_is_wrong() {
    let library = PromptLibrary::builtin();
    let refused = |world: Value| -> String {
        let mut spec = spec("english_auction", &["random", "random", "random"]);
        let person = json!({ "model": "human/ann", "agent": "person", "world": world });
        spec.seats[0] = player(PlayerKind::Model, person);
        let checked = roster::check_seat(&spec.seats[0], &spec, 0, &library);
        checked.unwrap_err().to_string()
    };
    assert!(refused(json!("own")).contains("the game gives no world"));
    assert!(refused(json!({ "own": ["z"] })).contains("world.personas has no \"z\""));
    assert!(refused(json!({ "mine": [] })).contains("unknown field `mine`"));
}
