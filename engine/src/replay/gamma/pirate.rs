//! Recorded rounds of the pirate game: a proposal, then the votes on it, so a
//! recorded round is two turns of ours. Lists run from the proposer on.

use serde::Deserialize;

use super::super::check::Check;
use super::{Played, Round, words};
use crate::ask::{Action, Ask, Seat};
use crate::event::Value;

/// One round.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Vote {
    actions: Actions,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Actions {
    proposer: Seat,
    proposal: Vec<i64>,
    votes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    accepts: i64,
    voters: i64,
    accepted: bool,
    /// Null while the game goes on.
    payoffs: Option<Vec<f64>>,
}

impl Round for Vote {
    const GAME: &'static str = "pirate";
    const TURNS: u32 = 2;

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        let Actions {
            proposer,
            proposal,
            votes,
        } = &self.actions;
        if ask.kind == "proposal" {
            if *proposer != ask.seat {
                return Err(format!(
                    "recorded proposer {proposer}, computed {}",
                    ask.seat
                ));
            }
            return Ok(Action::Division(proposal.clone()));
        }
        let place = ask.seat.checked_sub(*proposer);
        let vote = place.and_then(|place| votes.get(place)).cloned();
        let vote = vote.ok_or_else(|| format!("the record has {} votes", votes.len()))?;
        Ok(Action::Choice(vote.into()))
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let outcome = &self.outcome;
        check.same(
            "proposer",
            self.actions.proposer,
            played.value("proposal", "proposer"),
        );
        let plan = played.value("proposal", "plan");
        check.same("proposal", self.actions.proposal.clone(), plan);
        let computed = |name| played.value("vote_result", name);
        check.same("votes", words(&self.actions.votes), computed("votes"));
        check.same("accepts", outcome.accepts, computed("accepts"));
        check.same("voters", outcome.voters, computed("voters"));
        let accepted = computed("accepted");
        let ends = accepted.as_ref().and_then(Value::flag) == Some(true);
        check.same("accepted", outcome.accepted, accepted);
        match (&outcome.payoffs, ends) {
            (Some(payoffs), true) => {
                check.same("payoffs", payoffs.clone(), Some(played.play.payoffs()));
            }
            (None, false) => {}
            (Some(_), false) => check.fault("payoffs are recorded, but the game goes on"),
            (None, true) => check.fault("no payoffs are recorded, but the game is over"),
        }
    }
}
