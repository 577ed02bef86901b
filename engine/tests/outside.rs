//! Games that are played elsewhere: every registered game, played once in this process and once
//! through replies that come in as JSON text, leads to the same record; and what no game may say is
//! refused.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_engine::extent::{Bounds, RECORD};
use agon_engine::game::Equilibrium;
use agon_engine::outside::AskGroup;
use agon_engine::outside_game::{Description, OutsideGame, OutsideState};
use agon_engine::record::StoredRecord;
use agon_engine::registry::{GAMES, Registration};
use agon_engine::rule_player::{Made, Random, StrategyInfo, StrategySettings};
use agon_engine::session;
use agon_engine::spec::{SessionSpec, Settings};
use agon_engine::{
    Action, Answer, Chance, Disclosure, EventLog, Foul, FoulKind, Game, GameInfo, Generator, Luck,
    Measures, Move, OutsideReply, Play, PlayerKind, PlayerSpec, Reaction, Record, RulePlayer, Seat,
    State,
};
use serde_json::json;

const LUCK: Luck = Luck::new(11, 3);

/// The other process: it holds the rules, and says what each step leads to.
struct Elsewhere {
    state: Box<dyn State>,
    chance: Chance,
    log: EventLog,
    /// How much of log and draws was told.
    told: (usize, usize),
}

impl Elsewhere {
    fn start(game: &dyn Game) -> Self {
        let mut chance = Chance::seeded(LUCK);
        let mut log = EventLog::default();
        let state = game.start(&mut chance, &mut log);
        let told = (0, 0);
        Self {
            state,
            chance,
            log,
            told,
        }
    }

    fn advance(&mut self, answers: &[Answer]) {
        self.state.advance(answers, &mut self.chance, &mut self.log);
    }

    /// What happened since it last told, as text.
    fn tell(&mut self, game: &dyn Game, moves: &[Move]) -> String {
        let (events, draws) = (self.log.all(), self.chance.draws());
        let has_ended = self.state.asks().is_empty();
        let reply = OutsideReply {
            refused: Vec::new(),
            events: events[self.told.0..].to_vec(),
            draws: draws[self.told.1..].to_vec(),
            asks: AskGroup::of(self.state.asks()),
            payoffs: self.state.payoffs(),
            measures: has_ended.then(|| game.measures(&self.log, moves)),
        };
        self.told = (events.len(), draws.len());
        serde_json::to_string(&reply).unwrap()
    }
}

fn read(text: &str) -> OutsideReply {
    serde_json::from_str(text).unwrap()
}

/// The game as this process knows it: what it says of itself.
struct Remote {
    described: Arc<dyn Game>,
}

impl Game for Remote {
    fn info(&self) -> &GameInfo {
        self.described.info()
    }

    fn seats(&self) -> usize {
        self.described.seats()
    }

    fn asks_per_seat(&self) -> u32 {
        self.described.asks_per_seat()
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.described.payoff_bounds()
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        self.described.disclosures()
    }

    fn start(&self, _chance: &mut Chance, _log: &mut EventLog) -> Box<dyn State> {
        Box::new(OutsideState::awaiting(self.seats(), self.asks_per_seat()))
    }

    fn strategies(&self) -> Vec<StrategyInfo> {
        self.described.strategies()
    }

    fn rule_player(&self, strategy: &str, settings: &StrategySettings, seat: Seat) -> Made {
        self.described.rule_player(strategy, settings, seat)
    }

    fn equilibrium(&self) -> Equilibrium {
        self.described.equilibrium()
    }

    fn measures(&self, _log: &EventLog, _moves: &[Move]) -> Measures {
        Measures::default()
    }
}

/// Answers every open ask at random, the first seat as a rule player.
fn answer_all(play: &mut Play, luck: &mut Generator) {
    let asks: Vec<_> = play.waiting().cloned().collect();
    for ask in asks {
        let action: Action = Random.act(&ask, &play.view(ask.seat), luck);
        play.answer(ask.seat, Ok(action));
    }
}

fn start(game: Arc<dyn Game>) -> (Play, Generator) {
    let first = game.rule_player("equilibrium", &StrategySettings::new(), 0);
    let others = (1..game.seats()).map(|_| None);
    let players = std::iter::once(Some(first.unwrap())).chain(others);
    let chance = Chance::seeded(LUCK);
    let luck = chance.for_rule_player(1);
    (Play::start(game, chance, players.collect()), luck)
}

fn spec(registration: &Registration, params: Settings, seats: usize) -> SessionSpec {
    let player = PlayerSpec {
        name: "player".to_owned(),
        kind: PlayerKind::Model,
        settings: Settings::new(),
    };
    SessionSpec {
        experiment: "outside".to_owned(),
        setting: Settings::new(),
        luck: LUCK,
        game: registration.info.name.to_string(),
        outside: None,
        rules_version: registration.info.rules_version,
        params,
        seats: vec![player; seats],
        prompts_version: None,
        prompt_bundle: None,
        origins: Default::default(),
    }
}

/// The record without what the other process said, which only one of two has.
fn line(registration: &Registration, params: Settings, play: Play) -> String {
    let spec = spec(registration, params, play.game().seats());
    let record = Record::new(spec, play, Vec::new(), Vec::new());
    let record = Record {
        replies: Vec::new(),
        ..record
    };
    record.to_line().unwrap()
}

#[test]
fn replies_from_elsewhere_lead_to_the_same_record() {
    for registration in GAMES {
        let built = registration.build(&Settings::new()).unwrap();
        let (mut here, mut luck) = start(Arc::clone(&built.game));
        while !here.is_finished() {
            answer_all(&mut here, &mut luck);
        }

        let mut elsewhere = Elsewhere::start(&*built.game);
        let remote = Arc::new(Remote {
            described: Arc::clone(&built.game),
        });
        let (mut there, mut luck) = start(remote);
        assert_eq!(there.awaited_reply(), Some(Vec::new()), "the start");
        there
            .reply(read(&elsewhere.tell(&*built.game, &[])))
            .unwrap();
        while !there.is_finished() {
            answer_all(&mut there, &mut luck);
            let answers = there.awaited_reply().expect("all answers are in");
            elsewhere.advance(&answers);
            // What a game measures may follow from refused answers; here are none.
            let moves = here.moves();
            there
                .reply(read(&elsewhere.tell(&*built.game, moves)))
                .unwrap();
        }

        let name = &registration.info.name;
        let (here, there) = (
            line(registration, built.params.clone(), here),
            line(registration, built.params, there),
        );
        assert!(here == there, "{name}:\n{here}\n{there}");
    }
}

/// A game of two seats that say numbers, as its process describes it.
fn described() -> Arc<Description> {
    let description = json!({
        "agon_game": 1, "name": "numbers", "title": "Numbers", "rules_version": 3,
        "seats": [2, 2], "timing": "simultaneous",
        "parameters": { "rounds": { "type": "integer", "min": 1, "max": 9, "default": 2 } },
        "asks_per_seat": { "times": 1, "parameter": "rounds" },
        "templates": { "system.j2": "Say numbers.", "ask.j2": "Which?", "result_end.j2": "Over." },
    });
    Arc::new(serde_json::from_value(description).unwrap())
}

fn numbers(seats: [PlayerKind; 2]) -> SessionSpec {
    let description = described();
    description.check().unwrap();
    let built = description.registration().build(&Settings::new()).unwrap();
    let random = Settings::from([("strategy".to_owned(), "random".into())]);
    let seats = seats.map(|kind| PlayerSpec {
        name: "player".to_owned(),
        kind,
        settings: match kind {
            PlayerKind::Rule => random.clone(),
            PlayerKind::Model => Settings::new(),
        },
    });
    SessionSpec {
        outside: Some(description.rules(&built.params)),
        seats: seats.to_vec(),
        game: description.name.clone(),
        rules_version: description.rules_version,
        ..spec(&GAMES[0], built.params, 2)
    }
}

fn asking(round: u32, events: serde_json::Value) -> serde_json::Value {
    json!({
        "events": events,
        "asks": [{
            "seats": [0, 1], "kind": "number", "role": "guess", "foul_allowance": 1,
            "form": { "form": "integer", "min": 0, "max": 9, "pass": null },
        }],
        "payoffs": [f64::from(round), 0.5],
    })
}

fn first() -> serde_json::Value {
    asking(
        0,
        json!([{ "event": "briefing", "round": 0, "facts": { "players": 2 } }]),
    )
}

fn result(round: u32) -> serde_json::Value {
    json!([{ "event": "round_result", "round": round, "own": { "number": [1, 2] } }])
}

fn reply(value: serde_json::Value) -> OutsideReply {
    serde_json::from_value(value).unwrap()
}

fn said(play: &mut Play, numbers: [i64; 2]) {
    for (seat, number) in numbers.into_iter().enumerate() {
        assert_eq!(
            play.answer(seat, Ok(Action::Integer(number))),
            Reaction::Taken
        );
    }
}

fn refusing(seats: &[Seat]) -> OutsideReply {
    let refused = seats.iter().map(
        |seat| json!({ "seat": seat, "kind": "out_of_range", "reason": "that was said before" }),
    );
    reply(json!({ "refused": refused.collect::<Vec<_>>() }))
}

/// A session with a refused and a forfeited answer.
fn finished() -> (SessionSpec, Play) {
    let spec = numbers([PlayerKind::Model; 2]);
    let mut play = session::open(&spec).unwrap();
    play.reply(reply(first())).unwrap();
    said(&mut play, [1, 2]);
    let foul = Foul::new(FoulKind::OutOfRange, "that was said before");
    let refused = Reaction::Refused {
        foul: foul.clone(),
        fouls_left: 0,
    };
    assert_eq!(play.reply(refusing(&[1])), Ok(vec![(1, refused)]));
    assert_eq!(play.waiting().map(|ask| ask.seat).collect::<Vec<_>>(), [1]);
    assert_eq!(play.answer(1, Ok(Action::Integer(3))), Reaction::Taken);
    let forfeited = Reaction::Forfeited { foul };
    assert_eq!(play.reply(refusing(&[1])), Ok(vec![(1, forfeited)]));
    let answers = [Answer::Given(Action::Integer(1)), Answer::Forfeited];
    assert_eq!(play.awaited_reply(), Some(answers.to_vec()));
    play.reply(reply(asking(1, result(1)))).unwrap();
    said(&mut play, [4, 5]);
    play.reply(reply(json!({
        "events": result(2), "payoffs": [2.0, 0.5],
        "measures": { "scores": { "mine": 7.0 }, "parts": {}, "series": {} },
    })))
    .unwrap();
    assert!(play.is_finished());
    (spec, play)
}

#[test]
fn a_record_with_refusals_plays_again_without_the_other_process() {
    let (spec, play) = finished();
    let line = Record::new(spec, play, Vec::new(), Vec::new())
        .to_line()
        .unwrap();
    let stored = StoredRecord::from_line(&line).unwrap();
    let again = session::play_again(&stored).unwrap();
    let record = Record::new(stored.spec, again, Vec::new(), Vec::new());
    assert_eq!(record.to_line().unwrap(), line);
    assert_eq!(
        record.measures.scores,
        BTreeMap::from([("mine".to_owned(), 7.0)])
    );
    assert_eq!(record.outcome.forfeits, [0, 1]);
    assert_eq!(record.outcome.payoffs, [2.0, 0.5]);

    // Events that no reply brought.
    let more = line.replacen(
        r#""event":"round_result""#,
        r#""event":"x","round":1},{"event":"round_result""#,
        1,
    );
    let stored = StoredRecord::from_line(&more).unwrap();
    let error = session::play_again(&stored).err().unwrap().to_string();
    assert!(error.contains("brought 3 events, and it has 4"), "{error}");
}

#[test]
fn a_refused_rule_player_has_forfeited() {
    let spec = numbers([PlayerKind::Model, PlayerKind::Rule]);
    let mut play = session::open(&spec).unwrap();
    play.reply(reply(first())).unwrap();
    assert_eq!(play.answer(0, Ok(Action::Integer(1))), Reaction::Taken);
    let reactions = play.reply(refusing(&[0, 1])).unwrap();
    assert!(matches!(
        reactions[..],
        [
            (0, Reaction::Refused { .. }),
            (1, Reaction::Forfeited { .. })
        ]
    ));
}

#[test]
fn what_no_game_may_say_is_refused_and_changes_nothing() {
    let spec = numbers([PlayerKind::Model; 2]);
    let mut play = session::open(&spec).unwrap();
    let set = |path: &str, value: serde_json::Value| {
        let mut changed = first();
        *changed.pointer_mut(path).unwrap() = value;
        changed
    };
    let starts = [
        (
            set("/events", json!([])),
            "the first event of a game must be its \"briefing\"",
        ),
        (set("/payoffs", json!([1.0])), "payoffs are 1 numbers"),
        (set("/asks/0/seats", json!([0, 0])), "seat 0 is asked twice"),
        (
            set("/asks/0/seats", json!([2])),
            "seat 2 is asked, and there are 2",
        ),
        (set("/asks/0/kind", json!("../a")), "cannot be asked"),
        (
            set("/asks/0/form/min", json!(10)),
            "no whole number is legal",
        ),
        (
            set("/asks/0/form", json!({ "form": "choice", "options": [] })),
            "options of a choice",
        ),
        (
            set(
                "/asks/0/form",
                json!({ "form": "choice", "options": ["Go"] }),
            ),
            "lower case",
        ),
        (
            set(
                "/asks/0/form",
                json!({ "form": "target", "seats": [2], "pass": null }),
            ),
            "a target",
        ),
        (set("/events/0/round", json!(9)), "round 9 comes too early"),
        (
            asking(
                0,
                json!([{ "event": "briefing", "round": 0, "facts": { "players": 2 }, "own": { "a": [1] } }]),
            ),
            "1 entries",
        ),
        (
            asking(
                0,
                json!([{ "event": "briefing", "round": 0, "facts": { "players": 2 }, "to": [1, 0] }]),
            ),
            "audience",
        ),
        (set("/asks/0/seats", json!([])), "is asked of no seat"),
        (
            set("/asks/0/seats", json!([0, 1, 0])),
            "3 seats are asked, and there are 2",
        ),
        (
            set("/asks/0/foul_allowance", json!(101)),
            "101 fouls are forgiven",
        ),
        (
            set("/events/0/facts/players", json!(1_000_000_000_000_u64)),
            "there are 2 \"players\"",
        ),
        (
            set(
                "/asks/0/form",
                json!({ "form": "division", "parts": 1_000_000_000_000_u64, "total": 1 }),
            ),
            "1 to 1000 parts",
        ),
        (
            set(
                "/asks/0/form",
                json!({ "form": "choice", "options": vec!["a"; 1001] }),
            ),
            "more than a thousand options",
        ),
        (
            asking(
                0,
                json!([{ "event": "briefing", "round": 0, "facts": { "players": 2, "A b": 1 } }]),
            ),
            "is no name of an event or a fact",
        ),
        (
            asking(
                0,
                json!([{ "event": "briefing", "round": 0, "facts": { "players": 2, "round": 1 } }]),
            ),
            "is no name of an event or a fact",
        ),
    ];
    for (said, why) in starts {
        let error = play.reply(reply(said.clone())).unwrap_err();
        assert!(error.contains(why), "{said}: {error}");
        assert_eq!((play.turn(), play.log().all().len()), (0, 0));
    }
    play.reply(reply(first())).unwrap();
    assert_eq!(
        play.reply(reply(first())),
        Ok(Vec::new()),
        "nothing is awaited"
    );
    said(&mut play, [1, 2]);
    let refused_and_more = OutsideReply {
        payoffs: vec![0.0, 0.0],
        ..refusing(&[0])
    };
    let error = play.reply(refused_and_more).unwrap_err();
    assert!(error.contains("says nothing else"), "{error}");
    for seats in [&[2][..], &[0, 0]] {
        let error = play.reply(refusing(seats)).unwrap_err();
        assert!(error.contains("no answer that could be refused"), "{error}");
    }
    play.reply(reply(asking(1, result(1)))).unwrap();
    said(&mut play, [1, 2]);
    let error = play.reply(reply(asking(2, result(2)))).unwrap_err();
    assert!(error.contains("more often than the 2 times"), "{error}");
}

#[test]
fn a_game_of_this_program_is_never_played_elsewhere() {
    let (spec, play) = finished();
    let record = Record::new(spec.clone(), play, Vec::new(), Vec::new());
    let line = record.to_line().unwrap();
    let forged = line.replacen(r#""game":"numbers""#, r#""game":"guess_two_thirds""#, 1);
    let error = StoredRecord::from_line(&forged).unwrap_err();
    let why = format!("{error:?}");
    assert!(
        why.contains("guess_two_thirds is not played elsewhere"),
        "{why}"
    );
    let spec = SessionSpec {
        game: "guess_two_thirds".to_owned(),
        ..spec
    };
    let error = session::open(&spec).err().unwrap().to_string();
    assert!(error.contains("not played elsewhere"), "{error}");
}

#[test]
fn a_session_ends_where_its_replies_exceed_what_a_record_holds() {
    let spec = numbers([PlayerKind::Model; 2]);
    let most = Bounds {
        values: 32,
        ..RECORD
    };
    let mut play = session::open_within(&most, &spec).unwrap();
    play.reply(reply(first())).unwrap();
    assert!(play.overflow().is_none());
    said(&mut play, [1, 2]);
    for _ in 0..2 {
        play.reply(refusing(&[1])).unwrap();
        play.answer(1, Ok(Action::Integer(3)));
    }
    assert!(play.overflow().is_some());
    assert!(play.is_finished());
}

#[test]
fn descriptions_that_make_no_game_say_why() {
    let faults = [
        ("/agon_game", json!(2), "speaks version 1"),
        ("/name", json!("Numbers!"), "lower case letters"),
        (
            "/title",
            json!("Numbers\nand more"),
            "title must be one line",
        ),
        ("/templates", json!({ "sistem.j2": "" }), "tells nothing"),
        ("/templates", json!({ "system.j2": "" }), "no ask.j2"),
        ("/name", json!("pirate"), "taken by this program"),
        ("/seats", json!([3, 2]), "the fewest first"),
        (
            "/seats",
            json!([2, 4]),
            "there must be a parameter \"players\"",
        ),
        (
            "/parameters/rounds/default",
            json!(10),
            "the default of parameters.rounds is 10",
        ),
        (
            "/asks_per_seat/parameter",
            json!("round"),
            "must be a parameter",
        ),
    ];
    for (path, value, why) in faults {
        let mut changed = serde_json::to_value(&*described()).unwrap();
        *changed.pointer_mut(path).unwrap() = value;
        let description: Description = serde_json::from_value(changed).unwrap();
        let error = description.check().unwrap_err();
        assert!(error.contains(why), "{path}: {error}");
    }
    let build = |name: &str, value: serde_json::Value| {
        let params = Settings::from([(name.to_owned(), value)]);
        described()
            .registration()
            .build(&params)
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(build("rounds", json!(9)), None);
    assert_eq!(
        build("rounds", json!(0)).unwrap(),
        "is 0; must be from 1 to 9"
    );
    assert_eq!(
        build("rounds", json!("two")).unwrap(),
        "must be a whole number, not \"two\""
    );
    let written = |value: serde_json::Value| {
        let mut description = (*described()).clone();
        let factor = json!({ "type": "list", "of": { "type": "number" }, "default": [1] });
        let factor = serde_json::from_value(factor).unwrap();
        description.parameters.insert("factors".to_owned(), factor);
        let params = Settings::from([("factors".to_owned(), value)]);
        let built = Arc::new(description).registration().build(&params);
        built.unwrap().params["factors"].to_string()
    };
    assert_eq!(written(json!([2, 0.5])), "[2.0,0.5]");
    assert!(
        build("round", json!(2))
            .unwrap()
            .contains("did you mean \"rounds\"?")
    );
}

#[test]
fn only_what_sessions_depend_on_is_in_their_ids() {
    let id = |change: fn(&mut Description)| {
        let mut description = (*described()).clone();
        change(&mut description);
        let spec = SessionSpec {
            outside: Some(description.rules(&Settings::new())),
            rules_version: description.rules_version,
            ..numbers([PlayerKind::Model; 2])
        };
        assert_eq!(
            OutsideGame::of(&spec, &spec.outside.clone().unwrap()).seats(),
            2
        );
        spec.id()
    };
    let same = id(|_| {});
    assert_eq!(
        id(|game| game.summary = "numbers and more".to_owned()),
        same
    );
    assert_ne!(id(|game| game.rules_version = 4), same);
    assert_ne!(id(|game| game.title = "More numbers".to_owned()), same);
}
