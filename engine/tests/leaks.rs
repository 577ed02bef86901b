//! Leaks that are planted in registered games, and that the conformance kit must report with
//! game, seat and fact. Each is a wrapper around the game itself: it plays like the game, and
//! tells a little too much.

use std::borrow::Cow;
use std::sync::Arc;

use agon_engine::conformance::{PROPERTIES, faults};
use agon_engine::game::{Blueprint, Equilibrium, GameInfo, ParameterError};
use agon_engine::registry::{Built, Registration};
use agon_engine::rule_player::{Made, StrategyInfo, StrategySettings};
use agon_engine::spec::Settings;
use agon_engine::{
    Action, Answer, Ask, Audience, Chance, Disclosure, Event, EventLog, Form, Foul, Game, Measures,
    Move, Seat, State, Value, registry,
};

/// How a game is made to tell too much.
#[derive(Clone, Copy)]
struct Leak {
    /// Changes what was just emitted.
    events: fn(Vec<Event>) -> Vec<Event>,
    /// Changes what is asked, in view of everything that was emitted.
    asks: fn(Vec<Ask>, &[Event]) -> Vec<Ask>,
    /// Changes why an answer is refused.
    refusal: fn(Foul, &Ask, &[Event]) -> Foul,
    /// Changes what is declared.
    declares: fn(Vec<Disclosure>) -> Vec<Disclosure>,
}

/// Tells nothing that the game does not.
const SOUND: Leak = Leak {
    events: |events| events,
    asks: |asks, _| asks,
    refusal: |foul, _, _| foul,
    declares: |declared| declared,
};

struct Leaky {
    inner: Arc<dyn Game>,
    leak: Leak,
}

impl Game for Leaky {
    fn info(&self) -> &GameInfo {
        self.inner.info()
    }

    fn seats(&self) -> usize {
        self.inner.seats()
    }

    fn asks_per_seat(&self) -> u32 {
        self.inner.asks_per_seat()
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        self.inner.payoff_bounds()
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        (self.leak.declares)(self.inner.disclosures())
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        let mut own = EventLog::default();
        let state = self.inner.start(chance, &mut own);
        let mut leaky = LeakyState {
            state,
            leak: self.leak,
            own,
            told: 0,
            asks: Vec::new(),
        };
        leaky.tell(log);
        Box::new(leaky)
    }

    fn strategies(&self) -> Vec<StrategyInfo> {
        self.inner.strategies()
    }

    fn rule_player(&self, strategy: &str, settings: &StrategySettings, seat: Seat) -> Made {
        self.inner.rule_player(strategy, settings, seat)
    }

    fn equilibrium(&self) -> Equilibrium {
        self.inner.equilibrium()
    }

    fn measures(&self, log: &EventLog, moves: &[Move]) -> Measures {
        self.inner.measures(log, moves)
    }
}

#[derive(Clone)]
struct LeakyState {
    state: Box<dyn State>,
    leak: Leak,
    /// What the game itself emitted.
    own: EventLog,
    told: usize,
    asks: Vec<Ask>,
}

impl LeakyState {
    fn tell(&mut self, log: &mut EventLog) {
        let fresh = self.own.all()[self.told..].to_vec();
        self.told = self.own.all().len();
        for event in (self.leak.events)(fresh) {
            log.push(event);
        }
        self.asks = (self.leak.asks)(self.state.asks().to_vec(), self.own.all());
    }
}

impl State for LeakyState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        let checked = ask.form.check(action);
        let checked = checked.and_then(|()| self.state.check(ask, action));
        checked.map_err(|foul| (self.leak.refusal)(foul, ask, self.own.all()))
    }

    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        self.state.advance(answers, chance, &mut self.own);
        self.tell(log);
    }

    fn payoffs(&self) -> Vec<f64> {
        self.state.payoffs()
    }
}

/// A column of the newest event that has one of this name.
fn column(events: &[Event], name: &str) -> Value {
    let found = events.iter().rev().find_map(|event| event.get(name));
    found.cloned().unwrap_or(Value::Nothing)
}

/// The events with something added to, or taken from, those of a kind.
fn of_kind(mut events: Vec<Event>, kind: &str, change: impl Fn(&mut Event)) -> Vec<Event> {
    let found = events.iter_mut().filter(|event| event.kind == kind);
    found.for_each(change);
    events
}

fn publish(event: &mut Event, name: &'static str, value: Value) {
    event.facts.push((Cow::Borrowed(name), value));
}

/// Everybody's budgets as a shared fact.
const BUDGETS: Leak = Leak {
    events: |events| {
        of_kind(events, "briefing", |event| {
            let budgets = event.get("budget").cloned();
            publish(event, "budgets", budgets.unwrap_or(Value::Nothing));
        })
    },
    ..SOUND
};

/// The valuation of the next seat as the most that may be bid.
const IN_THE_ASK: Leak = Leak {
    asks: |asks, events| {
        let valuations = column(events, "valuation");
        let seats = valuations.len();
        let bounded = asks.into_iter().map(|ask| Ask {
            form: Form::Integer {
                min: Some(0),
                max: valuations.entry((ask.seat + 1) % seats).integer(),
                pass: None,
            },
            ..ask
        });
        bounded.collect()
    },
    ..SOUND
};

/// What the item is worth to the first seat, in the briefing of all.
const DRAWS: Leak = Leak {
    events: |events| {
        of_kind(events, "briefing", |event| {
            let values = column(std::slice::from_ref(event), "private_value");
            publish(event, "favourite", values.entry(0));
        })
    },
    ..SOUND
};

/// What items are truly worth, before anybody bids.
const HIDDEN: Leak = Leak {
    events: |events| {
        of_kind(events, "briefing", |event| {
            let is_worth = |(name, _): &(Cow<'static, str>, Value)| name == "true_values";
            if let Some(at) = event.hidden.iter().position(is_worth) {
                let moved = event.hidden.remove(at);
                event.facts.push(moved);
            }
        })
    },
    ..SOUND
};

/// Each seat's valuation in an event for this seat alone.
fn whispered(events: Vec<Event>) -> Vec<Event> {
    let mut told = Vec::new();
    for event in events {
        if event.kind != "valuation" {
            told.push(event);
            continue;
        }
        let values = column(std::slice::from_ref(&event), "valuation");
        for seat in 0..values.len() {
            let worth = Event::new("worth", event.round).fact("worth", values.entry(seat));
            told.push(worth.only_for(vec![seat]));
        }
        told.push(event);
    }
    told
}

const WHISPERED: Leak = Leak {
    events: whispered,
    ..SOUND
};

/// The same, but one of these events is for everybody.
const WIDENED: Leak = Leak {
    events: |events| {
        of_kind(whispered(events), "worth", |event| {
            if event.audience == Audience::Only(vec![0]) {
                event.audience = Audience::Everyone;
            }
        })
    },
    ..SOUND
};

/// A bid is refused in view of what the next bidder has.
const IN_THE_REFUSAL: Leak = Leak {
    refusal: |foul, ask, events| {
        let budgets = column(events, "budget");
        let rival = budgets.entry((ask.seat + 1) % budgets.len()).integer();
        let reason = format!("{}; another has {rival:?}", foul.reason);
        Foul::new(foul.kind, reason)
    },
    ..SOUND
};

/// Nothing is declared.
const SILENT: Leak = Leak {
    declares: |_| Vec::new(),
    ..SOUND
};

/// One parameter and one draw are forgotten.
const FORGETFUL: Leak = Leak {
    declares: |declared| declared[1..].to_vec(),
    ..SOUND
};

/// A budget is called public without a rule.
const UNFOUNDED: Leak = Leak {
    declares: |_| vec![Disclosure::to_everybody(" ", &["budget"])],
    ..SOUND
};

/// Which leak, in which game.
const LEAKS: &[(&str, Leak)] = &[
    ("english_auction", SOUND),
    ("english_auction", BUDGETS),
    ("sealed_bid_auction", IN_THE_ASK),
    ("second_price_auction", DRAWS),
    ("english_auction", HIDDEN),
    ("sealed_bid_auction", WHISPERED),
    ("sealed_bid_auction", WIDENED),
    ("english_auction", IN_THE_REFUSAL),
    ("english_auction", SILENT),
    ("sealed_bid_auction", FORGETFUL),
    ("english_auction", UNFOUNDED),
];

/// The kind of game in which a leak is planted.
struct Planted<const AT: usize>(&'static Registration);

impl<const AT: usize> Blueprint for Planted<AT> {
    fn strategies(&self) -> Vec<StrategyInfo> {
        self.0.strategies()
    }

    fn build(&self, settings: &Settings) -> Result<Built, ParameterError> {
        let Built { game, params } = self.0.build(settings)?;
        let leak = LEAKS[AT].1;
        let game = Arc::new(Leaky { inner: game, leak });
        Ok(Built { game, params })
    }

    fn schema(&self) -> serde_json::Value {
        self.0.schema()
    }
}

/// What a property finds where a leak is planted.
fn found<const AT: usize>(property: &str) -> Vec<String> {
    let inner = registry::find(LEAKS[AT].0).unwrap();
    let info = inner.info.clone().into_owned();
    let leaky = Registration::new(info, Arc::new(Planted::<AT>(inner)));
    let property = PROPERTIES.iter().find(|known| known.name == property);
    let found = faults(property.expect("a property of the kit"), &leaky);
    found.iter().map(ToString::to_string).collect()
}

/// Whether one of the faults says all of this.
#[track_caller]
fn says(found: &[String], words: &[&str]) {
    let said = found
        .iter()
        .any(|fault| words.iter().all(|word| fault.contains(word)));
    assert!(said, "{words:?} is not in {found:#?}");
}

#[test]
fn a_game_that_tells_nothing_more_has_no_leak() {
    for property in ["declared", "secrets", "players"] {
        let faults = [found::<0>(property), found::<5>(property)].concat();
        assert!(faults.is_empty(), "{property}: {faults:#?}");
    }
}

#[test]
fn everybodys_budgets_in_a_shared_fact_are_found() {
    let found = found::<1>("secrets");
    says(
        &found,
        &[
            "english_auction breaks secrets: seat 1 is shown fact budgets of event briefing",
            "when budget of seat 0 is 40010 instead of 20000",
        ],
    );
}

#[test]
fn a_valuation_in_the_form_of_anothers_ask_is_found() {
    let found = found::<2>("secrets");
    says(
        &found,
        &[
            "sealed_bid_auction breaks secrets: seat",
            "is asked in turn 1 for bid (a whole number from 0 to",
            "when the draw of valuations of seat 0 is another",
        ],
    );
}

#[test]
fn a_private_draw_in_a_shared_event_is_found() {
    let found = found::<3>("secrets");
    says(
        &found,
        &[
            "second_price_auction breaks secrets: seat 1 is shown fact favourite of event briefing",
            "when the draw of valuations of seat 0 is another",
        ],
    );
}

#[test]
fn a_hidden_fact_among_the_shared_ones_is_found() {
    let found = found::<4>("secrets");
    says(
        &found,
        &[
            "english_auction breaks secrets: seat 0 is shown fact true_values of event briefing",
            "when items.true_value is",
        ],
    );
}

#[test]
fn a_private_event_for_too_many_is_found() {
    let found = found::<6>("secrets");
    says(
        &found,
        &[
            "sealed_bid_auction breaks secrets: seat 1 is shown fact worth of event worth",
            "when the draw of valuations of seat 0 is another",
        ],
    );
}

#[test]
fn a_secret_in_the_reason_of_a_refusal_is_found() {
    let found = found::<7>("secrets");
    says(
        &found,
        &[
            "is told in turn 1 of another reason why its bid is refused",
            "when budget of seat 0 is",
        ],
    );
}

#[test]
fn a_game_that_declares_nothing_or_too_little_is_found() {
    says(
        &found::<8>("declared"),
        &[
            "english_auction breaks declared",
            "nothing is declared of who is told what",
        ],
    );
    says(
        &found::<9>("declared"),
        &[
            "sealed_bid_auction breaks declared",
            "who is told the parameter players",
        ],
    );
    says(
        &found::<10>("declared"),
        &["no rule says who is told of [\"budget\"]"],
    );
}
