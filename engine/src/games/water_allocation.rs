//! Water Allocation Challenge.
//!
//! Residents of a dry town live through `rounds` days, one round each. On a day
//! every living resident gets its salary, the supply of water is announced, and
//! each makes one sealed bid for its whole requirement. Water goes again and again
//! to the highest bid whose requirement still fits into what is left and which is
//! not above the bidder's balance; who wins pays its own bid. Of equal bids the
//! lower requirement comes first, or chance decides (`ties`); chance also decides
//! between equal ones of equal requirement; or nobody wins: all equal highest bids
//! are passed over, and the water that they would have had is lost for the day,
//! counted from the lowest requirement. A bid of 0 is no bid, unless
//! `zero_bids_win`. Winners gain `health_gain`, up to `health_max`, and their count
//! of days without water starts anew at `dry_days_start`; all others lose as much
//! health as the count says, which then grows by 1. A resident without health is
//! out, its balance lost. Then bids, winners, balances, health and counts are
//! public. Bids have cents. A forfeit is no bid. The living have payoff 1, others 0.
//!
//! Source: Mao et al., arXiv 2311.03220, section 3.1, prompts in appendix A.1. The survival
//! auction of Zhang et al., arXiv 2402.01521, appendix B.2, is this game with equal
//! residents, water for one of them, and nobody served after a tie.

use std::borrow::Cow;

use super::prelude::*;
use crate::game::player_name;

mod players;
mod scores;
mod state;

pub use state::WaterState;

/// Alex, Bob, Cindy, David and Eric: units of water that each needs a day.
const REQUIREMENTS: [i64; 5] = [8, 9, 10, 11, 12];

/// What each of them earns a day.
const SALARIES: [i64; 5] = [70, 75, 100, 120, 120];

/// What they are called.
const NAMES: [&str; 5] = ["Alex", "Bob", "Cindy", "David", "Eric"];

parameters! {
    /// Parameters of the game, a round of which is a day; setting 1 of the paper, little
    /// water, unless they are set.
    pub struct WaterParams(
        players = REQUIREMENTS.len(), rounds = ROUNDS, foul_allowance = FOUL_ALLOWANCE
    );
    told "all residents know each other's names, needs and salaries" {
        /// What each seat is called; seats beyond the list are `player_N`.
        names: Vec<String> = NAMES.map(str::to_owned).to_vec();
        /// Units of water that each seat needs a day; a shorter list starts again.
        requirements: Vec<i64> = REQUIREMENTS.to_vec();
        /// Money that each seat gets every morning; a shorter list starts again.
        salaries: Vec<i64> = SALARIES.to_vec();
    }
    told {
        /// Smallest supply of a day, in units.
        supply_min: i64 = 10, in 0..=LARGEST_AMOUNT;
        /// Largest supply of a day; every whole number between is as likely.
        supply_max: i64 = 20;
        /// Health at the beginning.
        health_start: i64 = 8;
        /// Largest health.
        health_max: i64 = 10, in 1..=MOST_HEALTH;
        /// Health that a day with water adds.
        health_gain: i64 = 2, in 0..=MOST_HEALTH;
        /// Count of days without water at the beginning and after a day with water;
        /// the next day without water costs this much health.
        dry_days_start: i64 = 1, in 0..=MOST_HEALTH;
        /// Who comes first among equal bids: lower_requirement, chance or nobody.
        ties: Ties = Ties::LowerRequirement;
        /// Whether a resident without health is out; otherwise its health stays at 0
        /// and it plays on.
        elimination: bool = true;
        /// Whether a bid of 0 is a bid, which wins what nobody else takes.
        zero_bids_win: bool = false;
    }
    declared {
        /// Supplies day by day instead of drawn ones; a shorter list starts again.
        /// They must lie from supply_min to supply_max, which players are told.
        supplies: Vec<i64> = Vec::new();
    }
}

/// Who comes first among equal bids.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ties {
    /// Who needs less; chance among equal requirements.
    LowerRequirement,
    /// Chance among all.
    Chance,
    /// Nobody: equal highest bids are passed over, and their water is lost.
    Nobody,
}

/// Most health and counts: a count grows by 1 a day, so sums stay far from the end.
const MOST_HEALTH: i64 = 1_000_000;

/// One entry per seat: the list, from its beginning again where it is shorter.
fn per_seat(name: &str, list: &[i64], players: usize) -> Result<Vec<i64>, ParameterError> {
    require!(
        !list.is_empty(),
        name,
        "{name} must have at least one entry"
    );
    for (place, amount) in list.iter().enumerate() {
        check_within(&format!("{name}[{place}]"), *amount, 1..=LARGEST_AMOUNT)?;
    }
    Ok(list.iter().copied().cycle().take(players).collect())
}

/// Longest name: it stands in every prompt, again and again.
const LONGEST_NAME: usize = 40;

/// The first names of the list, one per seat; where it ends, seats keep their own.
fn name_per_seat(listed: &[String], players: usize) -> Result<Vec<String>, ParameterError> {
    for (place, name) in listed.iter().enumerate() {
        let path = format!("names[{place}]");
        let is_plain = !name.trim().is_empty()
            && name.trim() == name
            && !name.chars().any(ends_a_line)
            && name.chars().count() <= LONGEST_NAME;
        require!(
            is_plain,
            &path,
            "{path} must be 1 to {LONGEST_NAME} letters in one line, without blanks around \
             them, not {name:?}"
        );
    }
    let own = (listed.len()..players).map(player_name);
    let names: Vec<String> = listed.iter().cloned().chain(own).collect();
    for (place, name) in names.iter().enumerate() {
        let same = |other: &String| other.to_lowercase() == name.to_lowercase();
        require!(
            !names[..place].iter().any(same),
            "names",
            "names must differ in more than capitals, but two are {name:?}"
        );
    }
    Ok(names.into_iter().take(players).collect())
}

impl Rules for WaterParams {
    const INFO: &'static GameInfo = &GameInfo {
        name: Name::Borrowed("water_allocation"),
        title: Name::Borrowed("Water Allocation Challenge"),
        summary: Name::Borrowed(
            "bid every day for water that is too little for all, and stay alive",
        ),
        // Still 2 although bids may have cents: whole amounts give the records that they gave,
        // and an amount with cents was no answer before.
        rules_version: 2,
        seats: (1, 100),
        chance: true,
        source: Name::Borrowed("Alympics, arXiv 2311.03220"),
        facts: FactNames {
            in_play: Some(Name::Borrowed("living")),
            seat_names: Some(Name::Borrowed("names")),
            seat_lists: Cow::Borrowed(&[Name::Borrowed("winners"), Name::Borrowed("eliminated")]),
            columns: Cow::Borrowed(&[(Name::Borrowed("bid"), Name::Borrowed("bids"))]),
            flags: Cow::Borrowed(&[(Name::Borrowed("won"), Name::Borrowed("winners"))]),
        },
        ..GameInfo::USUAL
    };

    const STRATEGIES: &'static [Strategy<Self>] = players::STRATEGIES;

    type State = WaterState;

    fn settle(&mut self) -> Result<(), ParameterError> {
        self.names = name_per_seat(&self.names, self.players)?;
        self.requirements = per_seat("requirements", &self.requirements, self.players)?;
        self.salaries = per_seat("salaries", &self.salaries, self.players)?;
        let supplies = self.supply_min..=self.supply_max;
        check_within(
            "supply_max",
            self.supply_max,
            self.supply_min..=LARGEST_AMOUNT,
        )?;
        let are_few = self.supplies.len() <= MOST_ROUNDS as usize;
        require!(
            are_few,
            "supplies",
            "supplies must be at most {MOST_ROUNDS}"
        );
        for (day, supply) in self.supplies.iter().enumerate() {
            check_within(&format!("supplies[{day}]"), *supply, supplies.clone())?;
        }
        check_within("health_start", self.health_start, 1..=self.health_max)
    }

    fn disclosures(&self) -> Vec<Disclosure> {
        vec![
            Disclosure::to_nobody("a supply is announced on its own day", &["supplies"])
                .draws(&[SUPPLIES])
                .until("day_opened"),
            Disclosure::to_everybody("everybody hears who gets water", &[]).draws(&[TIES]),
        ]
    }

    /// Every resident has a health, a balance and a bid, told and drawn.
    fn values_per_ask(&self) -> u64 {
        28
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn start(self: &Arc<Self>, chance: &mut Chance, log: &mut EventLog) -> Self::State {
        WaterState::open(self, chance, log)
    }

    /// Money counts for nothing at the end, so on the last day no bid does better
    /// than the whole balance, apart from water that is left beside that of a tie
    /// with `ties` of nobody. For several days no equilibrium is known; this one is
    /// of residents who take every day for the last.
    fn equilibrium(&self) -> Equilibrium {
        Equilibrium::exact(
            "everybody bids its whole balance, as if every day were the last",
            [("bid_share", 100.0)],
        )
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        scores::measures(self, log)
    }
}

/// The ask of a seat. A bid above the balance is legal and wins nothing.
pub(crate) fn ask(params: &WaterParams, seat: Seat) -> Ask {
    let form = Form::Amount { min: 0, max: None };
    params.setup().ask(seat, AskRole::Bid, "bid", form)
}

#[cfg(test)]
mod tests;
