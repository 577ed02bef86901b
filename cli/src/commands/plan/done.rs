//! What of an experiment is done already, as the results of its runs say. Reads records and
//! nothing of the store, where more may be done. Called by `plan.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use agon_agent_gateway::GatewayConfig;
use agon_coordinator::experiment::{ExperimentDocument, expand};
use agon_engine::spec::Origin;
use serde::Deserialize;

use crate::experiment_arguments::CheckedExperiment;
use crate::failure::Failure;
use crate::lines;
use crate::model_config;
use crate::run_folder::RECORDS;
use crate::run_folder::account::State;
use crate::run_folder::history::{self, Run};

/// As much of a record as this takes.
#[derive(Deserialize)]
struct Head {
    session: String,
}

/// How many sessions of each setting have a record in a run's folder, by the setting's index.
/// Counts runs whose state lies where this one's would.
///
/// # Errors
/// The experiment cannot be expanded.
pub fn of(
    checked: &CheckedExperiment,
    config: &GatewayConfig,
    folder: &Path,
    state: &State,
) -> Result<BTreeMap<u64, u64>, Failure> {
    let recorded = recorded(folder, state);
    if recorded.is_empty() {
        return Ok(BTreeMap::new());
    }
    let document = ExperimentDocument {
        origins: origins(checked, config),
        ..checked.document.clone()
    };
    let expansion = expand(&document).map_err(Failure::input)?;
    let mut done = BTreeMap::new();
    for session in expansion.into_sessions() {
        if recorded.contains(session.spec.id().as_str()) {
            *done.entry(session.setting_index as u64).or_default() += 1;
        }
    }
    Ok(done)
}

/// Ids of the sessions that any run with its state in the same place has recorded: only those are
/// not played again. What cannot be read is not done.
fn recorded(folder: &Path, state: &State) -> BTreeSet<String> {
    let runs = history::results(folder).map_or_else(Vec::new, |results| results.runs);
    let same = |run: &Run| {
        let account = run.account.as_ref();
        account.is_some_and(|account| account.state == *state)
    };
    let files = runs.iter().filter(|run| same(run));
    let files: Vec<_> = files.map(|run| run.path.join(RECORDS)).collect();
    let there = files.iter().filter(|file| file.is_file());
    let lines = there.flat_map(|file| lines::read(file));
    let heads = lines.filter_map(|line| serde_json::from_str::<Head>(&line.ok()?.text).ok());
    heads.map(|head| head.session).collect()
}

/// Where each model would answer, as far as the configuration says.
fn origins(checked: &CheckedExperiment, config: &GatewayConfig) -> BTreeMap<String, Origin> {
    let origin = |model: &String| {
        let origin = match config.resolve_without_keys(model) {
            Ok(resolved) => {
                let known = resolved.origin();
                Origin {
                    provider_kind: known.provider_kind,
                    endpoint: known.endpoint,
                    provider_model: known.provider_model,
                    additions: known.additions,
                }
            }
            Err(_) if model == model_config::SIMULATED => model_config::simulated_origin(),
            Err(_) => return None,
        };
        Some((model.clone(), origin))
    };
    checked.models.iter().filter_map(origin).collect()
}
