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

use std::sync::OnceLock;

use super::prelude::*;

mod players;
mod scores;
pub(crate) mod theory;

use theory::Theory;

/// The word for voting for a plan.
pub const ACCEPT: &str = "accept";

/// The word for voting against a plan.
pub const REJECT: &str = "reject";

/// What can be voted.
const VOTES: &[Name] = &[Name::Borrowed(ACCEPT), Name::Borrowed(REJECT)];

parameters! {
    /// Parameters of the game.
    pub struct PirateParams(players = PLAYERS, foul_allowance = FOUL_ALLOWANCE);
    told {
        /// Gold to divide.
        gold: i64 = 100, in 1..=LARGEST_AMOUNT;
    }
    alike {
        /// Accept negative shares in a plan, as the published games did; for replays.
        lenient: bool = false;
    }
    declared {
        /// What theory says; worked out when it is first asked.
        #[serde(skip)]
        theory: OnceLock<Arc<Theory>> = OnceLock::new();
    }
}

impl PirateParams {
    fn theory(&self) -> &Arc<Theory> {
        let solve = || Arc::new(Theory::new(self.players, self.gold));
        self.theory.get_or_init(solve)
    }
}

impl Rules for PirateParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("pirate"),
        title: Name::Borrowed("Pirate Game"),
        summary: Name::Borrowed(
            "propose how to divide gold; a proposer without a majority goes overboard",
        ),
        // A session may need one vote of every pirate on every plan.
        seats: (2, 100),
        timing: Timing::Sequential,
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 8"),
        facts: FactNames {
            in_play: Some(Name::Borrowed("order")),
            ..FactNames::NONE
        },
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = PirateState;

    /// The last pirate but one votes on every plan before its own, which is
    /// always accepted: its own vote is half of two.
    fn asks_per_seat(&self) -> u32 {
        self.players as u32 - 1
    }

    /// Most recorded games ended with the first or second plan.
    fn usual_asks_per_seat(&self) -> u32 {
        self.asks_per_seat().min(2)
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, self.gold as f64)
    }

    fn start(self: &Arc<Self>, _chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let mut state = PirateState {
            payoffs: vec![0.0; self.players],
            params: Arc::clone(self),
            asks: Vec::with_capacity(self.players),
            proposer: 0,
            plan: None,
        };
        state.ask_for_plan();
        state
    }

    fn equilibrium(&self) -> Equilibrium {
        scores::equilibrium(self, self.theory())
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        scores::measures(self, log)
    }
}

/// The game in progress.
#[derive(Clone)]
pub struct PirateState {
    params: Arc<PirateParams>,
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
        let setup = self.params.setup();
        self.asks
            .push(setup.ask(self.proposer, AskRole::Proposal, "proposal", form));
    }

    fn put_to_vote(&mut self, plan: Vec<i64>, log: &mut EventLog) {
        let share = |seat: Seat| Some(plan[seat.checked_sub(self.proposer)?]);
        log.push(
            self.event("proposal")
                .fact("order", self.alive().collect::<Vec<Seat>>())
                .fact("plan", plan.clone())
                .own("share", column((0..self.params.players).map(share))),
        );
        let setup = self.params.setup();
        let ask = |seat| setup.ask(seat, AskRole::Vote, "vote", Form::choice(VOTES));
        self.asks.extend(self.alive().skip(1).map(ask));
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
