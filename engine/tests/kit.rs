//! The conformance kit itself: it must notice games that break a property. Each
//! test spoils a small sound game in one way.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use agon_engine::chance::VALUATIONS;
use agon_engine::conformance::{PROPERTIES, faults};
use agon_engine::game::{Equilibrium, ExpectedScore, GameInfo, ParameterError, Timing};
use agon_engine::registry::{Built, Registration};
use agon_engine::rule::{Rule, StrategyError, StrategyInfo};
use agon_engine::rules::common;
use agon_engine::spec::Settings;
use agon_engine::{
    Action, Answer, Ask, Chance, Disclosure, Event, EventLog, Foul, Game, Measures, Move, Seat,
    State, View,
};
use serde_json::{Map, Value as Json, json};

/// Ways to spoil the game.
const SOUND: usize = 0;
const TAKES_ANYTHING: usize = 1;
const TELLS_VALUATIONS: usize = 2;
const NO_BRIEFING: usize = 3;
const SHORT_COLUMN: usize = 4;
const REMEMBERS_OTHER_SESSIONS: usize = 5;
const PAYS_TOO_MUCH: usize = 6;
const WRONG_PREDICTION: usize = 7;
const FOULING_STRATEGY: usize = 8;
const DRAWS_BY_ANSWERS: usize = 9;
const ASKS_BACKWARDS: usize = 10;
const NEVER_ENDS: usize = 11;
const NOT_FINITE: usize = 12;
const PUNISHES_FORFEITS: usize = 13;
const NO_RANDOM_PLAYER: usize = 14;
const DRAWS_BY_ROUNDS: usize = 15;

/// Largest bid, and payoff of a round.
const MOST: i64 = 5;

const INFO: GameInfo = GameInfo {
    name: "probe",
    title: "Probe",
    summary: "everybody bids; a bid is its own payoff",
    rules_version: 1,
    seats: (2, 6),
    timing: Timing::Simultaneous,
    chance: true,
    hidden_information: true,
    source: "these tests",
};

const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "bids most",
    },
    common::RANDOM,
    common::SPECIFIED,
];

const DISCLOSURES: &[Disclosure] = &[
    Disclosure::to_everybody("the briefing", &["players", "rounds", "foul_allowance"]),
    Disclosure::to_owner("each player knows its own", &[]).draws(&[VALUATIONS]),
];

#[derive(Clone)]
struct Probe<const FLAW: usize> {
    players: usize,
    rounds: u32,
    foul_allowance: u32,
}

fn schema() -> Json {
    let whole = |default: u32| json!({ "type": "integer", "default": default });
    json!({ "properties": { "players": whole(3), "rounds": whole(3), "foul_allowance": whole(2) } })
}

fn build<const FLAW: usize>(settings: &Settings) -> Result<Built, ParameterError> {
    let read = |name: &str, default: u64, range: std::ops::RangeInclusive<u64>| {
        let value = settings.get(name).map_or(Some(default), Json::as_u64);
        let value = value.filter(|value| range.contains(value));
        value.ok_or_else(|| ParameterError::new(name, "out of range"))
    };
    let players = read("players", 3, 2..=6)?;
    let rounds = read("rounds", 3, 1..=50)?;
    let foul_allowance = read("foul_allowance", 2, 0..=9)?;
    let written = [
        ("players", players),
        ("rounds", rounds),
        ("foul_allowance", foul_allowance),
    ];
    Ok(Built {
        game: Arc::new(Probe::<FLAW> {
            players: players as usize,
            rounds: rounds as u32,
            foul_allowance: foul_allowance as u32,
        }),
        params: written
            .iter()
            .map(|(name, value)| ((*name).to_owned(), json!(value)))
            .collect(),
    })
}

impl<const FLAW: usize> Game for Probe<FLAW> {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn seats(&self) -> usize {
        self.players
    }

    fn asks_per_seat(&self) -> u32 {
        self.rounds
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        let high = f64::from(self.rounds) * MOST as f64;
        (
            0.0,
            if FLAW == PAYS_TOO_MUCH {
                high / 2.0
            } else {
                high
            },
        )
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        DISCLOSURES
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        if FLAW != NO_BRIEFING {
            log.push(Event::new("briefing", 0).fact("players", self.players));
        }
        let mut state = ProbeState::<FLAW> {
            probe: self.clone(),
            asks: Vec::new(),
            payoffs: vec![0.0; self.players],
            valuations: Vec::new(),
            said: 0,
            round: 1,
        };
        state.open(chance);
        Box::new(state)
    }

    fn rule(
        &self,
        strategy: &str,
        settings: &Map<String, Json>,
        _seat: Seat,
    ) -> Result<Box<dyn Rule>, StrategyError> {
        let bid = if FLAW == FOULING_STRATEGY {
            MOST + 1
        } else {
            MOST
        };
        match strategy {
            "equilibrium" => Ok(Box::new(common::Always(Action::Integer(bid)))),
            _ => common::make(strategy, settings)
                .unwrap_or_else(|| Err(common::unknown(&INFO, strategy, STRATEGIES))),
        }
    }

    fn equilibrium(&self) -> Equilibrium {
        let value = if FLAW == WRONG_PREDICTION {
            99.0
        } else {
            100.0
        };
        let scores = vec![ExpectedScore {
            scheme: "share",
            value,
            tolerance: 1e-9,
        }];
        Equilibrium {
            play: "everybody bids most".to_owned(),
            scores,
        }
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let total: f64 = log
            .of_kind("round_result")
            .filter_map(|event| event.get("total")?.number())
            .sum();
        let most = f64::from(self.rounds) * self.players as f64 * MOST as f64;
        let mut measures = Measures::default();
        measures.score("share", 100.0 * total / most);
        measures
    }
}

struct ProbeState<const FLAW: usize> {
    probe: Probe<FLAW>,
    asks: Vec<Ask>,
    payoffs: Vec<f64>,
    valuations: Vec<i64>,
    said: i64,
    round: u32,
}

impl<const FLAW: usize> ProbeState<FLAW> {
    fn open(&mut self, chance: &mut Chance) {
        let offset = match FLAW {
            DRAWS_BY_ANSWERS => self.said,
            DRAWS_BY_ROUNDS => i64::from(self.probe.rounds),
            _ => 0,
        };
        let ladder = agon_engine::chance::Ladder {
            low: offset,
            step: 1,
            rungs: 50,
        };
        self.valuations = chance.distinct(VALUATIONS, self.round, self.probe.players, ladder);
        let ask = |seat| Ask {
            seat,
            kind: "bid",
            form: agon_engine::Form::integer(0, MOST),
            foul_allowance: self.probe.foul_allowance,
        };
        self.asks = (0..self.probe.players).map(ask).collect();
        if FLAW == ASKS_BACKWARDS {
            self.asks.reverse();
        }
    }
}

/// What sessions of a game that keeps state of its own leak into each other.
static OTHER_SESSIONS: AtomicI64 = AtomicI64::new(0);

impl<const FLAW: usize> State for ProbeState<FLAW> {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        if FLAW == TAKES_ANYTHING {
            Ok(())
        } else {
            ask.form.check(action)
        }
    }

    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        let bids: Vec<i64> = answers
            .iter()
            .map(|bid| bid.integer().unwrap_or(0))
            .collect();
        for (seat, answer) in answers.iter().enumerate() {
            self.payoffs[seat] += bids[seat] as f64;
            if FLAW == PUNISHES_FORFEITS && *answer == Answer::Forfeited {
                self.payoffs[seat] -= 1000.0;
            }
        }
        self.said = bids
            .iter()
            .fold(self.said, |sum, bid| sum.saturating_add(*bid));
        let mut event = Event::new("round_result", self.round)
            .fact(
                "total",
                bids.iter().fold(0_i64, |sum, bid| sum.saturating_add(*bid)),
            )
            .own("valuation", self.valuations.clone())
            .own("bid", bids[usize::from(FLAW == SHORT_COLUMN)..].to_vec());
        event = match FLAW {
            TELLS_VALUATIONS => event.fact("first", self.valuations[0]),
            REMEMBERS_OTHER_SESSIONS => {
                event.hidden("count", OTHER_SESSIONS.fetch_add(1, Ordering::Relaxed))
            }
            NOT_FINITE => event.hidden("rate", f64::NAN),
            _ => event,
        };
        log.push(event);
        self.round += 1;
        if self.round > self.probe.rounds && FLAW != NEVER_ENDS {
            self.asks.clear();
        } else {
            self.open(chance);
        }
    }

    fn payoffs(&self) -> Vec<f64> {
        self.payoffs.clone()
    }
}

const fn registration<const FLAW: usize>() -> Registration {
    let strategies = match FLAW {
        NO_RANDOM_PLAYER => STRATEGIES.split_at(1).0,
        _ => STRATEGIES,
    };
    Registration {
        info: &INFO,
        strategies,
        build: build::<FLAW>,
        schema,
    }
}

/// What one property finds in a spoiled game.
fn found(property: &str, registration: &'static Registration) -> Vec<String> {
    let property = PROPERTIES.iter().find(|known| known.name == property);
    let found = faults(property.expect("a property of the kit"), registration);
    found.iter().map(ToString::to_string).collect()
}

macro_rules! flaws {
    ($($claim:ident: $flaw:ident breaks $property:literal saying $told:literal;)*) => {
        $(#[test]
        fn $claim() {
            static SPOILED: Registration = registration::<$flaw>();
            let found = found($property, &SPOILED);
            assert!(
                found.iter().any(|fault| fault.contains($told)),
                "expected \"{}\" among {found:#?}", $told,
            );
        })*
    };
}

flaws! {
    a_foul_that_counts_is_found: TAKES_ANYTHING breaks "fouls"
        saying "a bid outside its form is accepted";
    a_private_value_in_a_shared_fact_is_found: TELLS_VALUATIONS breaks "secrets"
        saying "is shown fact first of event round_result in round 1";
    a_missing_briefing_is_found: NO_BRIEFING breaks "legal_play"
        saying "nothing is said before the first ask";
    a_short_column_is_found: SHORT_COLUMN breaks "legal_play"
        saying "column bid has";
    state_outside_the_session_is_found: REMEMBERS_OTHER_SESSIONS breaks "determinism"
        saying "the record differs with answers in the same order";
    a_record_that_does_not_repeat_is_found: REMEMBERS_OTHER_SESSIONS breaks "restore"
        saying "the record differs when played again";
    a_payoff_out_of_bounds_is_found: PAYS_TOO_MUCH breaks "payoffs"
        saying "is not between 0 and";
    a_wrong_equilibrium_is_found: WRONG_PREDICTION breaks "equilibrium"
        saying "score share is 100, predicted 99";
    a_fouling_strategy_is_found: FOULING_STRATEGY breaks "strategies"
        saying "equilibrium fouls in turn 1";
    a_strategy_that_is_not_listed_is_found: NO_RANDOM_PLAYER breaks "strategies"
        saying "strategy random is not listed";
    draws_that_follow_answers_are_found: DRAWS_BY_ANSWERS breaks "same_luck"
        saying "other answers change the draw of valuations";
    draws_that_follow_the_length_are_found: DRAWS_BY_ROUNDS breaks "same_luck"
        saying "other rounds change the draw of valuations";
    asks_out_of_order_are_found: ASKS_BACKWARDS breaks "legal_play"
        saying "not one per seat in seat order";
    a_game_without_end_is_found: NEVER_ENDS breaks "legal_play"
        saying "is asked more than";
    a_number_that_is_not_finite_is_found: NOT_FINITE breaks "legal_play"
        saying "rate is not finite";
    a_forfeit_that_breaks_the_bounds_is_found: PUNISHES_FORFEITS breaks "forfeits"
        saying "is not between 0 and";
}

#[test]
fn a_sound_game_has_no_faults() {
    static PROBE: Registration = registration::<SOUND>();
    for property in PROPERTIES {
        let found = found(property.name, &PROBE);
        assert!(found.is_empty(), "{}: {found:#?}", property.name);
    }
}

#[test]
fn a_view_cannot_be_made_to_show_what_is_hidden() {
    let log = EventLog::from(vec![
        Event::new("told", 1)
            .only_for(vec![0])
            .fact("word", "for seat 0"),
        Event::new("mixed", 1)
            .own("entry", vec![Cow::Borrowed("a"), Cow::Borrowed("b")])
            .hidden("secret", "for the record"),
    ]);
    let view = View::new(1, log.all());
    assert!(view.first("told").is_none());
    let mixed = view.first("mixed").expect("it is for everyone");
    assert_eq!(
        mixed
            .fact("entry")
            .as_ref()
            .and_then(agon_engine::Value::text),
        Some("b")
    );
    assert!(mixed.fact("secret").is_none());
    let text = serde_json::to_string(&mixed.to_event()).expect("text");
    assert_eq!(text, r#"{"event":"mixed","round":1,"entry":"b"}"#);
}
