//! `agon check`: what is wrong with an experiment file, and what `agon run` would miss.
//! Plays nothing, calls no model and needs no keys. Started by `commands.rs`.

use std::collections::BTreeSet;

use agon_agent_gateway::{ConfigError, GatewayConfig, ResolvedModel};

use super::run::Run;
use crate::experiment_arguments::{CheckedExperiment, place_in_words};
use crate::failure::Failure;
use crate::model_config::{self, SIMULATED};
use crate::output::{self, counted};
use crate::pausing;

/// Reasons that are shown: a grid over models has as many of one kind as it has models.
const MOST_REASONS: usize = 20;

/// Arguments of `agon check`: those of `agon run`.
#[derive(Debug, clap::Args)]
pub struct Check {
    #[command(flatten)]
    run: Run,
}

/// Checks; plays nothing and calls no model.
///
/// # Errors
/// Exit 2, with what is wrong.
pub fn run(arguments: &Check) -> Result<(), Failure> {
    let run = &arguments.run;
    let checked = run.check()?;
    let name = &checked.document.name;
    let place = place_in_words(&run.place(), &run.state(), name)?;
    let Readiness { missing, warnings } = match run.coordinator {
        Some(_) => Readiness::default(),
        None => Readiness::of(run, &checked)?,
    };
    output::print(&format!(
        "{name} is valid: {}, {}{}",
        counted(checked.settings, "setting"),
        counted(checked.sessions(), "session"),
        checked.budget_in_words()
    ));
    output::print(&place);
    for warning in &warnings {
        output::print(warning);
    }
    tell_missing(&missing);
    Ok(())
}

/// Says why an experiment cannot be run yet.
pub(super) fn tell_missing(missing: &[String]) {
    for reason in missing.iter().take(MOST_REASONS) {
        output::print(&format!("not ready to run: {reason}"));
    }
    let more = missing.len().saturating_sub(MOST_REASONS);
    if more > 0 {
        let more = counted(more as u64, "more reason");
        output::print(&format!("not ready to run: {more} of this kind"));
    }
}

/// What is missing for these models, as far as `resolve` looks.
pub(super) fn missing(
    config: &GatewayConfig,
    models: &BTreeSet<String>,
    resolve: impl Fn(&str) -> Result<ResolvedModel, ConfigError>,
) -> Vec<String> {
    let ours = |model: &&String| {
        **model != SIMULATED || config.model_names().any(|name| name == SIMULATED)
    };
    let resolved = models.iter().filter(ours).map(|model| resolve(model));
    let mut reasons: Vec<String> = resolved
        .filter_map(|resolved| resolved.err().map(|error| error.to_string()))
        .collect();
    reasons.dedup();
    reasons
}

/// What `agon run` would say of the models.
#[derive(Default)]
struct Readiness {
    /// What it would refuse for now: models that are not configured, keys that are not set.
    missing: Vec<String>,
    /// What it would do without.
    warnings: Vec<String>,
}

impl Readiness {
    fn of(run: &Run, checked: &CheckedExperiment) -> Result<Self, Failure> {
        let config = run.models.load(&checked.models)?;
        pausing::require_prices(&config, &checked.document, &checked.models)?;
        Ok(Self {
            missing: missing(&config, &checked.models, |model| config.resolve(model)),
            warnings: model_config::unusable_keys(&config, &checked.models),
        })
    }
}
