//! Budgets in Redis, shared by all replicas. Every change is one script call, so
//! a gateway that is killed leaves nothing half done; what survives a crash of
//! Redis is what its AOF setting keeps. Without Redis nothing is reserved, because
//! nobody would know what is left.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_redis_link::Link;
use agon_service_kit::clock::millis;
use async_trait::async_trait;
use redis::ScriptInvocation;

use super::{
    Account, Bill, BudgetScope, BudgetStanding, BudgetStore, CallId, CostFilter, CostRow,
    HoldVerdict, MoneyHold, Shortage, bounded, bounded_budget,
};
use crate::decision::Usage;
use crate::money::{Day, NanoDollars};
use crate::redis_script::{RedisScript, redis_script};
use crate::store_error::StoreError;

// The braces keep all of it on one node of a cluster.
const HOLDS: &str = "agon:purse:{money}:holds";
const DUE: &str = "agon:purse:{money}:due";
const LOST: &str = "agon:purse:{money}:lost";
const SPENT: &str = "agon:purse:{money}:spent";
const RESERVED: &str = "agon:purse:{money}:reserved";
const BUDGETS: &str = "agon:purse:{money}:budgets";
const DAYS: &str = "agon:purse:{money}:days";
const ROWS: &str = "agon:purse:{money}:rows:";
const SETTLED: &str = "agon:purse:{money}:settled:";

/// A settlement is remembered as one bit. So many share a key of 128 KiB at most,
/// which lasts for six minutes of 3,000 calls a second.
const BITS_PER_KEY: u64 = 1 << 20;

/// A gateway repeats a settlement for as long as it lives and Redis is away;
/// nobody leaves Redis away for longer.
const SETTLED_FOR: Duration = Duration::from_secs(24 * 3_600);

/// For as long, a hold that was given up for lost may still be settled.
const CORRECTED_WITHIN: Duration = SETTLED_FOR;

/// Holds charged in one script call, so that no other call waits for long.
const SWEEP: usize = 500;

/// What the reserve script is to do.
const HOLD: &str = "hold";
const LOOK: &str = "look";

/// Budgets that several replicas share.
pub struct RedisBudgetStore {
    connection: Link,
    reserve: RedisScript,
    settle: RedisScript,
    sweep: RedisScript,
}

impl RedisBudgetStore {
    /// The budgets behind a connection.
    pub fn new(connection: Link) -> Self {
        Self {
            connection,
            reserve: redis_script!("reserve money", "money_reserve_v1"),
            settle: redis_script!("settle a call", "money_settle_v1"),
            sweep: redis_script!("charge lost calls", "money_sweep_v1"),
        }
    }

    async fn reserve_once(&self, hold: &MoneyHold, mode: &str) -> Result<HoldVerdict, StoreError> {
        let account = &hold.account;
        let most = bounded(hold.most.0).to_string();
        let [team, experiment] = scopes(account);
        let row = row(account);
        let day = account.day.to_string();
        let note = json(&[&most, &day, &row, &team, &experiment]);
        let budget = |budget: Option<NanoDollars>| {
            budget.map_or(String::new(), |budget| bounded_budget(budget).0.to_string())
        };
        let answer: Vec<String> = self
            .reserve
            .run(&self.connection, |call| {
                call.key(HOLDS)
                    .key(DUE)
                    .key(SPENT)
                    .key(RESERVED)
                    .key(BUDGETS)
                    .arg(hold.attempt.to_string())
                    .arg(&most)
                    .arg(millis(hold.lasts))
                    .arg(note)
                    .arg(&team)
                    .arg(budget(hold.budgets.team))
                    .arg(&experiment)
                    .arg(budget(hold.budgets.experiment))
                    .arg(mode);
            })
            .await?;
        let scope_of = |scope: &str| {
            if scope == team {
                BudgetScope::Team(account.team.clone())
            } else {
                BudgetScope::Experiment(account.experiment.clone())
            }
        };
        let words: Vec<&str> = answer.iter().map(String::as_str).collect();
        match words[..] {
            ["granted"] => Ok(HoldVerdict::Granted),
            ["wait", scope] => Ok(HoldVerdict::Wait(scope_of(scope))),
            ["spent", scope, spent, reserved] => {
                let scope = scope_of(scope);
                let budget = match scope {
                    BudgetScope::Team(_) => hold.budgets.team,
                    BudgetScope::Experiment(_) => hold.budgets.experiment,
                };
                Ok(HoldVerdict::Spent(Shortage {
                    scope,
                    budget: budget.unwrap_or_default(),
                    spent: amount(spent),
                    reserved: amount(reserved),
                }))
            }
            _ => Err(self.reserve.unknown_answer()),
        }
    }

    /// Charges holds whose holders have died; says whether there were any.
    async fn sweep(&self) -> Result<bool, StoreError> {
        let mut any = false;
        loop {
            let swept: usize = self
                .sweep
                .run(&self.connection, |call| {
                    call.key(HOLDS)
                        .key(DUE)
                        .key(LOST)
                        .key(SPENT)
                        .key(RESERVED)
                        .key(DAYS)
                        .arg(ROWS)
                        .arg(SWEEP)
                        .arg(millis(CORRECTED_WITHIN));
                })
                .await?;
            any |= swept > 0;
            if swept < SWEEP {
                return Ok(any);
            }
        }
    }

    async fn end(
        &self,
        attempt: &CallId,
        day: &str,
        charge: impl FnOnce(&mut ScriptInvocation<'_>),
    ) -> Result<(), StoreError> {
        let part = attempt.number / BITS_PER_KEY;
        let fill = |call: &mut ScriptInvocation<'_>| {
            call.key(format!("{SETTLED}{}:{part}", attempt.owner))
                .key(HOLDS)
                .key(DUE)
                .key(LOST)
                .key(SPENT)
                .key(RESERVED)
                .key(DAYS)
                .key(format!("{ROWS}{day}"))
                .arg(attempt.to_string())
                .arg(attempt.number % BITS_PER_KEY)
                .arg(millis(SETTLED_FOR))
                .arg(ROWS)
                .arg(day);
            charge(call);
        };
        let _settled: i64 = self.settle.run_lasting(&self.connection, fill).await?;
        Ok(())
    }
}

#[async_trait]
impl BudgetStore for RedisBudgetStore {
    async fn reserve(&self, hold: &MoneyHold) -> Result<HoldVerdict, StoreError> {
        let verdict = self.reserve_once(hold, HOLD).await?;
        // What is in the way may be reserved for calls that nobody will settle.
        if matches!(verdict, HoldVerdict::Wait(_)) && self.sweep().await? {
            return self.reserve_once(hold, HOLD).await;
        }
        Ok(verdict)
    }

    async fn look(&self, hold: &MoneyHold) -> Result<HoldVerdict, StoreError> {
        self.reserve_once(hold, LOOK).await
    }

    async fn settle(&self, bill: &Bill) -> Result<(), StoreError> {
        let day = bill.account.day.to_string();
        let [team, experiment] = scopes(&bill.account);
        let usage = &bill.usage;
        let columns = [
            ("calls", 1),
            ("unpriced", u64::from(bill.cost.is_none())),
            ("input", usage.input_tokens),
            ("output", usage.output_tokens),
            ("cached", usage.cached_input_tokens),
            ("written", usage.cache_write_input_tokens),
            ("reasoning", usage.reasoning_tokens),
            ("estimated", u64::from(usage.estimated)),
        ];
        let charge = |call: &mut ScriptInvocation<'_>| {
            call.arg(row(&bill.account))
                .arg(team)
                .arg(experiment)
                .arg(bounded(bill.cost.unwrap_or_default().0));
            for (column, number) in columns {
                if number > 0 {
                    call.arg(column).arg(bounded(number));
                }
            }
        };
        self.end(&bill.attempt, &day, charge).await
    }

    async fn release(&self, attempt: &CallId) -> Result<(), StoreError> {
        self.end(attempt, "", |_| {}).await
    }

    async fn costs(&self, filter: &CostFilter) -> Result<Vec<CostRow>, StoreError> {
        self.sweep().await?;
        let mut connection = self.connection.clone();
        let days: Vec<String> = redis::cmd("SMEMBERS")
            .arg(DAYS)
            .query_async(&mut connection)
            .await
            .map_err(StoreError::redis("list costs"))?;
        let days = days.iter().filter_map(|day| day.parse::<Day>().ok());
        let mut rows = BTreeMap::new();
        for day in days.filter(|day| filter.takes_day(*day)) {
            let fields: Vec<(String, i64)> = redis::cmd("HGETALL")
                .arg(format!("{ROWS}{day}"))
                .query_async(&mut connection)
                .await
                .map_err(StoreError::redis("list costs"))?;
            for (field, number) in fields {
                let Some((account, column)) = read_field(day, &field) else {
                    continue;
                };
                if filter.takes(&account) {
                    let row = rows.entry(account);
                    add(row.or_default(), column, u64::try_from(number).unwrap_or(0));
                }
            }
        }
        let rows = rows.into_iter().map(|(account, sums)| CostRow {
            account,
            calls: sums.calls,
            usage: sums.usage,
            cost: sums.cost,
            unpriced_calls: sums.unpriced,
        });
        Ok(rows.filter(|row| row.calls > 0).collect())
    }

    async fn standings(&self) -> Result<Vec<BudgetStanding>, StoreError> {
        self.sweep().await?;
        let mut connection = self.connection.clone();
        type Amounts = BTreeMap<String, i64>;
        let (spent, reserved, budgets): (Amounts, Amounts, Amounts) = redis::pipe()
            .atomic()
            .hgetall(SPENT)
            .hgetall(RESERVED)
            .hgetall(BUDGETS)
            .query_async(&mut connection)
            .await
            .map_err(StoreError::redis("look at budgets"))?;
        let mut names: Vec<&String> = spent
            .keys()
            .chain(reserved.keys())
            .chain(budgets.keys())
            .collect();
        names.sort_unstable();
        names.dedup();
        let number = |amounts: &Amounts, name: &String| {
            let amount = amounts.get(name).copied()?;
            Some(NanoDollars(u64::try_from(amount).unwrap_or(0)))
        };
        let mut standings: Vec<BudgetStanding> = names
            .into_iter()
            .filter_map(|name| {
                Some(BudgetStanding {
                    scope: read_scope(name)?,
                    spent: number(&spent, name).unwrap_or_default(),
                    reserved: number(&reserved, name).unwrap_or_default(),
                    last_budget: number(&budgets, name),
                })
            })
            .collect();
        standings.sort_by(|left, right| left.scope.cmp(&right.scope));
        Ok(standings)
    }
}

#[derive(Default)]
struct Sums {
    calls: u64,
    unpriced: u64,
    cost: NanoDollars,
    usage: Usage,
}

fn add(sums: &mut Sums, column: &str, number: u64) {
    match column {
        "calls" => sums.calls = number,
        "unpriced" => sums.unpriced = number,
        "cost" => sums.cost = NanoDollars(number),
        "input" => sums.usage.input_tokens = number,
        "output" => sums.usage.output_tokens = number,
        "cached" => sums.usage.cached_input_tokens = number,
        "written" => sums.usage.cache_write_input_tokens = number,
        "reasoning" => sums.usage.reasoning_tokens = number,
        "estimated" => sums.usage.estimated = number > 0,
        // A later version may count more.
        _ => {}
    }
}

fn scopes(account: &Account) -> [String; 2] {
    let experiment = match account.experiment.as_str() {
        "" => String::new(),
        id => format!("experiment/{id}"),
    };
    [format!("team/{}", account.team), experiment]
}

fn read_scope(name: &str) -> Option<BudgetScope> {
    let (kind, name) = name.split_once('/')?;
    match kind {
        "team" => Some(BudgetScope::Team(name.to_owned())),
        "experiment" => Some(BudgetScope::Experiment(name.to_owned())),
        _ => None,
    }
}

/// A row's name ends in a bracket, which no column has.
fn row(account: &Account) -> String {
    json(&[&account.team, &account.experiment, &account.model])
}

fn read_field(day: Day, field: &str) -> Option<(Account, &str)> {
    let (row, column) = field.split_at(field.rfind(']')? + 1);
    let [team, experiment, model] = serde_json::from_str(row).ok()?;
    let account = Account {
        day,
        team,
        experiment,
        model,
    };
    Some((account, column))
}

fn json(texts: &[&str]) -> String {
    serde_json::Value::from(texts).to_string()
}

fn amount(text: &str) -> NanoDollars {
    NanoDollars(text.parse().unwrap_or_default())
}
