//! `agon plan`: what an experiment would take, before a cent is spent. Plays nothing and needs no
//! keys, unless a pilot is asked for; a model without a price is shown without dollars, and one that
//! nobody configured is named. Started by `commands.rs`.

use std::cell::RefCell;
use std::collections::BTreeMap;

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::catalogue;
use agon_agent_gateway::decision::Usage;
use agon_agent_gateway::money::{Day, NanoDollars};
use agon_coordinator::experiment::limits::MOST_REPEATS;
use agon_coordinator::experiment::{Estimates, ModelPlan, Plan as Needs, Range, Writes, plan_left};
use agon_outlets::InLine as _;
use agon_report::{dollars, grouped};

use super::check;
use super::run::Run;
use crate::estimates::agent_plan;
use crate::experiment_arguments::{CheckedExperiment, place_in_words};
use crate::failure::Failure;
use crate::model_config::SIMULATED;
use crate::numbers::whole;
use crate::output::{self, Columns, counted};
use crate::role::LogArguments;

mod done;
mod pace;
mod pilot;

/// Longest reply of a model that is nowhere configured (the simulated one).
const DEFAULT_LONGEST_REPLY: u64 = 1024;

/// At most may be so many times what is expected before it is said why.
const FAR_APART: u64 = 10;

/// Arguments of `agon plan`: those of `agon run`.
#[derive(Debug, clap::Args)]
pub struct Plan {
    /// Play so many sessions first, of every setting, and predict from what they took; they are
    /// paid for, and the run goes on from them
    #[arg(long, value_name = "SESSIONS", value_parser = whole(1, MOST_REPEATS),
          allow_negative_numbers = true)]
    pilot: Option<u32>,
    #[command(flatten)]
    run: Run,
}

/// Prints the plan; plays nothing and needs no keys, unless a pilot is asked for.
///
/// # Errors
/// Exit 2 when the experiment or the configuration is wrong; of a pilot, as of `agon run`.
pub fn run(arguments: &Plan, log: &LogArguments) -> Result<(), Failure> {
    let run = &arguments.run;
    let checked = run.check()?;
    if let Some(sessions) = arguments.pilot {
        pilot::play(run, &checked, sessions, log)?;
    }
    let config = run.models.load(&checked.models)?;
    let thinkers = RefCell::new(BTreeMap::new());
    let writes = |model: &str, most: Option<u64>, effort: Option<&str>| {
        let writes = writes(&config, model, most, effort);
        if writes.thoughts.expected > 0 {
            let mut thinkers = thinkers.borrow_mut();
            let thoughts: &mut u64 = thinkers.entry(model.to_owned()).or_default();
            *thoughts = writes.thoughts.expected.max(*thoughts);
        }
        writes
    };
    let estimates = Estimates {
        writes: &writes,
        agent: &agent_plan,
    };
    let name = &checked.document.name;
    let folder = run.place().of(name);
    let place = place_in_words(&run.place(), &run.state(), name)?;
    let done = done::of(&checked, &config, &folder, &run.state())?;
    let done_of = |setting| done.get(&setting).copied().unwrap_or(0);
    let plan = plan_left(&checked.document, estimates, &done_of).map_err(Failure::input)?;
    output::print(&format!(
        "{name}: {}, {}",
        counted(plan.settings, "setting"),
        counted(plan.sessions, "session")
    ));
    if plan.series_length > 1 {
        let (length, series) = (plan.series_length, plan.sessions / plan.series_length);
        output::print(&format!(
            "{series} series of {length} sessions: series run side by side, the sessions of one \
             after each other"
        ));
    }
    let done: u64 = done.values().sum();
    if done > 0 {
        let of_what = match arguments.pilot {
            Some(_) => "all of it".to_owned(),
            None => format!(
                "the remaining {}",
                grouped(plan.sessions.saturating_sub(done))
            ),
        };
        output::print(&format!(
            "{} {} done already, according to the records in {}; the figures below are for {of_what}",
            counted(done, "session"),
            if done == 1 { "is" } else { "are" },
            folder.in_line(),
        ));
    }
    if plan.models.is_empty() {
        output::print(match done {
            0 => "No model plays: nothing to pay.",
            _ => "No model calls are left: nothing to pay.",
        });
    } else if arguments.pilot.is_some() {
        let whole = plan_left(&checked.document, estimates, &|_| 0).map_err(Failure::input)?;
        let total = pilot::predict(run, &checked, &config, &whole)?;
        if let Some(budget) = checked.document.budget_nanodollars() {
            output::print(&against_budget(budget, total));
        }
    } else {
        show_needs(&checked, &config, &plan, &thinkers.take());
    }
    output::print(&place);
    if run.coordinator.is_none() {
        // Without keys: they may be on another machine.
        let resolve = |model: &str| config.resolve_without_keys(model);
        check::tell_missing(&check::missing(&config, &checked.models, resolve));
    }
    Ok(())
}

/// What models are asked, what that costs and how long it takes.
fn show_needs(
    checked: &CheckedExperiment,
    config: &GatewayConfig,
    plan: &Needs,
    thinkers: &BTreeMap<String, u64>,
) {
    let (columns, total) = table(config, plan);
    output::print(&columns.to_string());
    output::print(&match total {
        Some((expected, most)) => format!(
            "dollars: {} expected, {} at most",
            dollars(expected.0),
            dollars(most.0)
        ),
        None => "No dollar estimate: set price = { input_per_million_dollars = \"..\", \
                 output_per_million_dollars = \"..\" } under [models.NAME] in agon.toml."
            .to_owned(),
    });
    if let Some((NanoDollars(expected), NanoDollars(most))) = total
        && most > expected.saturating_mul(FAR_APART)
    {
        output::print(&format!(
            "`at most` is {} times what is expected: every reply as long as its model may write, and \
             every foul that the game forgives. `--pilot 20` plays about 20 sessions and \
             predicts from them",
            grouped(most / expected.max(1))
        ));
    }
    if let Some(shortest) = pace::shortest(plan, config) {
        let seconds = std::time::Duration::from_secs(shortest.as_secs().max(1));
        let time = humantime::format_duration(seconds);
        output::print(&format!(
            "time: at least {time} under the configured limits of its keys, if nothing else uses them"
        ));
    }
    for (model, thoughts) in thinkers {
        output::print(&format!(
            "WARNING: {model} is a reasoning model. The expected figures assume {} thinking \
             tokens per call, which is a guess; measure it with `--pilot 20`",
            grouped(*thoughts)
        ));
    }
    if let Some(budget) = checked.document.budget_nanodollars() {
        output::print(&against_budget(budget, total));
    }
}

/// What a model writes in a call with these settings of its player.
fn writes(config: &GatewayConfig, model: &str, most: Option<u64>, effort: Option<&str>) -> Writes {
    let Ok(resolved) = config.resolve_without_keys(model) else {
        return Writes::answers(most.unwrap_or(DEFAULT_LONGEST_REPLY));
    };
    // A player's limit that is no number of that kind is refused before anything is planned.
    let asked = most.map(|most| u32::try_from(most).unwrap_or(u32::MAX));
    let limit = resolved.output_limit(asked, effort);
    let added = limit.thinking.unwrap_or(0);
    let expected = match resolved.thinks_at(effort) {
        true => catalogue::effort(effort).usual_tokens.min(limit.tokens),
        false => 0,
    };
    Writes {
        longest_answer: u64::from(limit.tokens - added),
        thoughts: Range {
            expected: expected.into(),
            most: added.into(),
        },
    }
}

/// A row of what is expected and one of what it can be at most, for each model; and the dollars of
/// both in all, if every model has a price.
fn table(config: &GatewayConfig, plan: &Needs) -> (Columns, Option<(NanoDollars, NanoDollars)>) {
    let mut columns = Columns::new([
        "model",
        "",
        "decisions",
        "input tokens",
        "output tokens",
        "dollars",
    ]);
    let mut total = Some((NanoDollars(0), NanoDollars(0)));
    for (model, needs) in &plan.models {
        let costs = costs(config, model, needs);
        let shown = |cost: Option<NanoDollars>| match cost {
            Some(cost) => dollars(cost.0),
            None => "no price".to_owned(),
        };
        columns.row([
            model.clone(),
            "expected".to_owned(),
            grouped(needs.decisions.expected),
            grouped(needs.input_tokens.expected),
            grouped(needs.output_tokens.expected),
            shown(costs.map(|(expected, _)| expected)),
        ]);
        columns.row([
            String::new(),
            "at most".to_owned(),
            grouped(needs.decisions.most),
            grouped(needs.input_tokens.most),
            grouped(needs.output_tokens.most),
            shown(costs.map(|(_, most)| most)),
        ]);
        total = total.zip(costs).map(|(sum, more)| {
            (
                NanoDollars(sum.0.0.saturating_add(more.0.0)),
                NanoDollars(sum.1.0.saturating_add(more.1.0)),
            )
        });
    }
    (columns, total)
}

/// What the plan means for the budget.
fn against_budget(budget: u64, total: Option<(NanoDollars, NanoDollars)>) -> String {
    let shown = dollars(budget);
    match total {
        None => format!(
            "budget: {shown}; models without a price are refused while a budget stands, so give \
             each of them one"
        ),
        Some((NanoDollars(expected), _)) if expected > budget => format!(
            "WARNING: the budget of {shown} is less than what is expected: the run will pause \
             before its end, until budget_dollars or --max-cost is raised"
        ),
        Some((_, NanoDollars(most))) if most > budget => format!(
            "WARNING: the budget of {shown} is less than what it can take at most: the run may \
             pause before its end, until budget_dollars or --max-cost is raised"
        ),
        Some(_) => {
            format!(
                "budget: {shown}, enough whatever is played, unless some of it is spent already"
            )
        }
    }
}

/// Expected and largest cost; `None` without a price. The simulated model is free.
fn costs(
    config: &GatewayConfig,
    model: &str,
    needs: &ModelPlan,
) -> Option<(NanoDollars, NanoDollars)> {
    if model == SIMULATED && config.model_names().all(|name| name != SIMULATED) {
        return Some((NanoDollars(0), NanoDollars(0)));
    }
    let prices = config.resolve_without_keys(model).ok()?.prices;
    let price = prices.on(Day::today())?;
    // Call by call, because a long prompt may cost more by the token.
    let cost = |calls: u64, input: u64, output: u64| {
        let of_one = price.of(&Usage {
            input_tokens: input.div_ceil(calls.max(1)),
            output_tokens: output.div_ceil(calls.max(1)),
            ..Usage::default()
        });
        NanoDollars(of_one.0.saturating_mul(calls))
    };
    let ModelPlan {
        decisions,
        input_tokens,
        output_tokens,
        ..
    } = needs;
    Some((
        cost(
            decisions.expected,
            input_tokens.expected,
            output_tokens.expected,
        ),
        cost(decisions.most, input_tokens.most, output_tokens.most),
    ))
}
