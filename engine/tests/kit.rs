//! The conformance kit itself: it must notice games that break a property. Each
//! test spoils a small sound game in one way.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use agon_engine::chance::VALUATIONS;
use agon_engine::conformance::{PROPERTIES, faults};
use agon_engine::game::Equilibrium;
use agon_engine::rule_player::Strategy;
use agon_engine::{
    Action, Answer, Ask, AskRole, Chance, Disclosure, Event, EventLog, Form, Foul, GameInfo,
    Measures, Move, Name, ParameterError, Parameters, Registration, Rules, Setup, State, View,
};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

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

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Params {
    players: usize,
    rounds: u32,
    foul_allowance: u32,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            players: 3,
            rounds: 3,
            foul_allowance: 2,
        }
    }
}

#[derive(Debug, Clone, Default)]
struct Probe<const FLAW: usize>(Params);

impl<const FLAW: usize> std::ops::Deref for Probe<FLAW> {
    type Target = Params;

    fn deref(&self) -> &Params {
        &self.0
    }
}

impl<const FLAW: usize> Serialize for Probe<FLAW> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de, const FLAW: usize> Deserialize<'de> for Probe<FLAW> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Params::deserialize(deserializer).map(Self)
    }
}

impl<const FLAW: usize> JsonSchema for Probe<FLAW> {
    fn schema_name() -> Cow<'static, str> {
        Params::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Params::json_schema(generator)
    }
}

impl<const FLAW: usize> Parameters for Probe<FLAW> {
    const DISCLOSURES: &'static [Disclosure] = &[Disclosure::briefed(&[
        "players",
        "rounds",
        "foul_allowance",
    ])];

    fn setup(&self) -> Setup {
        Setup {
            players: self.players,
            rounds: Some(self.rounds),
            foul_allowance: self.foul_allowance,
        }
    }
}

impl<const FLAW: usize> Rules for Probe<FLAW> {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("probe"),
        title: Name::Borrowed("Probe"),
        summary: Name::Borrowed("everybody bids; a bid is its own payoff"),
        seats: (2, 6),
        chance: true,
        source: Name::Borrowed("these tests"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = {
        const fn most<const FLAW: usize>() -> Strategy<Probe<FLAW>> {
            Strategy::new("equilibrium", "bids most", |_, request| {
                request.always(Action::Integer(match FLAW {
                    FOULING_STRATEGY => MOST + 1,
                    _ => MOST,
                }))
            })
        }
        match FLAW {
            NO_RANDOM_PLAYER => &[most::<FLAW>()],
            _ => &[most::<FLAW>(), Strategy::RANDOM, Strategy::SPECIFIED],
        }
    };

    type State = ProbeState<FLAW>;

    fn disclosures(&self) -> Vec<Disclosure> {
        vec![Disclosure::to_owner("each player knows its own", &[]).draws(&[VALUATIONS])]
    }

    fn settle(&mut self) -> Result<(), ParameterError> {
        match self.rounds {
            ..=50 => Ok(()),
            _ => Err(ParameterError::new("rounds", "too many")),
        }
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        let high = f64::from(self.rounds) * MOST as f64;
        match FLAW {
            PAYS_TOO_MUCH => (0.0, high / 2.0),
            _ => (0.0, high),
        }
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        if FLAW != NO_BRIEFING {
            log.push(self.setup().briefing());
        }
        let mut state = ProbeState {
            probe: Arc::clone(self),
            asks: Vec::new(),
            payoffs: vec![0.0; self.players],
            valuations: Vec::new(),
            said: 0,
            round: 1,
        };
        state.open(chance);
        state
    }

    fn equilibrium(&self) -> Equilibrium {
        let value = match FLAW {
            WRONG_PREDICTION => 99.0,
            _ => 100.0,
        };
        Equilibrium::exact("everybody bids most", [("share", value)])
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

#[derive(Clone)]
struct ProbeState<const FLAW: usize> {
    probe: Arc<Probe<FLAW>>,
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
        let form = Form::integer(0, MOST);
        let setup = self.probe.setup();
        let ask = |seat| setup.ask(seat, AskRole::Bid, "bid", form.clone());
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
            static SPOILED: Registration = Registration::of::<Probe<$flaw>>();
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
    static PROBE: Registration = Registration::of::<Probe<SOUND>>();
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
