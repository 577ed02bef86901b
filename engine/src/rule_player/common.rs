//! The rule players that every game has: uniformly random and fixed answers. A game's own
//! are in its folder.

use serde_json::Value;

use super::{Made, Request, RulePlayer, StrategyError};
use crate::ask::{Action, Ask, Form};
use crate::chance::Generator;
use crate::view::View;

/// Name of the strategy of [`Specified`], the only one that cannot do without settings.
pub const SPECIFIED: &str = "specified";

/// Draws uniformly from the form of each ask.
pub struct Random;

/// Width of the range that stands in for an open end of an integer form.
const OPEN_RANGE: i64 = 100;

impl RulePlayer for Random {
    fn act(&mut self, ask: &Ask, _view: &View<'_>, luck: &mut Generator) -> Action {
        match &ask.form {
            Form::Integer { min, max, pass } => {
                let low =
                    min.unwrap_or_else(|| max.map_or(0, |max| max.saturating_sub(OPEN_RANGE)));
                let high = max.unwrap_or_else(|| low.saturating_add(OPEN_RANGE));
                // A seat that may pass does so half of the time: ranges of
                // amounts are wide and would drown the pass otherwise.
                if pass.is_some() && (luck.below(2) == 0 || low > high) {
                    return Action::Pass;
                }
                Action::Integer(luck.between(low, high))
            }
            Form::Amount { min, max } => {
                let high = max.unwrap_or_else(|| min.saturating_add(OPEN_RANGE));
                Action::Integer(luck.between(*min, high))
            }
            Form::Number { min, max } => Action::Number(min + luck.unit() * (max - min)),
            Form::Choice { options } => {
                let place = luck.below(options.len() as u64) as usize;
                Action::Choice(options[place].clone())
            }
            Form::Target { seats, pass } => {
                let count = seats.len() + usize::from(pass.is_some());
                let place = luck.below(count as u64) as usize;
                seats
                    .get(place)
                    .map_or(Action::Pass, |seat| Action::Target(*seat))
            }
            Form::Division { parts, total } => {
                Action::Division(random_division(*parts, *total, luck))
            }
        }
    }
}

impl Request<'_> {
    /// A player that always gives the same answer.
    ///
    /// # Errors
    /// As [`Request::made`].
    pub fn always(&self, action: Action) -> Made {
        self.plays(move |_, _, _| action.clone())
    }
}

/// Cuts `0..=total` at random places: every division is possible.
fn random_division(parts: usize, total: i64, luck: &mut Generator) -> Vec<i64> {
    let mut cuts: Vec<i64> = (1..parts).map(|_| luck.between(0, total)).collect();
    cuts.sort_unstable();
    cuts.push(total);
    let mut previous = 0;
    let mut amounts = Vec::with_capacity(parts);
    for cut in cuts {
        amounts.push(cut - previous);
        previous = cut;
    }
    amounts
}

/// Says fixed answers one after another and starts again at the end.
pub struct Specified {
    answers: Vec<Value>,
    next: usize,
}

impl Specified {
    /// Reads the setting `answers`.
    ///
    /// # Errors
    /// `answers` is missing or empty.
    pub fn new(request: &Request<'_>) -> Result<Self, StrategyError> {
        let answers: Vec<Value> = request.get("answers", Vec::new())?;
        if answers.is_empty() {
            return Err(request.wrong("answers must hold at least one answer"));
        }
        Ok(Self { answers, next: 0 })
    }
}

impl RulePlayer for Specified {
    fn act(&mut self, ask: &Ask, _view: &View<'_>, _luck: &mut Generator) -> Action {
        let answer = &self.answers[self.next % self.answers.len()];
        self.next += 1;
        ask.form
            .read(answer)
            .unwrap_or_else(|_| no_answer(&ask.form))
    }
}

/// An answer that the check refuses: its foul says what would be legal.
fn no_answer(form: &Form) -> Action {
    match form {
        Form::Choice { .. } => Action::Pass,
        _ => Action::Choice("".into()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::ask::FoulKind;
    use crate::chance::{Chance, Luck};
    use crate::games::testing::{game, rule_player};
    use crate::play::Play;
    use crate::view::View;

    #[test]
    fn an_answer_that_cannot_be_read_is_a_foul_and_no_pass() {
        let mut luck = Chance::seeded(Luck::new(1, 0)).for_rule_player(0);
        for (name, answer) in [
            ("battle_royale", json!("nonsense")),
            ("english_auction", json!("nonsense")),
            ("guess_two_thirds", json!("nonsense")),
            ("beauty_contest", json!([1])),
            ("el_farol", json!(5)),
            ("pirate", json!("nonsense")),
            ("water_allocation", json!("nonsense")),
        ] {
            let game = game(name, json!({}));
            let seats = (0..game.seats()).map(|_| None).collect();
            let play = Play::start(game.clone(), Chance::seeded(Luck::new(1, 0)), seats);
            let ask = play.waiting().next().unwrap();
            let mut player = rule_player(&*game, "specified", json!({"answers": [answer]}), 0);
            let action = player.act(ask, &View::new(ask.seat, &[]), &mut luck);
            let foul = ask.form.check(&action).unwrap_err();
            assert_eq!(foul.kind, FoulKind::WrongType, "{name}");
        }
        let game = game("battle_royale", json!({"players": 2}));
        let player = rule_player(&*game, "specified", json!({"answers": ["nonsense"]}), 0);
        let chance = Chance::seeded(Luck::new(1, 0));
        let play = Play::start(game, chance, vec![Some(player), None]);
        assert!(play.moves().iter().any(|made| !made.fouls.is_empty()));
    }
}
