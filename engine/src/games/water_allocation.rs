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
//! Source: Mao et al., arXiv 2311.03220, section 4 and its prompts. The survival
//! auction of Zhang et al., arXiv 2402.01521, appendix B.2, is this game with equal
//! residents, water for one of them, and nobody served after a tie.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::ask::{Ask, Form, Seat};
use crate::chance::{Chance, SUPPLIES, TIES};
use crate::disclosure::Disclosure;
use crate::event::EventLog;
use crate::game::{Equilibrium, Game, GameInfo, ParameterError, State, Timing, player_name};
use crate::games::{
    ALIKE, BRIEFED, DEFAULT_FOUL_ALLOWANCE, LARGEST_AMOUNT, MOST_ROUNDS, ROUNDS, check_between,
    check_fouls, check_table, ends_a_line, exact,
};
use crate::measures::Measures;
use crate::moves::Move;
use crate::registry::{Built, Registration, read_params, write_params};
use crate::rule::{Rule, StrategyError};
use crate::rules::{common, water_allocation as rules};
use crate::spec::Settings;

mod scores;
mod town;

/// Entry in the registry.
pub const REGISTRATION: Registration = Registration {
    info: &INFO,
    strategies: rules::STRATEGIES,
    build,
    schema: || schemars::schema_for!(WaterParams).to_value(),
};

const INFO: GameInfo = GameInfo {
    name: "water_allocation",
    title: "Water Allocation Challenge",
    summary: "bid every day for water that is too little for all, and stay alive",
    // Still 2 although bids may have cents: whole amounts give the records that they gave,
    // and an amount with cents was no answer before.
    rules_version: 2,
    seats: (1, 100),
    timing: Timing::Simultaneous,
    chance: true,
    hidden_information: true,
    source: "Alympics, arXiv 2311.03220",
};

/// Alex, Bob, Cindy, David and Eric: units of water that each needs a day.
const REQUIREMENTS: [i64; 5] = [8, 9, 10, 11, 12];

/// What each of them earns a day.
const SALARIES: [i64; 5] = [70, 75, 100, 120, 120];

/// What they are called.
const NAMES: [&str; 5] = ["Alex", "Bob", "Cindy", "David", "Eric"];

/// Parameters of the game.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WaterParams {
    /// Number of players; taken from the seats of the experiment.
    pub players: usize,
    /// Number of days.
    pub rounds: u32,
    /// What each seat is called; seats beyond the list are `player_N`.
    pub names: Vec<String>,
    /// Units of water that each seat needs a day; a shorter list starts again.
    pub requirements: Vec<i64>,
    /// Money that each seat gets every morning; a shorter list starts again.
    pub salaries: Vec<i64>,
    /// Smallest supply of a day, in units.
    pub supply_min: i64,
    /// Largest supply of a day; every whole number between is as likely.
    pub supply_max: i64,
    /// Supplies day by day instead of drawn ones; a shorter list starts again.
    /// They must lie from supply_min to supply_max, which players are told.
    pub supplies: Vec<i64>,
    /// Health at the beginning.
    pub health_start: i64,
    /// Largest health.
    pub health_max: i64,
    /// Health that a day with water adds.
    pub health_gain: i64,
    /// Count of days without water at the beginning and after a day with water;
    /// the next day without water costs this much health.
    pub dry_days_start: i64,
    /// Who comes first among equal bids: lower_requirement, chance or nobody.
    pub ties: Ties,
    /// Whether a resident without health is out; otherwise its health stays at 0
    /// and it plays on.
    pub elimination: bool,
    /// Whether a bid of 0 is a bid, which wins what nobody else takes.
    pub zero_bids_win: bool,
    /// Fouls forgiven per ask before it is forfeited.
    pub foul_allowance: u32,
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

impl Ties {
    fn name(self) -> &'static str {
        match self {
            Self::LowerRequirement => "lower_requirement",
            Self::Chance => "chance",
            Self::Nobody => "nobody",
        }
    }
}

impl Default for WaterParams {
    /// Setting 1 of the paper: little water.
    fn default() -> Self {
        Self {
            players: REQUIREMENTS.len(),
            rounds: ROUNDS,
            names: NAMES.map(str::to_owned).to_vec(),
            requirements: REQUIREMENTS.to_vec(),
            salaries: SALARIES.to_vec(),
            supply_min: 10,
            supply_max: 20,
            supplies: Vec::new(),
            health_start: 8,
            health_max: 10,
            health_gain: 2,
            dry_days_start: 1,
            ties: Ties::LowerRequirement,
            elimination: true,
            zero_bids_win: false,
            foul_allowance: DEFAULT_FOUL_ALLOWANCE,
        }
    }
}

/// Most health and counts: a count grows by 1 a day, so sums stay far from the end.
const MOST_HEALTH: i64 = 1_000_000;

/// Who is told what.
const DISCLOSURES: &[Disclosure] = &[
    Disclosure::to_everybody(
        BRIEFED,
        &[
            "players",
            "rounds",
            "supply_min",
            "supply_max",
            "health_start",
            "health_max",
            "health_gain",
            "dry_days_start",
            "ties",
            "elimination",
            "zero_bids_win",
        ],
    ),
    Disclosure::to_everybody(
        "all residents know each other's names, needs and salaries",
        &["names", "requirements", "salaries"],
    ),
    Disclosure::to_nobody("a supply is announced on its own day", &["supplies"])
        .draws(&[SUPPLIES])
        .until("day_opened"),
    Disclosure::to_everybody("everybody hears who gets water", &[]).draws(&[TIES]),
    Disclosure::to_everybody(ALIKE, &["foul_allowance"]),
];

fn build(settings: &Settings) -> Result<Built, ParameterError> {
    let mut params: WaterParams = read_params(settings)?;
    check_table(&INFO, params.players, params.rounds)?;
    check_fouls(params.foul_allowance)?;
    params.names = name_per_seat(&params.names, params.players)?;
    params.requirements = per_seat("requirements", &params.requirements, params.players)?;
    params.salaries = per_seat("salaries", &params.salaries, params.players)?;
    check_between("supply_min", params.supply_min, 0, LARGEST_AMOUNT)?;
    let (low, high) = (params.supply_min, params.supply_max);
    check_between("supply_max", high, low, LARGEST_AMOUNT)?;
    if params.supplies.len() > MOST_ROUNDS as usize {
        let message = format!("supplies must be at most {MOST_ROUNDS}");
        return Err(ParameterError::new("supplies", message));
    }
    for (day, supply) in params.supplies.iter().enumerate() {
        check_between(&format!("supplies[{day}]"), *supply, low, high)?;
    }
    check_between("health_max", params.health_max, 1, MOST_HEALTH)?;
    check_between("health_start", params.health_start, 1, params.health_max)?;
    check_between("health_gain", params.health_gain, 0, MOST_HEALTH)?;
    check_between("dry_days_start", params.dry_days_start, 0, MOST_HEALTH)?;
    let written = write_params(&params);
    Ok(Built {
        game: Arc::new(Water {
            params: Arc::new(params),
        }),
        params: written,
    })
}

/// One entry per seat: the list, from its beginning again where it is shorter.
fn per_seat(name: &str, list: &[i64], players: usize) -> Result<Vec<i64>, ParameterError> {
    if list.is_empty() {
        let message = format!("{name} must have at least one entry");
        return Err(ParameterError::new(name, message));
    }
    for (place, amount) in list.iter().enumerate() {
        check_between(&format!("{name}[{place}]"), *amount, 1, LARGEST_AMOUNT)?;
    }
    Ok(list.iter().copied().cycle().take(players).collect())
}

/// Longest name: it stands in every prompt, again and again.
const LONGEST_NAME: usize = 40;

/// The first names of the list, one per seat; where it ends, seats keep their own.
fn name_per_seat(listed: &[String], players: usize) -> Result<Vec<String>, ParameterError> {
    for (place, name) in listed.iter().enumerate() {
        let is_plain = !name.trim().is_empty()
            && name.trim() == name
            && !name.chars().any(ends_a_line)
            && name.chars().count() <= LONGEST_NAME;
        if !is_plain {
            let path = format!("names[{place}]");
            let message = format!(
                "{path} must be 1 to {LONGEST_NAME} letters in one line, without blanks around \
                 them, not {name:?}"
            );
            return Err(ParameterError::new(path, message));
        }
    }
    let own = (listed.len()..players).map(player_name);
    let names: Vec<String> = listed.iter().cloned().chain(own).collect();
    for (place, name) in names.iter().enumerate() {
        let same = |other: &String| other.to_lowercase() == name.to_lowercase();
        if names[..place].iter().any(same) {
            let message = format!("names must differ in more than capitals, but two are {name:?}");
            return Err(ParameterError::new("names", message));
        }
    }
    Ok(names.into_iter().take(players).collect())
}

struct Water {
    params: Arc<WaterParams>,
}

impl Game for Water {
    fn info(&self) -> &'static GameInfo {
        &INFO
    }

    fn seats(&self) -> usize {
        self.params.players
    }

    fn asks_per_seat(&self) -> u32 {
        self.params.rounds
    }

    fn payoff_bounds(&self) -> (f64, f64) {
        (0.0, 1.0)
    }

    fn disclosures(&self) -> &'static [Disclosure] {
        DISCLOSURES
    }

    fn start(&self, chance: &mut Chance, log: &mut EventLog) -> Box<dyn State> {
        town::open(&self.params, chance, log)
    }

    fn rule(
        &self,
        strategy: &str,
        settings: &Map<String, Json>,
        seat: Seat,
    ) -> Result<Box<dyn Rule>, StrategyError> {
        rules::make(&self.params, strategy, settings, seat)
            .unwrap_or_else(|| Err(common::unknown(&INFO, strategy, rules::STRATEGIES)))
    }

    /// Money counts for nothing at the end, so on the last day no bid does better
    /// than the whole balance, apart from water that is left beside that of a tie
    /// with `ties` of nobody. For several days no equilibrium is known; this one is
    /// of residents who take every day for the last.
    fn equilibrium(&self) -> Equilibrium {
        Equilibrium {
            play: "everybody bids its whole balance, as if every day were the last".to_owned(),
            scores: vec![exact("bid_share", 100.0)],
        }
    }

    fn measures(&self, log: &EventLog, _moves: &[Move]) -> Measures {
        scores::measures(&self.params, log)
    }
}

/// The ask of a seat. A bid above the balance is legal and wins nothing.
pub(crate) fn ask(params: &WaterParams, seat: Seat) -> Ask {
    Ask {
        seat,
        kind: "bid",
        form: Form::Amount { min: 0, max: None },
        foul_allowance: params.foul_allowance,
    }
}

#[cfg(test)]
mod tests;
