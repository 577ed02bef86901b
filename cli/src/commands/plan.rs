//! `agon plan`: what an experiment would take, before a cent is spent. Plays nothing
//! and needs no keys; a model without a price is shown without dollars. Started by
//! `commands.rs`.

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::decision::Usage;
use agon_agent_gateway::money::{Day, NanoDollars};
use agon_coordinator::experiment::{ModelPlan, plan};
use agon_report::dollars;

use super::experiment_arguments::{ExperimentArguments, PlaceArguments};
use crate::failure::Failure;
use crate::model_config::{ModelArguments, SIMULATED};
use crate::output::{self, Columns, counted};

/// Longest reply of a model that is nowhere configured (the simulated one).
const DEFAULT_LONGEST_REPLY: u32 = 1024;

/// Arguments of `agon plan`.
#[derive(Debug, clap::Args)]
pub struct Plan {
    #[command(flatten)]
    experiment: ExperimentArguments,
    #[command(flatten)]
    models: ModelArguments,
    #[command(flatten)]
    place: PlaceArguments,
}

/// Prints the plan; plays nothing and needs no keys.
pub fn run(arguments: &Plan) -> Result<(), Failure> {
    let checked = arguments.experiment.check()?;
    let config = arguments.models.load(&checked.models)?;
    let longest_reply = |model: &str| {
        let resolved = config.resolve_without_keys(model);
        u64::from(resolved.map_or(DEFAULT_LONGEST_REPLY, |model| model.max_output_tokens))
    };
    let plan = plan(&checked.document, &longest_reply).map_err(Failure::input)?;
    let name = &checked.document.name;
    let place = arguments.place.in_words(name)?;
    let (settings, sessions) = (plan.settings, plan.sessions);
    output::print(&format!(
        "{name}: {}, {}",
        counted(settings, "setting"),
        counted(sessions, "session")
    ));
    if plan.series_length > 1 {
        let (length, series) = (plan.series_length, sessions / plan.series_length);
        output::print(&format!(
            "{series} series of {length} sessions: series run side by side, the sessions of one \
             after each other"
        ));
    }
    if plan.models.is_empty() {
        output::print("No model plays: nothing to pay.");
        output::print(&place);
        return Ok(());
    }
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
        let costs = costs(&config, model, needs);
        let shown = |cost: fn((NanoDollars, NanoDollars)) -> NanoDollars| match costs {
            Some(costs) => dollars(cost(costs).0),
            None => "no price".to_owned(),
        };
        columns.row([
            model.clone(),
            "expected".to_owned(),
            needs.decisions.expected.to_string(),
            needs.input_tokens.expected.to_string(),
            needs.output_tokens.expected.to_string(),
            shown(|(expected, _)| expected),
        ]);
        columns.row([
            String::new(),
            "at most".to_owned(),
            needs.decisions.most.to_string(),
            needs.input_tokens.most.to_string(),
            needs.output_tokens.most.to_string(),
            shown(|(_, most)| most),
        ]);
        total = total.zip(costs).map(|(sum, more)| {
            (
                NanoDollars(sum.0.0.saturating_add(more.0.0)),
                NanoDollars(sum.1.0.saturating_add(more.1.0)),
            )
        });
    }
    output::print(&columns.to_string());
    match total {
        Some((expected, most)) => {
            output::print(&format!(
                "dollars: {} expected, {} at most",
                dollars(expected.0),
                dollars(most.0)
            ));
        }
        None => output::print(
            "Dollars need a price: price = { input_per_million_dollars = \"..\", \
             output_per_million_dollars = \"..\" } under [models.NAME] in agon.toml.",
        ),
    }
    if let Some(budget) = checked.document.budget_nanodollars() {
        output::print(&against_budget(budget, total));
    }
    output::print(&place);
    Ok(())
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
             before its end, until budget_dollars is raised"
        ),
        Some((_, NanoDollars(most))) if most > budget => format!(
            "WARNING: the budget of {shown} is less than what it can take at most: the run may \
             pause before its end, until budget_dollars is raised"
        ),
        Some(_) => format!("budget: {shown}, enough whatever is played"),
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
