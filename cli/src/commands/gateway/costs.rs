//! `agon gateway costs`: what was spent, summed as asked, and how budgets stand, as
//! tables or as JSON. Only asks, sums and shows. Called by `commands/gateway.rs`.

use std::collections::BTreeMap;

use agon_proto::v1::{BudgetStatus, CostRow, ListCostsRequest, ListCostsResponse};
use agon_report::{dollars, exact_dollars, grouped};
use serde_json::{Map, Value, json};

use super::address::Address;
use crate::failure::Failure;
use crate::output::{self, Columns, counted};

/// Arguments of `agon gateway costs`.
#[derive(Debug, clap::Args)]
pub struct Costs {
    #[command(flatten)]
    address: Address,
    /// Only what this team spent
    #[arg(long, value_name = "NAME")]
    team: Option<String>,
    /// Only what was spent for this experiment
    #[arg(long, value_name = "ID")]
    experiment: Option<String>,
    /// From this day on (UTC, 2026-11-21)
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// Until this day, included
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    /// One line for each of these, together
    #[arg(
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "WHAT,...",
        default_value = "team,model"
    )]
    by: Vec<By>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What costs can be told apart by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum By {
    /// Who paid
    Team,
    /// Day of the call, in UTC
    Day,
    /// The model that was asked
    Model,
    /// What it was spent for
    Experiment,
}

/// Shows the costs.
///
/// # Errors
/// The gateway cannot be reached, or a day is none.
pub async fn run(arguments: &Costs) -> Result<(), Failure> {
    let address = &arguments.address;
    let mut client = address.client()?;
    let asked = client.list_costs(ListCostsRequest {
        team: arguments.team.clone().unwrap_or_default(),
        experiment_id: arguments.experiment.clone().unwrap_or_default(),
        from_day: arguments.from.clone().unwrap_or_default(),
        to_day: arguments.to.clone().unwrap_or_default(),
    });
    let costs = asked.await.map_err(|refusal| address.refused(&refusal))?;
    let costs = costs.into_inner();
    if arguments.json {
        output::print_json(&as_json(&costs, &arguments.by).to_string());
    } else {
        output::print(as_tables(&costs, &arguments.by).trim_end());
    }
    Ok(())
}

/// Rows that are told apart no further.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    calls: u64,
    input_tokens: u64,
    output_tokens: u64,
    cached_input_tokens: u64,
    cache_write_input_tokens: u64,
    reasoning_tokens: u64,
    nanodollars: u64,
    unpriced_calls: u64,
    /// Some of the tokens are estimates.
    is_estimated: bool,
}

impl Sum {
    fn add(&mut self, row: &CostRow) {
        let usage = row.usage.unwrap_or_default();
        for (sum, more) in [
            (&mut self.calls, row.calls),
            (&mut self.input_tokens, usage.input_tokens),
            (&mut self.output_tokens, usage.output_tokens),
            (&mut self.cached_input_tokens, usage.cached_input_tokens),
            (
                &mut self.cache_write_input_tokens,
                usage.cache_write_input_tokens,
            ),
            (&mut self.reasoning_tokens, usage.reasoning_tokens),
            (&mut self.nanodollars, row.cost_nanodollars),
            (&mut self.unpriced_calls, row.unpriced_calls),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.is_estimated |= usage.estimated;
    }
}

impl By {
    fn name(self) -> &'static str {
        match self {
            By::Team => "team",
            By::Day => "day",
            By::Model => "model",
            By::Experiment => "experiment",
        }
    }

    fn of(self, row: &CostRow) -> &str {
        match self {
            By::Team => &row.team,
            By::Day => &row.day,
            By::Model => &row.model,
            By::Experiment => &row.experiment_id,
        }
    }
}

/// Sums in the order of what they are told apart by, and the sum of all.
fn sums<'a>(costs: &'a ListCostsResponse, by: &[By]) -> (BTreeMap<Vec<&'a str>, Sum>, Sum) {
    let (mut sums, mut total) = (BTreeMap::<Vec<&str>, Sum>::new(), Sum::default());
    for row in &costs.rows {
        let key = by.iter().map(|by| by.of(row)).collect();
        sums.entry(key).or_default().add(row);
        total.add(row);
    }
    (sums, total)
}

fn as_tables(costs: &ListCostsResponse, by: &[By]) -> String {
    let (sums, total) = sums(costs, by);
    if total.calls == 0 {
        return format!("nothing was spent\n{}", budgets_table(&costs.budgets));
    }
    let names: Vec<_> = by.iter().map(|by| by.name()).collect();
    let mut columns = Columns::new([&names.join(" / "), "calls", "input", "output", "dollars"]);
    let mut row = |name: String, sum: &Sum| {
        columns.row([
            name,
            grouped(sum.calls),
            grouped(sum.input_tokens),
            grouped(sum.output_tokens),
            match (sum.nanodollars, sum.unpriced_calls) {
                (0, unpriced) if unpriced == sum.calls => "no price".to_owned(),
                (cost, 0) => dollars(cost),
                (cost, unpriced) => format!("{} + {unpriced} unpriced", dollars(cost)),
            },
        ]);
    };
    for (key, sum) in &sums {
        let shown = key
            .iter()
            .map(|name| if name.is_empty() { "-" } else { name });
        row(shown.collect::<Vec<_>>().join(" / "), sum);
    }
    row("total".to_owned(), &total);
    let mut text = format!("{columns}\n");
    if total.unpriced_calls > 0 {
        let calls = counted(total.unpriced_calls, "call");
        text += &format!("{calls} had no known price and are not in the dollars\n");
    }
    if total.is_estimated {
        text += "some token counts are estimates: a provider reported none, or impossible ones\n";
    }
    text + &budgets_table(&costs.budgets)
}

/// Those that have a budget.
fn budgets_table(budgets: &[BudgetStatus]) -> String {
    let mut columns = Columns::new(["budget of", "dollars", "spent", "reserved", "left"]);
    let mut any = false;
    for status in budgets {
        let Some(budget) = status.budget_nanodollars else {
            continue;
        };
        any = true;
        columns.row([
            match status.team.as_str() {
                "" => format!("experiment {}", status.experiment_id),
                team => format!("team {team}"),
            },
            dollars(budget),
            dollars(status.spent_nanodollars),
            dollars(status.reserved_nanodollars),
            dollars(left(status).unwrap_or_default()),
        ]);
    }
    if any {
        format!("\n{columns}\n")
    } else {
        String::new()
    }
}

/// What a budget still allows; absent when there is none.
fn left(status: &BudgetStatus) -> Option<u64> {
    let taken = status
        .spent_nanodollars
        .saturating_add(status.reserved_nanodollars);
    Some(status.budget_nanodollars?.saturating_sub(taken))
}

fn as_json(costs: &ListCostsResponse, by: &[By]) -> Value {
    let (sums, total) = sums(costs, by);
    let rows = sums.iter().map(|(key, sum)| {
        let mut row: Map<String, Value> = by
            .iter()
            .zip(key)
            .map(|(by, name)| (by.name().to_owned(), json!(name)))
            .collect();
        row.extend(sum_json(sum));
        Value::Object(row)
    });
    let budgets = costs.budgets.iter().map(|status| {
        let amount = |nanodollars: Option<u64>| nanodollars.map(exact_dollars);
        json!({
            "team": status.team,
            "experiment": status.experiment_id,
            "budget_dollars": amount(status.budget_nanodollars),
            "spent_dollars": exact_dollars(status.spent_nanodollars),
            "reserved_dollars": exact_dollars(status.reserved_nanodollars),
            "left_dollars": amount(left(status)),
        })
    });
    json!({
        "rows": rows.collect::<Vec<_>>(),
        "total": sum_json(&total),
        "budgets": budgets.collect::<Vec<_>>(),
    })
}

/// Dollars are text, so that no digit is lost.
fn sum_json(sum: &Sum) -> Map<String, Value> {
    let fields = [
        ("calls", json!(sum.calls)),
        ("input_tokens", json!(sum.input_tokens)),
        ("output_tokens", json!(sum.output_tokens)),
        ("cached_input_tokens", json!(sum.cached_input_tokens)),
        (
            "cache_write_input_tokens",
            json!(sum.cache_write_input_tokens),
        ),
        ("reasoning_tokens", json!(sum.reasoning_tokens)),
        ("dollars", json!(exact_dollars(sum.nanodollars))),
        ("unpriced_calls", json!(sum.unpriced_calls)),
        ("tokens_estimated", json!(sum.is_estimated)),
    ];
    fields
        .map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests;
