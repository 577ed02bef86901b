//! Rule players of the Water Allocation Challenge: bids from the own balance, health
//! and what is public of yesterday. They never see another's bid of today. Made by
//! the game.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::ask::{Action, Ask, Seat};
use crate::cents::Cents;
use crate::chance::Generator;
use crate::games::water_allocation::WaterParams;
use crate::rule::{Rule, StrategyError, StrategyInfo};
use crate::rules::common;
use crate::view::View;

/// The strategies of this game.
pub const STRATEGIES: &[StrategyInfo] = &[
    StrategyInfo {
        name: "equilibrium",
        summary: "its whole balance, as if every day were the last",
    },
    common::RANDOM,
    common::SPECIFIED,
    StrategyInfo {
        name: "share",
        summary: "a part of its balance, rounded down to whole dollars: share, 0 to 1 (default 0.5)",
    },
    StrategyInfo {
        name: "last_moment",
        summary: "nothing while it can do without water, then its whole balance: days, how many \
                  days without water it must still outlive (default 1)",
    },
    StrategyInfo {
        name: "outbid",
        summary: "1 more than the lowest bid that won last, or half its salary at first, as far \
                  as its balance goes",
    },
];

/// Makes a strategy by name; `None` when this game does not know it.
pub fn make(
    params: &WaterParams,
    strategy: &str,
    settings: &Map<String, Value>,
    seat: Seat,
) -> Option<Result<Box<dyn Rule>, StrategyError>> {
    match strategy {
        "equilibrium" => common::plain(strategy, settings, ByStatus(|own: Status| own.balance)),
        "share" => common::made(share(settings).map(|share| {
            ByStatus(move |own: Status| {
                let part = (own.balance.in_dollars() * share).floor();
                Cents::dollars(part as i64)
            })
        })),
        "last_moment" => common::made(days_to_outlive(settings).map(|days| {
            ByStatus(move |own: Status| {
                if own.outlives(days) {
                    Cents::ZERO
                } else {
                    own.balance
                }
            })
        })),
        "outbid" => {
            let first = Cents::dollars(params.salaries[seat] / 2);
            common::plain(strategy, settings, Outbid { first })
        }
        _ => common::make(strategy, settings),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShareSettings {
    #[serde(default = "half")]
    share: f64,
}

fn half() -> f64 {
    0.5
}

fn share(settings: &Map<String, Value>) -> Result<f64, StrategyError> {
    let ShareSettings { share } = common::read_settings("share", settings)?;
    common::check_share("share", "share", share)?;
    Ok(share)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LastMomentSettings {
    #[serde(default = "one_day")]
    days: u32,
}

fn one_day() -> u32 {
    1
}

fn days_to_outlive(settings: &Map<String, Value>) -> Result<u32, StrategyError> {
    let LastMomentSettings { days } = common::read_settings("last_moment", settings)?;
    Ok(days)
}

/// How a resident stands in the morning.
#[derive(Clone, Copy)]
struct Status {
    balance: Cents,
    health: i64,
    dry_days: i64,
}

impl Status {
    fn of(seat: Seat, view: &View<'_>) -> Option<Self> {
        let morning = view.latest("day_opened")?;
        let entry = |name| morning.fact(name)?.entry(seat).integer();
        Some(Self {
            balance: morning.fact("balances")?.entry(seat).amount()?,
            health: entry("health")?,
            dry_days: entry("dry_days")?,
        })
    }

    /// Whether so many days without water leave it alive.
    fn outlives(self, days: u32) -> bool {
        let mut health = self.health;
        for day in 0..i64::from(days) {
            health -= self.dry_days + day;
            if health <= 0 {
                return false;
            }
        }
        true
    }
}

/// Bids a function of how it stands.
struct ByStatus<F>(F);

impl<F: Fn(Status) -> Cents + Send> Rule for ByStatus<F> {
    fn act(&mut self, ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        // Every day begins with everybody's standing.
        Status::of(ask.seat, view)
            .map_or(Cents::ZERO, &self.0)
            .into()
    }
}

/// Bids just above what was enough the last time.
struct Outbid {
    first: Cents,
}

impl Rule for Outbid {
    fn act(&mut self, ask: &Ask, view: &View<'_>, _luck: &mut Generator) -> Action {
        let enough = view.latest("round_result").and_then(|sight| {
            let winners = sight.fact("winners")?;
            let bids = sight.fact("bids")?;
            let bid = |place| {
                let winner = usize::try_from(winners.entry(place).integer()?).ok()?;
                bids.entry(winner).amount()
            };
            (0..winners.len()).filter_map(bid).min()
        });
        let wanted = enough.map_or(self.first, |mut bid| {
            bid += Cents::dollars(1);
            bid
        });
        let balance = Status::of(ask.seat, view).map_or(Cents::ZERO, |own| own.balance);
        wanted.min(balance).into()
    }
}
