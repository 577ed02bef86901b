//! The game in progress: choices, the target, who is closest, health,
//! who is out. Rules in prose and parameters are in `guess_to_survive.rs`, which opens
//! it; what is measured is in `scores.rs`.

use super::SurvivalParams;
use crate::games::prelude::*;

/// The game in progress.
#[derive(Clone)]
pub struct SurvivalState {
    params: Arc<SurvivalParams>,
    /// By seat; 0 for who is out.
    health: Vec<i64>,
    wins: Vec<u32>,
    asks: Vec<Ask>,
    round: u32,
}

/// What the numbers of a round come to.
struct Verdict {
    mean: f64,
    target: f64,
    winners: Vec<Seat>,
}

impl Verdict {
    /// Numbers by seat; `None` when nobody gave one.
    fn of(choices: &[Option<i64>], params: &SurvivalParams) -> Option<Self> {
        let given: Vec<i64> = choices.iter().flatten().copied().collect();
        let first = *given.first()?;
        let average = mean(given.iter().map(|number| *number as f64));
        let target = average * params.ratio;
        let draw = given.len() > 1 && given.iter().all(|number| *number == first);
        let winners = if draw {
            Vec::new()
        } else {
            let choices: Vec<Option<f64>> = choices
                .iter()
                .map(|choice| choice.map(|number| number as f64))
                .collect();
            closest(&choices, target, params.max as f64)
        };
        Some(Self {
            mean: average,
            target,
            winners,
        })
    }
}

impl State for SurvivalState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn advance(&mut self, answers: &[Answer], _chance: &mut Chance, log: &mut EventLog) {
        let mut choices = vec![None; self.health.len()];
        for (ask, answer) in self.asks.iter().zip(answers) {
            choices[ask.seat] = answer.integer();
        }
        let verdict = Verdict::of(&choices, &self.params);
        let (average, target) = match &verdict {
            Some(verdict) => (Some(verdict.mean), Some(verdict.target)),
            None => (None, None),
        };
        let winners = verdict.map(|verdict| verdict.winners).unwrap_or_default();
        let played: Vec<Seat> = self.asks.iter().map(|ask| ask.seat).collect();
        let mut won = vec![false; choices.len()];
        for winner in &winners {
            won[*winner] = true;
        }
        let eliminated = self.settle(&played, &won);
        let mut health = vec![None; choices.len()];
        for seat in &played {
            health[*seat] = Some(self.health[*seat]);
        }
        log.push(
            Event::new("round_result", self.round)
                .fact("choices", column(choices.iter().copied()))
                .fact("mean", average)
                .fact("target", target)
                .fact("winners", winners)
                .fact("health", column(health.iter().copied()))
                .fact("eliminated", eliminated)
                .fact("living", self.living())
                .own("choice", column(choices.iter().copied()))
                .own("won", won)
                .only_for(played),
        );
        self.round += 1;
        self.ask();
    }

    fn payoffs(&self) -> Vec<f64> {
        self.wins.iter().copied().map(f64::from).collect()
    }
}

impl SurvivalState {
    /// Opens the first round.
    pub(super) fn open(params: &Arc<SurvivalParams>, log: &mut EventLog) -> Self {
        log.push(params.briefing());
        let mut state = Self {
            params: Arc::clone(params),
            health: vec![params.health; params.players],
            wins: vec![0; params.players],
            asks: Vec::new(),
            round: 1,
        };
        state.ask();
        state
    }

    /// The seats with health left.
    fn living(&self) -> Vec<Seat> {
        let all = self.health.iter().enumerate();
        all.filter(|(_, health)| **health > 0)
            .map(|(seat, _)| seat)
            .collect()
    }

    /// Counts wins, takes health from the others; who has none left.
    fn settle(&mut self, played: &[Seat], won: &[bool]) -> Vec<Seat> {
        let mut eliminated = Vec::new();
        for seat in played.iter().copied() {
            if won[seat] {
                self.wins[seat] += 1;
                continue;
            }
            self.health[seat] = (self.health[seat] - self.params.loss).max(0);
            if self.health[seat] == 0 {
                eliminated.push(seat);
            }
        }
        eliminated
    }

    /// Asks the living, while there are rounds to play.
    fn ask(&mut self) {
        self.asks = if self.round > self.params.rounds {
            Vec::new()
        } else {
            let SurvivalParams { min, max, .. } = *self.params;
            let setup = self.params.setup();
            let ask = |seat| setup.ask(seat, AskRole::Guess, "choice", Form::integer(min, max));
            self.living().into_iter().map(ask).collect()
        };
    }
}
