//! A rule player behind an agent: it sees what the agent's seat sees and answers in its place
//! where a person is too late, or where a simulated model should say something plausible.
//! Called by `agents/person.rs` and by whoever puts an ask to a model.

use std::borrow::Cow;

use agon_engine::event::Audience;
use agon_engine::rule_player::{SPECIFIED, StrategySettings};
use agon_engine::session::game_of;
use agon_engine::spec::SIMULATED_ENDPOINT;
use agon_engine::view::SeenEvent;
use agon_engine::{
    Action, Ask, Chance, Event, Form, Generator, RulePlayer, Seat, SessionSpec, View,
};

/// Strategies that nobody plausible plays: chance, lists of answers, and extremes.
const NO_PLAY: [&str; 6] = [
    "random",
    SPECIFIED,
    "greedy",
    "dominant",
    "bloodthirsty",
    "pacifist",
];

/// The strategy that every game has; played where a game has no other.
const EQUILIBRIUM: &str = "equilibrium";

/// A simulated player strays from its own strategy once in so many answers.
const STRAYS: u64 = 5;

/// A simulated player's numbers lie so far above or below what its strategy says, at most.
const BLUR: f64 = 0.15;

/// Rule players at the seat of somebody else.
pub struct Understudy {
    /// At least one; the first is what it usually plays.
    rules: Vec<Box<dyn RulePlayer>>,
    blurs: bool,
    luck: Generator,
    seat: Seat,
    seen: Vec<Event>,
    /// Its answer to the ask that is open; an ask is put to it once.
    open: Option<Action>,
}

impl Understudy {
    /// One that plays a strategy.
    ///
    /// # Errors
    /// The game has no such strategy; says what there is.
    pub fn playing(
        strategy: &str,
        settings: &StrategySettings,
        session: &SessionSpec,
        seat: Seat,
    ) -> Result<Self, String> {
        let game = game_of(session).map_err(|error| error.to_string())?;
        let rule = game.rule_player(strategy, settings, seat);
        let rules = vec![rule.map_err(|error| error.to_string())?];
        let luck = Chance::seeded(session.luck).for_rule_player(seat);
        Ok(Self::new(rules, false, luck, seat))
    }

    /// One for a seat whose model is the simulated one: it mostly plays one strategy of the
    /// game, drawn for its seat, and not too exactly. None for any other model.
    pub fn simulating(session: Option<&SessionSpec>, model: &str, seat: Seat) -> Option<Self> {
        let session = session?;
        let origin = session.origins.get(model)?;
        if origin.endpoint != SIMULATED_ENDPOINT {
            return None;
        }
        let game = game_of(session).ok()?;
        let listed = game.strategies().into_iter();
        let mut names: Vec<&str> = listed
            .map(|strategy| strategy.name)
            .filter(|name| !NO_PLAY.contains(name) && *name != EQUILIBRIUM)
            .collect();
        if names.is_empty() {
            names.push(EQUILIBRIUM);
        }
        let mut luck = Chance::seeded(session.luck).for_rule_player(seat);
        let first = luck.below(names.len() as u64) as usize;
        names.swap(0, first);
        let none = StrategySettings::new();
        let rules = names.into_iter();
        let rules = rules.filter_map(|name| game.rule_player(name, &none, seat).ok());
        let rules: Vec<_> = rules.collect();
        (!rules.is_empty()).then(|| Self::new(rules, true, luck, seat))
    }

    fn new(rules: Vec<Box<dyn RulePlayer>>, blurs: bool, luck: Generator, seat: Seat) -> Self {
        Self {
            rules,
            blurs,
            luck,
            seat,
            seen: Vec::new(),
            open: None,
        }
    }

    /// Sees what its seat sees.
    pub fn see(&mut self, events: &[SeenEvent]) {
        self.seen.extend(events.iter().map(as_event));
    }

    /// What it answers; the same to an ask that is put again.
    pub fn answer(&mut self, ask: &Ask, again: bool) -> Action {
        let kept = self.open.take().filter(|_| again);
        let action = kept.unwrap_or_else(|| self.act(ask));
        self.open = Some(action.clone());
        action
    }

    fn act(&mut self, ask: &Ask) -> Action {
        let mut which = 0;
        if self.rules.len() > 1 && self.luck.below(STRAYS) == 0 {
            which = self.luck.below(self.rules.len() as u64) as usize;
        }
        let view = View::new(self.seat, &self.seen);
        let action = self.rules[which].act(ask, &view, &mut self.luck);
        let blurred = match self.blurs {
            true => blurred(&action, &ask.form, self.luck.unit()),
            false => None,
        };
        let legal = blurred.filter(|blurred| ask.form.check(blurred).is_ok());
        legal.unwrap_or(action)
    }
}

impl std::fmt::Debug for Understudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Understudy")
            .field("seat", &self.seat)
            .finish_non_exhaustive()
    }
}

/// A number near another one, as far as `lot`, from 0 to 1, takes it; none for what is no
/// number. Small numbers move by one at most.
fn blurred(action: &Action, form: &Form, lot: f64) -> Option<Action> {
    let factor = 1.0 + BLUR * (2.0 * lot - 1.0);
    match (action, form) {
        (Action::Integer(number), _) if number.unsigned_abs() < 10 => {
            Some(Action::Integer(number + (lot * 3.0) as i64 - 1))
        }
        (Action::Integer(number), _) => {
            Some(Action::Integer((*number as f64 * factor).round() as i64))
        }
        (Action::Number(number), Form::Number { max, .. }) => {
            let step = (max / 1_000.0).max(f64::MIN_POSITIVE);
            Some(Action::Number((number * factor / step).round() * step))
        }
        _ => None,
    }
}

/// What was seen, as an event that a view can be made of. Where a column of the seat's
/// own has the name of a shared fact, it comes after that and counts.
fn as_event(seen: &SeenEvent) -> Event {
    let mut facts: Vec<(Cow<'static, str>, agon_engine::Value)> = Vec::new();
    for (name, value) in &seen.facts {
        match facts.iter_mut().find(|(known, _)| known == name) {
            Some((_, known)) => *known = value.clone(),
            None => facts.push((Cow::Owned(name.clone()), value.clone())),
        }
    }
    Event {
        kind: Cow::Owned(seen.kind.clone()),
        round: seen.round,
        audience: Audience::Everyone,
        facts,
        own: Vec::new(),
        hidden: Vec::new(),
    }
}
