//! Rule players of the English auction: whether to raise, and by how much. They go
//! by the open ask, the item that is up and their own bids. Made by the game.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ask::{Action, Ask, Form};
use crate::chance::Generator;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common;
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "raises by the least legal amount up to its estimate, as if it were the value",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "patient_raiser",
        summary: "the paper's rule bidder: the starting price, then 10 % of it above the highest \
                  bid, at most so many times per item: bids_per_item (default 4)",
    },
    StrategyInfo {
        name: "truthful",
        summary: "raises by the least legal amount up to a part of its estimate: percent \
                  (default 100)",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    strategy: &str,
    settings: &Map<String, Value>,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "equilibrium" => common::plain(strategy, settings, UpToEstimate { percent: 100 }),
        "truthful" => common::made(truthful(strategy, settings)),
        "patient_raiser" => {
            common::made(common::read_settings::<PatientRaiser>(strategy, settings))
        }
        _ => common::make(strategy, settings),
    }
}

/// The rule bidder (arXiv 2310.05746, section 4.2, and the authors' program): a
/// limited number of bids per item: the starting price, then the highest bid and 10 % of
/// the starting price, whatever the game's least increase; where that is more, it counts.
#[derive(Deserialize)]
#[serde(default, deny_unknown_fields)]
struct PatientRaiser {
    bids_per_item: u32,
}

impl Default for PatientRaiser {
    fn default() -> Self {
        Self { bids_per_item: 4 }
    }
}

impl Rule for PatientRaiser {
    fn act(&mut self, ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let Some(Legal { least, most }) = Legal::of(ask) else {
            return Action::Pass;
        };
        let bid = least.max(raised(view).unwrap_or(least));
        if bid <= most && own_bids(view) < self.bids_per_item as usize {
            Action::Integer(bid)
        } else {
            Action::Pass
        }
    }
}

/// Percent of the starting price that the rule bidder adds to the highest bid.
const RAISE_PERCENT: i64 = 10;

/// The highest bid and the rule bidder's own raise; none before the first bid.
fn raised(view: &View<'_>) -> Option<i64> {
    let highest = view.sights().next_back()?.integer("highest")?;
    let price = view.latest("item_opened")?.integer("starting_price")?;
    Some(highest + price * RAISE_PERCENT / 100)
}

/// How often the seat has bid for the item that is up.
fn own_bids(view: &View<'_>) -> usize {
    let seat = view.seat();
    let rounds = view
        .sights()
        .rev()
        .take_while(|sight| sight.kind() == "bid_round");
    rounds
        .filter(|sight| {
            sight
                .fact("bids")
                .is_some_and(|bids| bids.entry(seat).integer().is_some())
        })
        .count()
}

/// Raises by the least amount, but by at least 1, up to a part of its estimate.
struct UpToEstimate {
    percent: u32,
}

/// Largest part of an estimate that can be asked for; more is a slip.
const MOST_PERCENT: u32 = 1000;

fn truthful(strategy: &str, settings: &Map<String, Value>) -> Result<UpToEstimate, StrategyError> {
    #[derive(Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Settings {
        percent: u32,
    }
    impl Default for Settings {
        fn default() -> Self {
            Self { percent: 100 }
        }
    }
    let Settings { percent } = common::read_settings(strategy, settings)?;
    if percent <= MOST_PERCENT {
        return Ok(UpToEstimate { percent });
    }
    Err(StrategyError::Settings {
        name: strategy.to_owned(),
        message: format!("percent must be from 0 to {MOST_PERCENT}, not {percent}"),
    })
}

impl Rule for UpToEstimate {
    fn act(&mut self, ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let Some(Legal { least, most }) = Legal::of(ask) else {
            return Action::Pass;
        };
        let estimate = view
            .latest("item_opened")
            .and_then(|sight| sight.integer("estimate"))
            .unwrap_or(0);
        let highest = view
            .sights()
            .next_back()
            .and_then(|sight| sight.integer("highest"));
        // Where there is no minimum increase, equal bids would never end.
        let bid = highest.map_or(least, |highest| least.max(highest + 1));
        let limit = (estimate * i64::from(self.percent) / 100).min(most);
        if bid <= limit {
            Action::Integer(bid)
        } else {
            Action::Pass
        }
    }
}

/// The legal bids of an ask; none when `least` is above `most`.
struct Legal {
    least: i64,
    most: i64,
}

impl Legal {
    fn of(ask: &Ask) -> Option<Self> {
        match ask.form {
            Form::Integer {
                min: Some(least),
                max: Some(most),
                ..
            } => Some(Self { least, most }),
            _ => None,
        }
    }
}
