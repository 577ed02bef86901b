//! Battle Royale.
//!
//! Players take turns in seat order, which is the order of their hit rates:
//! player i hits with `base_hit_rate` + i * `interval` percent. Who is to shoot
//! names another living player, or misses on purpose. A player who is hit is out
//! at once. The game ends when one player is left, or after `max_turns` turns.
//! Those who live see every shot. The last one standing gets 1; when turns run
//! out, the living share it. A forfeited ask holds fire.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C; the
//! authors' code for lenient answers, in which a shot at a dead player is wasted
//! and players may shoot themselves.

use super::prelude::*;

mod players;

/// The word for missing on purpose.
const MISS: &str = "miss";

parameters! {
    /// Parameters of the game.
    pub struct BattleParams(players = PLAYERS, foul_allowance = FOUL_ALLOWANCE);
    deducible "everybody is told everybody's hit rate" {
        /// Hit rate of the first player, in percent.
        base_hit_rate: u32 = 35, in 0..=100;
        /// By how much the hit rate grows from player to player, in percent.
        interval: u32 = 5, in 0..=100;
    }
    hidden "players are not told that turns end" {
        /// Most turns; one turn is one player's shot.
        max_turns: u32 = 20, in 1..=MOST_ROUNDS;
    }
    alike {
        /// Accept shots at dead players and at oneself, as the published games did;
        /// for replays.
        lenient: bool = false;
    }
}

impl BattleParams {
    fn hit_rate(&self, seat: Seat) -> u32 {
        self.base_hit_rate + seat as u32 * self.interval
    }
}

impl Rules for BattleParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("battle_royale"),
        title: Name::Borrowed("Battle Royale"),
        summary: Name::Borrowed("take turns shooting until one is left; the weakest shoots first"),
        timing: Timing::Sequential,
        chance: true,
        hidden_information: false,
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 7"),
        facts: FactNames {
            in_play: Some(Name::Borrowed("alive")),
            ..FactNames::NONE
        },
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = BattleState;

    fn settle(&mut self) -> Result<(), ParameterError> {
        let last = self.players - 1;
        let highest = self.hit_rate(last);
        require!(
            highest <= 100,
            "interval",
            "player_{last} would hit in {highest} percent of its shots: base_hit_rate + {last} * \
             interval must be at most 100"
        );
        Ok(())
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        vec![Disclosure::to_everybody("those who live see whether a shot hits", &[]).draws(&[HITS])]
    }

    /// Nobody shoots twice in a row.
    fn asks_per_seat(&self) -> u32 {
        self.max_turns.div_ceil(2)
    }

    /// Turns go round the table.
    fn usual_asks_per_seat(&self) -> u32 {
        self.max_turns.div_ceil(self.players as u32)
    }

    /// Every turn lists the players who are left.
    fn values_per_ask(&self) -> u64 {
        12 + 3 * self.players as u64
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    /// Players are told the hit rates, not the law behind them nor that turns
    /// end, as in the published game.
    fn start(self: &Arc<Self>, _chance: &mut Chance, log: &mut EventLog) -> Self::State {
        let seats = 0..self.players;
        let rates: Vec<i64> = seats
            .clone()
            .map(|seat| i64::from(self.hit_rate(seat)))
            .collect();
        let positions: Vec<usize> = seats.clone().map(|seat| seat + 1).collect();
        log.push(
            self.briefing()
                .fact("hit_rates", rates.clone())
                .own("hit_rate", rates)
                .own("position", positions),
        );
        let mut state = BattleState {
            params: Arc::clone(self),
            asks: Vec::with_capacity(1),
            living: seats.collect(),
            turn: 1,
        };
        state.ask(0);
        state
    }

    /// The play that the source counts as right: it removes who is the greatest
    /// danger to oneself. Whether it is an equilibrium of ten shooters who may
    /// also miss on purpose is not known.
    fn equilibrium(&self) -> Equilibrium {
        Equilibrium::exact(
            "everybody shoots at the other living player with the highest hit rate",
            [("iclr2025", 100.0), ("arxiv2024", 100.0)],
        )
    }

    /// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
    /// C): with S the share of turns that shot at the living other player with the
    /// highest hit rate, both are 100 S. Missing on purpose is not right.
    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        let (mut correct, mut turns) = (0u32, 0u32);
        let mut running = Vec::new();
        for shot in log.of_kind("shot") {
            turns += 1;
            correct += u32::from(shot.get("at_strongest") == Some(&Value::Flag(true)));
            running.push(f64::from(correct) / f64::from(turns));
        }
        let Some(share) = running.last().copied() else {
            return measures;
        };
        measures.score("iclr2025", share * 100.0);
        measures.score("arxiv2024", share * 100.0);
        measures.part("S", share);
        measures.part("correct", f64::from(correct));
        measures.part("turns", f64::from(turns));
        measures.series("at_strongest", running);
        measures.series("remaining", series_of(log, "shot", "remaining"));
        measures
    }
}

/// The game in progress.
#[derive(Clone)]
pub struct BattleState {
    params: Arc<BattleParams>,
    asks: Vec<Ask>,
    /// Who lives, in seat order.
    living: Vec<Seat>,
    turn: u32,
}

impl State for BattleState {
    fn asks(&self) -> &[Ask] {
        &self.asks
    }

    fn advance(&mut self, answers: &[Answer], chance: &mut Chance, log: &mut EventLog) {
        // There is exactly one ask while the game lasts, hence one answer.
        let (Some(ask), Some(answer)) = (self.asks.pop(), answers.first()) else {
            return;
        };
        let shooter = ask.seat;
        let target = match answer.action() {
            Some(Action::Target(seat)) => Some(*seat),
            _ => None,
        };
        let witnesses = self.living.clone();
        let strongest = self.strongest_other(shooter);
        let at_strongest = target.is_some_and(|target| {
            target != shooter && self.lives(target) && self.rate(target) >= self.rate(strongest)
        });
        let result = self.shoot(shooter, target, chance);
        log.push(
            Event::new("shot", self.turn)
                .only_for(witnesses)
                .fact("shooter", shooter)
                .fact("target", target)
                .fact("result", result)
                .fact("alive", self.living.clone())
                .fact("remaining", self.living.len())
                .hidden("strongest", strongest)
                .hidden("at_strongest", at_strongest),
        );
        self.turn += 1;
        if self.living.len() > 1 && self.turn <= self.params.max_turns {
            let after = self.living.iter().find(|seat| **seat > shooter);
            let next = after.or(self.living.first());
            self.ask(next.copied().unwrap_or(shooter));
        }
    }

    /// As if the game ended now: the living share the prize.
    fn payoffs(&self) -> Vec<f64> {
        let mut payoffs = vec![0.0; self.params.players];
        for seat in &self.living {
            payoffs[*seat] = 1.0 / self.living.len() as f64;
        }
        payoffs
    }
}

impl BattleState {
    fn lives(&self, seat: Seat) -> bool {
        self.living.binary_search(&seat).is_ok()
    }

    fn rate(&self, seat: Seat) -> u32 {
        self.params.hit_rate(seat)
    }

    /// The living player with the highest hit rate besides the shooter: rates
    /// grow with seats, so it is the last one.
    fn strongest_other(&self, shooter: Seat) -> Seat {
        let others = self.living.iter().rev().find(|seat| **seat != shooter);
        // At least two live whenever somebody is asked.
        others.copied().unwrap_or(shooter)
    }

    fn shoot(&mut self, shooter: Seat, target: Option<Seat>, chance: &mut Chance) -> &'static str {
        let Some(target) = target else {
            return "held_fire";
        };
        let Ok(place) = self.living.binary_search(&target) else {
            return "wasted";
        };
        if !chance.percent(HITS, self.turn, self.rate(shooter)) {
            return "missed";
        }
        self.living.remove(place);
        "hit"
    }

    fn ask(&mut self, shooter: Seat) {
        let seats = if self.params.lenient {
            (0..self.params.players).collect()
        } else {
            self.living
                .iter()
                .copied()
                .filter(|seat| *seat != shooter)
                .collect()
        };
        let pass = Some(Name::Borrowed(MISS));
        let form = Form::Target { seats, pass };
        let ask = self
            .params
            .setup()
            .ask(shooter, AskRole::Target, "shot", form);
        self.asks.push(ask);
    }
}

#[cfg(test)]
mod tests;
