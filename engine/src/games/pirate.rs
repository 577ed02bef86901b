//! Pirate game.
//!
//! Pirates divide `gold` gold. The most senior living one, the lowest seat,
//! proposes whole numbers for everybody alive; then all others alive vote at the
//! same time, and the proposer is for its plan. With at least half of the votes
//! for it the plan is carried out and the game ends. Otherwise the proposer goes
//! overboard and gets nothing, and the next one proposes; the last one alive
//! keeps all the gold. The living see every plan and how many were for it, not
//! who. A forfeited proposal counts as rejected without a vote, a forfeited vote
//! as one against.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C, after
//! Stewart 1999.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::ask::{Action, Answer, Ask, Form, Foul, Seat};
use crate::chance::Chance;
use crate::disclosure::Disclosure;
use crate::event::{Event, EventLog};
use crate::game::{Equilibrium, Game, GameInfo, ParameterError, State, Timing};
use crate::games::{
    ALIKE, BRIEFED, DEFAULT_FOUL_ALLOWANCE, LARGEST_AMOUNT, PLAYERS, check_between, check_fouls,
    check_seats, column,
};
use crate::measures::Measures;
use crate::moves::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, pirate as rules};
use crate::spec::Settings;

mod scores;
pub(crate) mod theory;

use theory::Theory;

/// Entry in the registry.
pub const REGISTRATION: Registration = Registration {
    info: &INFO,
    strategies: rules::STRATEGIES,
    build,
    schema: || schemars::schema_for!(PirateParams).to_value(),
};

const INFO: GameInfo = GameInfo {
    name: "pirate",
    title: "Pirate Game",
    summary: "propose how to divide gold; who finds no majority goes overboard",
    rules_version: 1,
    // A session may need one vote of every pirate on every plan.
    seats: (2, 100),
    timing: Timing::Sequential,
    chance: false,
    hidden_information: true,
    source: "gamma-Bench, arXiv 2403.11807, game 8",
};

/// The word for voting for a plan.
pub const ACCEPT: &str = "accept";

/// The word for voting against a plan.
pub const REJECT: &str = "reject";

/// Parameters of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PirateParams {
    /// Number of players; taken from the seats of the experiment.
    pub players: usize,
    /// Gold to divide.
    pub gold: i64,
    /// Fouls forgiven per ask before it is forfeited.
    pub foul_allowance: u32,
    /// Accept negative shares in a plan, as the published games did; for replays.
    pub lenient: bool,
}

impl Default for PirateParams {
    fn default() -> Self {
        Self {
            players: PLAYERS,
            gold: 100,
            foul_allowance: DEFAULT_FOUL_ALLOWANCE,
            lenient: false,
        }
    }
}

/// Who is told what.
const DISCLOSURES: &[Disclosure] = &[
    Disclosure::to_everybody(BRIEFED, &["players", "gold"]),
    Disclosure::to_everybody(ALIKE, &["foul_allowance", "lenient"]),
];

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let params: PirateParams = read_params(settings)?;
    check_seats(&INFO, params.players)?;
    check_fouls(params.foul_allowance)?;
    check_between("gold", params.gold, 1, LARGEST_AMOUNT)?;
    let written = write_params(&params);
    let theory = Arc::new(Theory::new(params.players, params.gold));
    Ok(Built {
        game: Arc::new(Pirates { params, theory }),
        params: written,
    })
}

struct Pirates {
    params: PirateParams,
    theory: Arc<Theory>,
}

impl Game for Pirates {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn seats(&self) -> usize {
        self.params.players
    }

    /// The last pirate but one votes on every plan before its own, which is
    /// always accepted: its own vote is half of two.
    fn asks_per_seat(&self) -> u32 {
        self.params.players as u32 - 1
    }

    /// Most recorded games ended with the first or second plan.
    fn usual_asks_per_seat(&self) -> u32 {
        self.asks_per_seat().min(2)
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, self.params.gold as f64)
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        DISCLOSURES
    }

    fn start(&self, _chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        log.push(
            Event::new("briefing", 0)
                .fact("players", self.params.players)
                .fact("gold", self.params.gold),
        );
        let mut state = PirateState {
            payoffs: vec![0.0; self.params.players],
            params: self.params.clone(),
            asks: Vec::with_capacity(self.params.players),
            proposer: 0,
            plan: None,
        };
        state.ask_for_plan();
        Box::new(state)
    }

    fn rule(
        &self,
        strategy: &str,
        settings: &Map<String, Json>,
        _seat: Seat,
    ) -> Result<Box<dyn Rule>, StrategyError> {
        rules::make(&self.theory, strategy, settings)
            .unwrap_or_else(|| Err(common::unknown(&INFO, strategy, rules::STRATEGIES)))
    }

    fn equilibrium(&self) -> Equilibrium {
        scores::equilibrium(&self.params, &self.theory)
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        scores::measures(&self.params, log)
    }
}

struct PirateState {
    params: PirateParams,
    asks: Vec<Ask>,
    /// The most senior pirate alive; all after it live.
    proposer: Seat,
    /// What is voted on; `None` while it is being thought up.
    plan: Option<Vec<i64>>,
    payoffs: Vec<f64>,
}

impl State for PirateState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn check(&self, ask: &Ask, action: &Action) -> Result<(), Foul> {
        match (&ask.form, action) {
            (Form::Division { parts, total }, Action::Division(plan))
                if self.params.lenient && divides(plan, *parts, *total) =>
            {
                Ok(())
            }
            _ => ask.form.check(action),
        }
    }

    fn advance(&mut self, answers: &[Answer], _chance: &mut Chance, log: &mut EventLog) {
        self.asks.clear();
        if let Some(plan) = self.plan.take() {
            self.count_votes(plan, answers, log);
            return;
        }
        match answers.first().and_then(Answer::action) {
            Some(Action::Division(plan)) => self.put_to_vote(plan.clone(), log),
            _ => self.reject_silence(log),
        }
    }

    fn payoffs(&self) -> Vec<f64> {
        self.payoffs.clone()
    }
}

impl PirateState {
    fn alive(&self) -> std::ops::Range<Seat> {
        self.proposer..self.params.players
    }

    /// Rounds are counted by proposers.
    fn event(&self, kind: &'static str) -> Event {
        let round = self.proposer as u32 + 1;
        let event = Event::new(kind, round).only_for(self.alive().collect());
        event.fact("proposer", self.proposer)
    }

    fn ask_for_plan(&mut self) {
        let form = Form::Division {
            parts: self.alive().len(),
            total: self.params.gold,
        };
        let foul_allowance = self.params.foul_allowance;
        self.asks.push(Ask {
            seat: self.proposer,
            kind: "proposal",
            form,
            foul_allowance,
        });
    }

    fn put_to_vote(&mut self, plan: Vec<i64>, log: &mut EventLog) {
        let share = |seat: Seat| Some(plan[seat.checked_sub(self.proposer)?]);
        log.push(
            self.event("proposal")
                .fact("order", self.alive().collect::<Vec<Seat>>())
                .fact("plan", plan.clone())
                .own("share", column((0..self.params.players).map(share))),
        );
        let voters = self.alive().skip(1);
        self.asks.extend(voters.map(|seat| Ask {
            seat,
            kind: "vote",
            form: Form::choice(&[ACCEPT, REJECT]),
            foul_allowance: self.params.foul_allowance,
        }));
        self.plan = Some(plan);
    }

    fn count_votes(&mut self, plan: Vec<i64>, answers: &[Answer], log: &mut EventLog) {
        let vote = |answer: &Answer| {
            let is_for = answer.choice()? == ACCEPT;
            Some(if is_for { ACCEPT } else { REJECT })
        };
        let cast = answers.iter().map(|answer| vote(answer).unwrap_or(REJECT));
        let votes: Vec<&'static str> = std::iter::once(ACCEPT).chain(cast).collect();
        let accepts = votes.iter().filter(|vote| **vote == ACCEPT).count();
        let accepted = accepts * 2 >= votes.len();
        let own = |seat: Seat| match seat.checked_sub(self.proposer)? {
            0 => Some(ACCEPT),
            offset => vote(&answers[offset - 1]),
        };
        log.push(
            self.event("vote_result")
                .fact("accepts", accepts)
                .fact("voters", votes.len())
                .fact("accepted", accepted)
                .own("vote", column((0..self.params.players).map(own)))
                .hidden("votes", votes)
                .hidden("plan", plan.clone()),
        );
        if accepted {
            for (payoff, share) in self.payoffs[self.proposer..].iter_mut().zip(plan) {
                *payoff = share as f64;
            }
        } else {
            self.throw_overboard();
        }
    }

    /// Without a plan there is nothing to vote on.
    fn reject_silence(&mut self, log: &mut EventLog) {
        let nobody = (0..self.params.players).map(|_| None::<&'static str>);
        log.push(
            self.event("vote_result")
                .fact("accepts", 0usize)
                .fact("voters", self.alive().len())
                .fact("accepted", false)
                .own("vote", column(nobody)),
        );
        self.throw_overboard();
    }

    fn throw_overboard(&mut self) {
        self.proposer += 1;
        if self.alive().len() > 1 {
            self.ask_for_plan();
        } else {
            self.payoffs[self.proposer] = self.params.gold as f64;
        }
    }
}

/// What the published game checked of a plan: length and sum, not signs.
fn divides(plan: &[i64], parts: usize, total: i64) -> bool {
    let sum: i128 = plan.iter().map(|share| i128::from(*share)).sum();
    plan.len() == parts && sum == i128::from(total)
}

#[cfg(test)]
mod tests;
