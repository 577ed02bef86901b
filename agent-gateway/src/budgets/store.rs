//! The budget store: what teams and experiments have spent, what is reserved for calls
//! under way, and the rows from which costs are listed. Owns the contract that
//! both back ends keep; knows no prices and no providers. Called by
//! `budgets.rs`.

pub mod embedded;
pub mod redis;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;

use crate::decision::Usage;
use crate::money::{Day, NanoDollars};
use crate::store_error::StoreError;

pub use embedded::EmbeddedBudgetStore;
pub use redis::RedisBudgetStore;

/// No call costs more, and no count of tokens is larger: a million dollars. It
/// keeps sums exact in Redis, whose scripts count in 53 bits, and far from the end
/// of 63 bits.
pub const MOST_PER_CALL: u64 = 1_000_000_000_000_000;

/// BudgetCaps above this are kept as this: nine million dollars, 2^53 - 1
/// nano-dollars, up to which a Redis script compares exactly.
pub const LARGEST_BUDGET: NanoDollars = NanoDollars((1 << 53) - 1);

/// Keeps money. Under a budget the order is always: `reserve`, call the provider,
/// then `settle` or `release`. Without one there is only `settle`.
///
/// A budget is a ceiling: where every hold is for the most its call can cost,
/// spent and reserved together never exceed it, whatever happens when.
#[async_trait]
pub trait BudgetStore: Send + Sync {
    /// Holds the most that a call may cost, in both budgets or in neither. Safe to
    /// repeat with the same attempt.
    async fn reserve(&self, hold: &MoneyHold) -> Result<HoldVerdict, StoreError>;

    /// What [`BudgetStore::reserve`] would say now; holds nothing.
    async fn look(&self, hold: &MoneyHold) -> Result<HoldVerdict, StoreError>;

    /// Charges a call that was made and ends its hold, if it has one. A hold
    /// that had counted as lost is corrected. Safe to repeat: an attempt is
    /// charged once. What is acknowledged is durable.
    async fn settle(&self, bill: &Bill) -> Result<(), StoreError>;

    /// Ends a hold whose call cost nothing. Safe to repeat.
    async fn release(&self, attempt: &CallId) -> Result<(), StoreError>;

    /// What was spent, in order of day, team, experiment, model.
    async fn costs(&self, filter: &CostFilter) -> Result<Vec<CostRow>, StoreError>;

    /// How every team and experiment stands that ever reserved or spent, in order.
    async fn standings(&self) -> Result<Vec<BudgetStanding>, StoreError>;
}

/// One try at a provider, unique among all replicas.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CallId {
    /// The gateway process.
    pub owner: String,
    /// Counts up within it.
    pub number: u64,
}

impl fmt::Display for CallId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.owner, self.number)
    }
}

/// Where a cost is put down.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// Day of the call.
    pub day: Day,
    /// Who pays.
    pub team: String,
    /// What for; empty: for none.
    pub experiment: String,
    /// The configured model.
    pub model: String,
}

/// Money held for a call.
#[derive(Clone, Debug)]
pub struct MoneyHold {
    /// The try it is for.
    pub attempt: CallId,
    /// Where it will be put down.
    pub account: Account,
    /// The most that the call can cost.
    pub most: NanoDollars,
    /// What the team may spend in all, and what the experiment may.
    pub budgets: BudgetCaps,
    /// After this its holder has died, and the hold is charged in full.
    pub lasts: Duration,
}

/// The ceilings over a call; absent: none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetCaps {
    /// Of the team.
    pub team: Option<NanoDollars>,
    /// Of the experiment.
    pub experiment: Option<NanoDollars>,
}

impl BudgetCaps {
    /// Whether any stands.
    pub fn any(&self) -> bool {
        self.team.is_some() || self.experiment.is_some()
    }
}

/// Whose money.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BudgetScope {
    /// A team's.
    Team(String),
    /// An experiment's.
    Experiment(String),
}

impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BudgetScope::Team(name) => write!(f, "team {name}"),
            BudgetScope::Experiment(id) => write!(f, "experiment {id}"),
        }
    }
}

/// What became of a [`BudgetStore::reserve`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HoldVerdict {
    /// The hold stands.
    Granted,
    /// It would fit in this budget if calls under way turn out cheaper than they
    /// may be.
    Wait(BudgetScope),
    /// It does not fit, whatever becomes of the calls under way.
    Spent(Shortage),
}

/// Why a call does not fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shortage {
    /// Whose budget.
    pub scope: BudgetScope,
    /// How much it is.
    pub budget: NanoDollars,
    /// How much of it is spent.
    pub spent: NanoDollars,
    /// How much of it is reserved for calls under way.
    pub reserved: NanoDollars,
}

/// What a call has cost.
#[derive(Clone, Debug)]
pub struct Bill {
    /// The try.
    pub attempt: CallId,
    /// Where it is put down.
    pub account: Account,
    /// What it used.
    pub usage: Usage,
    /// What that cost; absent when nobody knows the price.
    pub cost: Option<NanoDollars>,
}

/// Which rows are asked for. Absent: all.
#[derive(Clone, Debug, Default)]
pub struct CostFilter {
    /// Only this team's.
    pub team: Option<String>,
    /// Only this experiment's.
    pub experiment: Option<String>,
    /// Only this day and later.
    pub from: Option<Day>,
    /// Only this day and earlier.
    pub to: Option<Day>,
}

impl CostFilter {
    /// Whether an account's row is asked for.
    pub fn takes(&self, account: &Account) -> bool {
        let same = |wanted: &Option<String>, is: &String| wanted.as_ref().is_none_or(|w| w == is);
        same(&self.team, &account.team)
            && same(&self.experiment, &account.experiment)
            && self.takes_day(account.day)
    }

    /// Whether any row of a day is asked for.
    pub fn takes_day(&self, day: Day) -> bool {
        self.from.is_none_or(|from| from <= day) && self.to.is_none_or(|to| day <= to)
    }
}

/// What was spent under one account. Calls that nobody ever settled are in it at
/// the most they could cost, without tokens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CostRow {
    /// Which.
    pub account: Account,
    /// Calls made, failed ones that were charged included.
    pub calls: u64,
    /// Tokens used.
    pub usage: Usage,
    /// What the calls cost whose price is known.
    pub cost: NanoDollars,
    /// The calls whose price is not.
    pub unpriced_calls: u64,
}

/// How a team or an experiment stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetStanding {
    /// Who.
    pub scope: BudgetScope,
    /// All it ever spent.
    pub spent: NanoDollars,
    /// Reserved for calls under way.
    pub reserved: NanoDollars,
    /// The budget that an experiment's last call named; teams have theirs in
    /// the configuration.
    pub last_budget: Option<NanoDollars>,
}

/// An amount or a count as the stores keep it.
pub(super) fn bounded(number: u64) -> u64 {
    number.min(MOST_PER_CALL)
}

/// A budget as the stores keep it.
pub(super) fn bounded_budget(budget: NanoDollars) -> NanoDollars {
    budget.min(LARGEST_BUDGET)
}
