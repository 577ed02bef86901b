//! The budgets of a gateway without Redis: tables in the ledger's file, written by
//! the ledger's thread in the same transactions and under the same flush as the
//! decisions of the moment. Holds are on disk before a call is made, so that a
//! crash forgets none; those that a process finds when it opens are of the dead,
//! unless their process is still there beside it.

mod lists;
mod lost;

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use agon_service_kit::clock::millis;
use async_trait::async_trait;
use parking_lot::Mutex;
use rusqlite::{Connection, OptionalExtension, Row, params};

use super::{
    Account, Bill, BudgetScope, BudgetStanding, BudgetStore, CallId, CostFilter, CostRow,
    HoldVerdict, MoneyHold, Shortage, bounded, bounded_budget,
};
use crate::ledger::EmbeddedLedger;
use crate::ledger::embedded::SharedFile;
use crate::money::NanoDollars;
use crate::peers::Peers;
use crate::store_error::StoreError;

use lost::{charge_dead, charge_lost};

/// A settlement is only said again while its first saying is in doubt, and here
/// that ends with the process; so many is many times what can be under way.
const REMEMBERED: usize = 100_000;

/// Sums stop here, far beyond all money, before SQLite would make floats of them.
const SCHEMA: &str = "
    CREATE TABLE IF NOT EXISTS purse (
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        spent INTEGER NOT NULL DEFAULT 0,
        reserved INTEGER NOT NULL DEFAULT 0,
        budget INTEGER,
        PRIMARY KEY (kind, name)
    ) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS holds (
        attempt TEXT NOT NULL PRIMARY KEY,
        day TEXT NOT NULL,
        team TEXT NOT NULL,
        experiment TEXT NOT NULL,
        model TEXT NOT NULL,
        most INTEGER NOT NULL,
        due_ms INTEGER NOT NULL,
        lost INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID;
    CREATE INDEX IF NOT EXISTS holds_by_due ON holds (lost, due_ms);
    CREATE TABLE IF NOT EXISTS costs (
        day TEXT NOT NULL,
        team TEXT NOT NULL,
        experiment TEXT NOT NULL,
        model TEXT NOT NULL,
        calls INTEGER NOT NULL DEFAULT 0,
        unpriced INTEGER NOT NULL DEFAULT 0,
        cost_nanodollars INTEGER NOT NULL DEFAULT 0,
        input INTEGER NOT NULL DEFAULT 0,
        output INTEGER NOT NULL DEFAULT 0,
        cached INTEGER NOT NULL DEFAULT 0,
        written INTEGER NOT NULL DEFAULT 0,
        reasoning INTEGER NOT NULL DEFAULT 0,
        estimated INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (day, team, experiment, model)
    ) WITHOUT ROWID;";

const ADD_TO_TOTALS: &str = "
    INSERT INTO purse (kind, name, spent, reserved) VALUES (?1, ?2, max(?3, 0), max(?4, 0))
    ON CONFLICT (kind, name) DO UPDATE SET
        spent = max(min(spent + ?3, 9000000000000000000), 0),
        reserved = max(min(reserved + ?4, 9000000000000000000), 0)";

const ADD_TO_COSTS: &str = "
    INSERT INTO costs VALUES
        (?1, ?2, ?3, ?4, max(?5, 0), ?6, max(?7, 0), ?8, ?9, ?10, ?11, ?12, ?13)
    ON CONFLICT (day, team, experiment, model) DO UPDATE SET
        calls = max(calls + ?5, 0),
        unpriced = unpriced + ?6,
        cost_nanodollars = max(min(cost_nanodollars + ?7, 9000000000000000000), 0),
        input = min(input + ?8, 9000000000000000000),
        output = min(output + ?9, 9000000000000000000),
        cached = min(cached + ?10, 9000000000000000000),
        written = min(written + ?11, 9000000000000000000),
        reasoning = min(reasoning + ?12, 9000000000000000000),
        estimated = estimated + ?13";

/// Budgets in the ledger's file.
pub struct EmbeddedBudgetStore {
    file: SharedFile,
    settled: Arc<Mutex<SettledCalls>>,
    /// As long as this is here, what this process holds is no dead one's.
    _peers: Option<Arc<Peers>>,
}

impl EmbeddedBudgetStore {
    /// Makes ready the tables and charges in full what the last process held.
    pub async fn open(ledger: &EmbeddedLedger) -> Result<Self, StoreError> {
        Self::open_with(ledger, |_| false, None).await
    }

    /// The same beside other processes: what those of them hold that live stays held.
    ///
    /// # Errors
    /// The file cannot be written.
    pub async fn open_shared(
        ledger: &EmbeddedLedger,
        peers: Arc<Peers>,
    ) -> Result<Self, StoreError> {
        let known = Arc::clone(&peers);
        Self::open_with(ledger, move |owner| known.is_alive(owner), Some(peers)).await
    }

    async fn open_with(
        ledger: &EmbeddedLedger,
        is_alive: impl Fn(&str) -> bool + Send + 'static,
        peers: Option<Arc<Peers>>,
    ) -> Result<Self, StoreError> {
        let file = ledger.file();
        let now_ms = file.now_ms();
        let opened = file.work("open the purse", move |connection| {
            connection.execute_batch(SCHEMA)?;
            charge_dead(connection, &is_alive, now_ms)
        });
        opened.await?;
        Ok(Self {
            file,
            settled: Arc::default(),
            _peers: peers,
        })
    }

    /// Ends the attempt's hold and charges the bill, unless that was done before.
    async fn end(&self, attempt: &CallId, bill: Option<Bill>) -> Result<(), StoreError> {
        let (attempt, settled) = (attempt.clone(), Arc::clone(&self.settled));
        let remembered = attempt.clone();
        let mut is_first = false;
        let ended = self.file.work("settle a call", move |connection| {
            // It may be run again.
            is_first = is_first || settled.lock().insert(&attempt);
            if !is_first {
                return Ok(());
            }
            end_hold(connection, &attempt.to_string())?;
            match &bill {
                Some(bill) => charge(connection, bill),
                None => Ok(()),
            }
        });
        let ended = ended.await;
        if ended.is_err() {
            // The transaction was undone, so this may be said again.
            self.settled.lock().remove(&remembered);
        }
        ended
    }
}

#[async_trait]
impl BudgetStore for EmbeddedBudgetStore {
    async fn reserve(&self, hold: &MoneyHold) -> Result<HoldVerdict, StoreError> {
        let hold = hold.clone();
        let now_ms = self.file.now_ms();
        let reserved = self.file.work("reserve money", move |connection| {
            note_budget(connection, &hold)?;
            let verdict = reserve(connection, &hold, now_ms)?;
            if matches!(verdict, HoldVerdict::Wait(_))
                && charge_lost(connection, now_ms, now_ms)? > 0
            {
                return reserve(connection, &hold, now_ms);
            }
            Ok(verdict)
        });
        reserved.await
    }

    async fn look(&self, hold: &MoneyHold) -> Result<HoldVerdict, StoreError> {
        let hold = hold.clone();
        let looked = self.file.work("look at a budget", move |connection| {
            verdict(connection, &hold)
        });
        looked.await
    }

    async fn settle(&self, bill: &Bill) -> Result<(), StoreError> {
        self.end(&bill.attempt, Some(bill.clone())).await
    }

    async fn release(&self, attempt: &CallId) -> Result<(), StoreError> {
        self.end(attempt, None).await
    }

    async fn costs(&self, filter: &CostFilter) -> Result<Vec<CostRow>, StoreError> {
        let filter = filter.clone();
        let now_ms = self.file.now_ms();
        let listed = self.file.work("list costs", move |connection| {
            charge_lost(connection, now_ms, now_ms)?;
            lists::costs(connection, &filter)
        });
        listed.await
    }

    async fn standings(&self) -> Result<Vec<BudgetStanding>, StoreError> {
        let now_ms = self.file.now_ms();
        let listed = self.file.work("look at budgets", move |connection| {
            charge_lost(connection, now_ms, now_ms)?;
            lists::standings(connection)
        });
        listed.await
    }
}

/// The attempts that were settled last.
#[derive(Default)]
struct SettledCalls {
    attempts: HashSet<CallId>,
    in_order: VecDeque<CallId>,
}

impl SettledCalls {
    /// False when it was there before.
    fn insert(&mut self, attempt: &CallId) -> bool {
        if !self.attempts.insert(attempt.clone()) {
            return false;
        }
        self.in_order.push_back(attempt.clone());
        if self.in_order.len() > REMEMBERED
            && let Some(oldest) = self.in_order.pop_front()
        {
            self.attempts.remove(&oldest);
        }
        true
    }

    fn remove(&mut self, attempt: &CallId) {
        self.attempts.remove(attempt);
        self.in_order.retain(|other| other != attempt);
    }
}

type Scopes<'a> = [(&'static str, &'a str); 2];

/// An experiment without a name has no budget.
fn scopes<'a>(team: &'a str, experiment: &'a str) -> Scopes<'a> {
    [("team", team), ("experiment", experiment)]
}

fn add_to_totals(
    connection: &Connection,
    scopes: Scopes<'_>,
    spent: i64,
    reserved: i64,
) -> Result<(), rusqlite::Error> {
    let mut add = connection.prepare_cached(ADD_TO_TOTALS)?;
    for (kind, name) in scopes {
        if kind == "team" || !name.is_empty() {
            add.execute(params![kind, name, spent, reserved])?;
        }
    }
    Ok(())
}

fn note_budget(connection: &Connection, hold: &MoneyHold) -> Result<(), rusqlite::Error> {
    let Some(budget) = hold.budgets.experiment else {
        return Ok(());
    };
    connection
        .prepare_cached(
            "INSERT INTO purse (kind, name, budget) VALUES ('experiment', ?1, ?2)
             ON CONFLICT (kind, name) DO UPDATE SET budget = ?2",
        )?
        .execute(params![
            hold.account.experiment,
            signed(bounded_budget(budget).0)
        ])?;
    Ok(())
}

fn reserve(
    connection: &Connection,
    hold: &MoneyHold,
    now_ms: u64,
) -> Result<HoldVerdict, rusqlite::Error> {
    let attempt = hold.attempt.to_string();
    let held = connection
        .prepare_cached("SELECT 1 FROM holds WHERE attempt = ?1")?
        .exists([&attempt])?;
    if held {
        return Ok(HoldVerdict::Granted);
    }
    let verdict = verdict(connection, hold)?;
    if verdict != HoldVerdict::Granted {
        return Ok(verdict);
    }
    let Account {
        day,
        team,
        experiment,
        model,
    } = &hold.account;
    let most = bounded(hold.most.0);
    let lasts_ms = millis(hold.lasts);
    let due_ms = signed(now_ms.saturating_add(lasts_ms));
    connection
        .prepare_cached("INSERT INTO holds VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 0)")?
        .execute(params![
            attempt,
            day.to_string(),
            team,
            experiment,
            model,
            signed(most),
            due_ms
        ])?;
    add_to_totals(connection, scopes(team, experiment), 0, signed(most))?;
    Ok(HoldVerdict::Granted)
}

/// Whether a call fits now.
fn verdict(connection: &Connection, hold: &MoneyHold) -> Result<HoldVerdict, rusqlite::Error> {
    let Account {
        team, experiment, ..
    } = &hold.account;
    let most = bounded(hold.most.0);
    let ceilings = [
        (hold.budgets.team, "team", team),
        (hold.budgets.experiment, "experiment", experiment),
    ];
    let mut waits = None;
    for (budget, kind, name) in ceilings {
        let Some(budget) = budget else {
            continue;
        };
        let (spent, reserved) = stands(connection, kind, name)?;
        let ceiling = bounded_budget(budget).0;
        if spent.saturating_add(most) > ceiling {
            return Ok(HoldVerdict::Spent(Shortage {
                scope: scope(kind, name),
                budget,
                spent: NanoDollars(spent),
                reserved: NanoDollars(reserved),
            }));
        }
        if waits.is_none() && spent.saturating_add(reserved).saturating_add(most) > ceiling {
            waits = Some(scope(kind, name));
        }
    }
    Ok(waits.map_or(HoldVerdict::Granted, HoldVerdict::Wait))
}

/// Spent and reserved.
fn stands(connection: &Connection, kind: &str, name: &str) -> Result<(u64, u64), rusqlite::Error> {
    let found = connection
        .prepare_cached("SELECT spent, reserved FROM purse WHERE kind = ?1 AND name = ?2")?
        .query_row([kind, name], |row| Ok((count(row, 0)?, count(row, 1)?)))
        .optional()?;
    Ok(found.unwrap_or_default())
}

/// A hold as its row has it.
struct HeldRow {
    account: [String; 4],
    most: i64,
    lost: bool,
}

fn end_hold(connection: &Connection, attempt: &str) -> Result<(), rusqlite::Error> {
    let held = connection
        .prepare_cached(
            "DELETE FROM holds WHERE attempt = ?1
             RETURNING day, team, experiment, model, most, lost",
        )?
        .query_row([attempt], |row| {
            Ok(HeldRow {
                account: [row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?],
                most: row.get(4)?,
                lost: row.get(5)?,
            })
        })
        .optional()?;
    let Some(held) = held else {
        return Ok(());
    };
    let [_, team, experiment, _] = &held.account;
    let scopes = scopes(team, experiment);
    if held.lost {
        add_to_totals(connection, scopes, -held.most, 0)?;
        add_lost_to_costs(connection, &held.account, -1, -held.most)
    } else {
        add_to_totals(connection, scopes, 0, -held.most)
    }
}

fn charge(connection: &Connection, bill: &Bill) -> Result<(), rusqlite::Error> {
    let Account {
        day,
        team,
        experiment,
        model,
    } = &bill.account;
    let cost = signed(bounded(bill.cost.unwrap_or_default().0));
    add_to_totals(connection, scopes(team, experiment), cost, 0)?;
    let usage = &bill.usage;
    let tokens = |number: u64| signed(bounded(number));
    connection.prepare_cached(ADD_TO_COSTS)?.execute(params![
        day.to_string(),
        team,
        experiment,
        model,
        1,
        bill.cost.is_none(),
        cost,
        tokens(usage.input_tokens),
        tokens(usage.output_tokens),
        tokens(usage.cached_input_tokens),
        tokens(usage.cache_write_input_tokens),
        tokens(usage.reasoning_tokens),
        usage.estimated,
    ])?;
    Ok(())
}

fn add_lost_to_costs(
    connection: &Connection,
    [day, team, experiment, model]: &[String; 4],
    calls: i64,
    cost: i64,
) -> Result<(), rusqlite::Error> {
    connection.prepare_cached(ADD_TO_COSTS)?.execute(params![
        day, team, experiment, model, calls, 0, cost, 0, 0, 0, 0, 0, 0
    ])?;
    Ok(())
}

fn scope(kind: &str, name: &str) -> BudgetScope {
    match kind {
        "team" => BudgetScope::Team(name.to_owned()),
        _ => BudgetScope::Experiment(name.to_owned()),
    }
}

fn count(row: &Row<'_>, column: usize) -> Result<u64, rusqlite::Error> {
    let number: i64 = row.get(column)?;
    Ok(u64::try_from(number).unwrap_or(0))
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
