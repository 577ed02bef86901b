//! Recorded turns of battle royale; a "round" of the record is one turn.
//! A shot at a player who is out draws nothing, so its `hit` is null.

use serde::Deserialize;

use super::super::check::Check;
use super::{Derived, Played, Round, Scripted};
use crate::ask::{Action, Ask, Seat};
use crate::chance::HITS;
use crate::event::Value;

/// One turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shot {
    actions: Aim,
    chance: Draw,
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Aim {
    shooter: Seat,
    target: Option<Seat>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Draw {
    hit: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Outcome {
    /// "miss" for holding fire, otherwise "shoot".
    action: String,
    out: bool,
    alive_before: Vec<Seat>,
    alive_after: Vec<Seat>,
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
        let computed = |name| played.value("shot", name);
        let outcome = &self.outcome;
        check.same("shooter", self.actions.shooter, computed("shooter"));
        check.same("target", self.actions.target, computed("target"));
        let result = computed("result");
        let result = result.as_ref().and_then(Value::text);
        let action = result.map(|result| {
            if result == "held_fire" {
                "miss"
            } else {
                "shoot"
            }
        });
        check.same("action", outcome.action.clone(), action);
        check.same("out", outcome.out, result.map(|result| result == "hit"));
        check.same(
            "alive_before",
            outcome.alive_before.clone(),
            self.living_before(played),
        );
        check.same(
            "alive_after",
            outcome.alive_after.clone(),
            computed("alive"),
        );
    }
}

impl Shot {
    /// Who lived before the shot: those after the one before, or everybody.
    fn living_before(&self, played: &Played<'_>) -> Option<Value> {
        let Some(before) = played.round.checked_sub(1).filter(|round| *round > 0) else {
            let everybody: Vec<Seat> = (0..played.play.game().seats()).collect();
            return Some(everybody.into());
        };
        let previous = Played {
            round: before,
            ..*played
        };
        previous.value("shot", "alive")
    }
}
