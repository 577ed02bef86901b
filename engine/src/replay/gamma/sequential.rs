//! Recorded rounds of the games in which players move one after another: turns of battle
//! royale, proposals and votes of pirates. Played by the frame in `gamma.rs`.

use super::super::check::Check;
use super::super::{Scripted, forms};
use super::{Derived, Played, Round, round};
use crate::ask::{Action, Ask, Seat};
use crate::chance::HITS;
use crate::event::Value;

round! {
    /// A turn of battle royale, which the record calls a round. A shot at a player who is
    /// out draws nothing, so its `hit` is null.
    Shot {
        actions: Aim,
        chance: Draw,
    }
    ShotOutcome {
        /// "miss" for holding fire, otherwise "shoot".
        action: String,
        out: bool,
        alive_before: Vec<Seat>,
        alive_after: Vec<Seat> = "alive",
    }
}

forms! {
    struct Aim {
        shooter: Seat,
        target: Option<Seat>,
    }

    struct Draw {
        hit: Option<bool>,
    }
}

impl Round for Shot {
    const GAME: &'static str = "battle_royale";
    const DERIVED: &'static [Derived] = &[Derived::Told("hit_rates")];

    fn script(&self, round: u32, script: &mut Vec<Scripted>) {
        if let Some(hit) = self.chance.hit {
            script.push((HITS, round, hit.into()));
        }
    }

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        let shooter = self.actions.shooter;
        if shooter != ask.seat {
            return Err(format!("recorded shooter {shooter}, computed {}", ask.seat));
        }
        Ok(self.actions.target.map_or(Action::Pass, Action::Target))
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let computed = |name: &str| played.value("shot", name);
        self.compare_named(computed, check);
        check.same("shooter", self.actions.shooter, computed("shooter"));
        check.same("target", self.actions.target, computed("target"));
        let result = computed("result");
        let result = result.as_ref().and_then(Value::text);
        let action = result.map(|result| match result {
            "held_fire" => "miss",
            _ => "shoot",
        });
        check.same("action", self.outcome.action.clone(), action);
        check.same(
            "out",
            self.outcome.out,
            result.map(|result| result == "hit"),
        );
        let before = self.outcome.alive_before.clone();
        check.same("alive_before", before, living_before(played));
    }
}

/// Who lived before a shot: those after the one before, or everybody.
fn living_before(played: &Played<'_>) -> Option<Value> {
    if played.round == 1 {
        let everybody: Vec<Seat> = (0..played.play.game().seats()).collect();
        return Some(everybody.into());
    }
    let previous = Played {
        round: played.round - 1,
        ..*played
    };
    previous.value("shot", "alive")
}

round! {
    /// A round of the pirate game: a proposal, then the votes on it, so two turns of ours.
    /// Lists run from the proposer on.
    Vote {
        actions: Plan,
    }
    VoteOutcome {
        accepts: i64 = "accepts",
        voters: i64 = "voters",
        accepted: bool = "accepted",
        /// Null while the game goes on.
        payoffs: Option<Vec<f64>>,
    }
}

forms! {
    struct Plan {
        proposer: Seat,
        proposal: Vec<i64>,
        votes: Vec<String>,
    }
}

impl Round for Vote {
    const GAME: &'static str = "pirate";
    const TURNS: u32 = 2;

    fn answer(&self, ask: &Ask) -> Result<Action, String> {
        let Plan {
            proposer,
            proposal,
            votes,
        } = &self.actions;
        if ask.kind == "proposal" {
            return match *proposer == ask.seat {
                true => Ok(Action::Division(proposal.clone())),
                false => Err(format!(
                    "recorded proposer {proposer}, computed {}",
                    ask.seat
                )),
            };
        }
        let place = ask.seat.checked_sub(*proposer);
        let vote = place.and_then(|place| votes.get(place)).cloned();
        let vote = vote.ok_or_else(|| format!("the record has {} votes", votes.len()))?;
        Ok(Action::Choice(vote.into()))
    }

    fn compare(&self, played: &Played<'_>, check: &mut Check) {
        let computed = |name: &str| played.value("vote_result", name);
        self.compare_named(computed, check);
        let proposed = |name| played.value("proposal", name);
        check.same("proposer", self.actions.proposer, proposed("proposer"));
        check.same("proposal", self.actions.proposal.clone(), proposed("plan"));
        check.same("votes", self.actions.votes.clone(), computed("votes"));
        let ends = computed("accepted") == Some(Value::Flag(true));
        match (&self.outcome.payoffs, ends) {
            (Some(payoffs), true) => {
                check.same("payoffs", payoffs.clone(), Some(played.play.payoffs()));
            }
            (None, false) => {}
            (Some(_), false) => check.fault("payoffs are recorded, but the game goes on"),
            (None, true) => check.fault("no payoffs are recorded, but the game is over"),
        }
    }
}
