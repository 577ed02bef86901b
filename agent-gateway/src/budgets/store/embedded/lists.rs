//! Reads the store's tables back: rows of cost and how everybody stands. Changes
//! nothing. Called by `store/embedded.rs` on the thread that holds the file.

use rusqlite::{Connection, Row};

use super::super::{Account, BudgetStanding, CostFilter, CostRow};
use super::{count, scope};
use crate::decision::Usage;
use crate::money::{Day, NanoDollars};

pub(super) fn costs(
    connection: &Connection,
    filter: &CostFilter,
) -> Result<Vec<CostRow>, rusqlite::Error> {
    let rows = connection
        .prepare_cached(
            "SELECT * FROM costs WHERE calls > 0 ORDER BY day, team, experiment, model",
        )?
        .query_map([], read_cost_row)?
        .collect::<Result<Vec<_>, _>>()?;
    let rows = rows.into_iter().filter(|row| filter.takes(&row.account));
    Ok(rows.collect())
}

fn read_cost_row(row: &Row<'_>) -> Result<CostRow, rusqlite::Error> {
    let day: String = row.get("day")?;
    Ok(CostRow {
        account: Account {
            day: day.parse::<Day>().unwrap_or_default(),
            team: row.get("team")?,
            experiment: row.get("experiment")?,
            model: row.get("model")?,
        },
        calls: count(row, 4)?,
        unpriced_calls: count(row, 5)?,
        cost: NanoDollars(count(row, 6)?),
        usage: Usage {
            input_tokens: count(row, 7)?,
            output_tokens: count(row, 8)?,
            cached_input_tokens: count(row, 9)?,
            cache_write_input_tokens: count(row, 10)?,
            reasoning_tokens: count(row, 11)?,
            estimated: count(row, 12)? > 0,
        },
    })
}

pub(super) fn standings(connection: &Connection) -> Result<Vec<BudgetStanding>, rusqlite::Error> {
    let mut standings = connection
        .prepare_cached("SELECT kind, name, spent, reserved, budget FROM purse")?
        .query_map([], |row| {
            let (kind, name): (String, String) = (row.get(0)?, row.get(1)?);
            let budget: Option<i64> = row.get(4)?;
            Ok(BudgetStanding {
                scope: scope(&kind, &name),
                spent: NanoDollars(count(row, 2)?),
                reserved: NanoDollars(count(row, 3)?),
                last_budget: budget.map(|budget| NanoDollars(u64::try_from(budget).unwrap_or(0))),
            })
        })?
        .collect::<Result<Vec<_>, _>>()?;
    standings.sort_by(|left, right| left.scope.cmp(&right.scope));
    Ok(standings)
}
