//! El Farol bar.
//!
//! In every round each player goes to the bar or stays home, all at the same
//! time. When at most `ratio` of all players go, the bar is good and going pays
//! `max`; otherwise it is crowded and going pays `min`. Staying pays `home`.
//! Everybody is told its own payoff; how many went is told to all players in
//! mode `explicit`, and only to those who went in mode `implicit`. A forfeited
//! ask stays home.
//!
//! Source: Huang et al., arXiv 2403.11807, section 3.1 and appendix C.

use super::prelude::*;

mod players;

/// The word for going to the bar.
pub const GO: &str = "go";

/// The word for staying home.
pub const STAY: &str = "stay";

/// What can be done.
const CHOICES: &[Name] = &[Name::Borrowed(GO), Name::Borrowed(STAY)];

parameters! {
    /// Parameters of the game.
    pub struct BarParams(
        players = PLAYERS, rounds = ROUNDS, foul_allowance = FOUL_ALLOWANCE
    );
    told {
        /// Largest share of the players that the bar holds.
        ratio: f64 = 0.6, in 0.0..=1.0;
        /// What going pays when the bar is good.
        max: i64 = 10, in -LARGEST_AMOUNT..=LARGEST_AMOUNT;
        /// What going pays when the bar is crowded.
        min: i64 = 0, in -LARGEST_AMOUNT..=LARGEST_AMOUNT;
        /// What staying home pays.
        home: i64 = 5;
        /// Who is told how many went.
        mode: Mode = Mode::Implicit;
    }
    alike {
        /// Accept what the published game accepted. It asked again for anything but
        /// "go" and "stay", so this changes nothing here.
        lenient: bool = false;
    }
}

/// Who is told how many went to the bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Only those who were there.
    Implicit,
    /// Everybody.
    Explicit,
}

impl BarParams {
    /// Whether the bar is good for this many guests. The only place that
    /// compares with the ratio: products like 0.29 * 100 are not what they seem.
    fn is_good(&self, goers: usize) -> bool {
        self.share(goers) <= self.ratio
    }

    fn share(&self, goers: usize) -> f64 {
        goers as f64 / self.players as f64
    }

    /// The most guests for whom the bar is good.
    pub fn capacity(&self) -> usize {
        (0..=self.players)
            .rev()
            .find(|goers| self.is_good(*goers))
            .unwrap_or(0)
    }
}

impl Rules for BarParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("el_farol"),
        title: Name::Borrowed("El Farol Bar"),
        summary: Name::Borrowed("go to the bar or stay home; going pays unless too many go"),
        source: Name::Borrowed("gamma-Bench, arXiv 2403.11807, game 2"),
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = Rounds<Self>;

    fn settle(&mut self) -> Result<(), ParameterError> {
        check_max(self.min, self.max)?;
        check_within("home", self.home, self.min..=self.max)
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        bounds_over(self.rounds, self.min as f64, self.max as f64)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        log.push(self.briefing());
        let form = Form::choice(CHOICES);
        let ask = self.setup().ask(0, AskRole::Choice, "choice", form);
        Rounds::start(Self::clone(self), self.setup(), &ask, chance, log)
    }

    /// With the bar exactly full nobody gains by changing: a guest would get
    /// `home` instead of `max`, one more guest `min` instead of `home`.
    fn equilibrium(&self) -> Equilibrium {
        let capacity = self.capacity();
        let distance = (self.share(capacity) - self.ratio).abs();
        let value = score_at(self, distance);
        Equilibrium::exact(
            format!("the first {capacity} seats go, the others stay home"),
            [("iclr2025", value), ("arxiv2024", value)],
        )
    }

    /// Scores of both schemes (arXiv 2403.11807, section 3.1 and version 1, appendix
    /// C): with S = mean |share of goers - ratio| and W = max(ratio, 1 - ratio) both
    /// are (W - S) / W * 100.
    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        let mut measures = Measures::default();
        let shares = series_of(log, "round_result", "share");
        if shares.is_empty() {
            return measures;
        }
        let distance = mean(shares.iter().map(|share| (share - self.ratio).abs()));
        let value = score_at(self, distance);
        measures.score("iclr2025", value);
        measures.score("arxiv2024", value);
        measures.part("S", distance);
        let deviations = shares.iter().map(|share| share_deviation(*share));
        measures.series("sd", deviations.collect());
        measures.series("mean", shares);
        measures
    }
}

impl RoundRules for BarParams {
    fn play(&mut self, round: Round<'_>) -> Vec<f64> {
        let answers = round.answers;
        let choice = |answer: &Answer| Some(if answer.choice()? == GO { GO } else { STAY });
        let went = |answer: &Answer| choice(answer) == Some(GO);
        let goers = answers.iter().filter(|answer| went(answer)).count();
        let (share, good) = (self.share(goers), self.is_good(goers));
        let evening = if good { self.max } else { self.min };
        let paid: Vec<i64> = answers
            .iter()
            .map(|answer| if went(answer) { evening } else { self.home })
            .collect();
        let gains = paid.iter().map(|paid| *paid as f64).collect();
        round.log.push(
            Event::new("round_result", round.number)
                .own("choice", column(answers.iter().map(choice)))
                .own("payoff", paid)
                .hidden("goers", goers)
                .hidden("share", share)
                .hidden("good", good),
        );
        let report = Event::new("bar_report", round.number)
            .fact("goers", goers)
            .fact("stayers", self.players - goers)
            .fact("share", share)
            .fact("good", good);
        match self.mode {
            Mode::Explicit => round.log.push(report),
            Mode::Implicit if goers == 0 => {}
            Mode::Implicit => {
                let guests = seats_where(answers.iter().map(went));
                round.log.push(report.only_for(guests));
            }
        }
        gains
    }
}

/// The score of both schemes from the mean distance between share and ratio.
fn score_at(params: &BarParams, distance: f64) -> f64 {
    let widest = larger(params.ratio, 1.0 - params.ratio);
    (widest - distance) / widest * 100.0
}

#[cfg(test)]
mod tests;
