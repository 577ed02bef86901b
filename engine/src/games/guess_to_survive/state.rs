//! What a round means: choices, the target, who is closest, health, who is out. Rules in
//! prose and parameters are in `guess_to_survive.rs`, which opens it; what is
//! measured is in `scores.rs`.

use super::SurvivalParams;
use crate::games::prelude::*;

/// What a round means.
#[derive(Clone)]
pub struct SurvivalRound {
    pub(super) params: Arc<SurvivalParams>,
    /// By seat; 0 for who is out.
    pub(super) health: Vec<i64>,
}

/// The mean of the numbers by seat, and who is closest to the target, their `ratio`; `None`
/// when nobody gave one.
fn verdict(choices: &[Option<i64>], params: &SurvivalParams) -> Option<(f64, Vec<Seat>)> {
    let choices = choices
        .iter()
        .map(|choice| choice.map(|number| number as f64));
    let choices: Vec<Option<f64>> = choices.collect();
    let given: Vec<f64> = choices.iter().flatten().copied().collect();
    let first = given.first()?;
    let average = mean(given.iter().copied());
    let is_draw = given.len() > 1 && given.iter().all(|number| number == first);
    let winners = if is_draw {
        Vec::new()
    } else {
        closest(&choices, average * params.ratio, params.max as f64)
    };
    Some((average, winners))
}

impl RoundRules for SurvivalRound {
    fn is_out(&self, seat: Seat) -> bool {
        self.health[seat] == 0
    }

    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let mut choices = vec![None; self.health.len()];
        for (ask, answer) in round.asks.iter().zip(round.answers) {
            choices[ask.seat] = answer.integer();
        }
        let (average, winners) = verdict(&choices, &self.params).unzip();
        let target = average.map(|average| average * self.params.ratio);
        let winners = winners.unwrap_or_default();
        let played: Vec<Seat> = round.asks.iter().map(|ask| ask.seat).collect();
        let mut won = vec![false; choices.len()];
        for winner in &winners {
            won[*winner] = true;
        }
        let eliminated = self.settle(&played, &won);
        let mut health = vec![None; choices.len()];
        for seat in &played {
            health[*seat] = Some(self.health[*seat]);
        }
        let living: Vec<Seat> = played
            .iter()
            .copied()
            .filter(|seat| !self.is_out(*seat))
            .collect();
        let gains = won.iter().map(|won| f64::from(u8::from(*won))).collect();
        round.log.push(
            Event::new("round_result", round.number)
                .fact("choices", column(choices.iter().copied()))
                .fact("mean", average)
                .fact("target", target)
                .fact("winners", winners)
                .fact("health", column(health.iter().copied()))
                .fact("eliminated", eliminated)
                .fact("living", living)
                .own("choice", column(choices.iter().copied()))
                .own("won", won)
                .only_for(played),
        );
        gains
    }
}

impl SurvivalRound {
    /// Takes health from who did not win; who has none left.
    fn settle(&mut self, played: &[Seat], won: &[bool]) -> Vec<Seat> {
        let mut eliminated = Vec::new();
        for seat in played.iter().copied().filter(|seat| !won[*seat]) {
            self.health[seat] = (self.health[seat] - self.params.loss).max(0);
            if self.health[seat] == 0 {
                eliminated.push(seat);
            }
        }
        eliminated
    }
}
