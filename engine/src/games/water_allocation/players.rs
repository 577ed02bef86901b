//! Rule players of the Water Allocation Challenge: bids from the own balance, health
//! and what is public of yesterday. They never see another's bid of today. Made by
//! the game.

use super::WaterParams;
use crate::games::prelude::*;

/// The strategies of this game.
pub(super) const STRATEGIES: &[Strategy<WaterParams>] = &[
    Strategy::new(
        "equilibrium",
        "its whole balance, as if every day were the last",
        |_, request| request.plays(|_, view, _| bid(view, |own| own.balance)),
    ),
    Strategy::RANDOM,
    Strategy::SPECIFIED,
    Strategy::new(
        "share",
        "a part of its balance, rounded down to whole dollars: share, 0 to 1 (default 0.5)",
        |_, request| {
            let share = request.get_within("share", 0.5, 0.0..=1.0)?;
            request.plays(move |_, view, _| {
                bid(view, |own| {
                    let part = (own.balance.in_dollars() * share).floor();
                    Cents::dollars(part as i64)
                })
            })
        },
    ),
    Strategy::new(
        "last_moment",
        "nothing while it can do without water, then its whole balance: days, how many \
                  days without water it must still outlive (default 1)",
        |_, request| {
            let days = request.get("days", 1)?;
            request.plays(move |_, view, _| {
                bid(view, |own| match own.outlives(days) {
                    true => Cents::ZERO,
                    false => own.balance,
                })
            })
        },
    ),
    Strategy::new(
        "outbid",
        "1 more than the lowest bid that won last, or half its salary at first, as far \
                  as its balance goes",
        |params, request| {
            let first = Cents::dollars(params.salaries[request.seat] / 2);
            request.plays(move |_, view, _| {
                let wanted = enough(view).map_or(first, |mut bid| {
                    bid += Cents::dollars(1);
                    bid
                });
                bid(view, |own| wanted.min(own.balance))
            })
        },
    ),
];

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
        let entry = |name| morning.shared(name)?.integer_at(seat);
        Some(Self {
            balance: morning.shared("balances")?.entry(seat).amount()?,
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

/// Bids by how the seat stands; every day begins with that of all.
fn bid(view: &View<'_>, amount: impl Fn(Status) -> Cents) -> Action {
    let status = Status::of(view.seat(), view);
    status.map_or(Cents::ZERO, amount).into()
}

/// The lowest bid that won on the last day.
fn enough(view: &View<'_>) -> Option<Cents> {
    let last = view.latest("round_result")?;
    let (winners, bids) = (last.integers("winners")?, last.shared("bids")?);
    let bid = |winner: &i64| bids.entry(usize::try_from(*winner).ok()?).amount();
    winners.iter().filter_map(bid).min()
}
