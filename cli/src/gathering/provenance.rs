//! Which runs came together: a table of them, and in words what differs between them, so that no
//! number of several runs hides that they were played with other prompts, rules or endpoints.
//! Called by whatever shows several runs.

use std::collections::{BTreeMap, BTreeSet};

use agon_outlets::InLine as _;
use agon_report::{Column, TextTable, grouped};

use super::{Gathered, GatheredRun};
use crate::run_folder::Account;

/// Digits of a digest that are shown.
const SHOWN: usize = 12;

/// The runs that were read, one row each.
pub fn runs(gathered: &Gathered) -> TextTable {
    let mut columns = vec![Column::key("experiment"), Column::number("run")];
    columns.extend(["started", "agon"].map(Column::words));
    columns.push(Column::number("sessions"));
    columns.extend(["models", "document", "file"].map(Column::words));
    let mut table = TextTable::new(columns);
    for run in &gathered.runs {
        let of = |cell: &dyn Fn(&Account) -> String| run.account.as_ref().map(cell);
        let cells = [
            of(&|account| account.experiment.clone()),
            of(&|account| account.run.to_string()),
            of(&|account| account.started.clone()),
            of(&|account| account.versions.agon.clone()),
            Some(grouped(run.sessions)),
            of(&models),
            of(&|account| account.document.chars().take(SHOWN).collect()),
            Some(run.file.in_line().to_string()),
        ];
        table.row(cells.map(Option::unwrap_or_default));
    }
    table
}

fn models(account: &Account) -> String {
    let models = account.models.iter();
    let models = models.map(|(name, origin)| format!("{name} = {origin}"));
    models.collect::<Vec<_>>().join("; ")
}

/// What differs between the runs, one sentence each; nothing where all is the same.
pub fn differences(gathered: &Gathered) -> Vec<String> {
    let accounts = gathered.runs.iter().filter(|run| run.sessions > 0);
    let accounts: Vec<&Account> = accounts.filter_map(|run| run.account.as_ref()).collect();
    let mut said = Vec::new();
    let programs: BTreeSet<&str> = accounts.iter().map(|one| &*one.versions.agon).collect();
    if programs.len() > 1 {
        said.push(format!("versions of agon differ: {}", joined(programs)));
    }
    for (game, versions) in by_key(&accounts, |account| {
        let rules = account.versions.rules.iter();
        rules
            .map(|(game, version)| (game.clone(), version.to_string()))
            .collect()
    }) {
        said.push(format!(
            "rules of {game} differ: versions {}",
            joined(versions)
        ));
    }
    for (player, prompts) in by_key(&accounts, prompts_of) {
        said.push(format!("prompts of {player} differ: {}", joined(prompts)));
    }
    for (model, origins) in by_key(&accounts, |account| {
        let models = account.models.iter();
        models
            .map(|(name, origin)| (name.clone(), origin.to_string()))
            .collect()
    }) {
        said.push(format!(
            "{model} answered from several places: {}",
            joined(origins)
        ));
    }
    let bundles = accounts.iter().map(|one| one.prompt_bundle.as_deref());
    let bundles: BTreeSet<Option<&str>> = bundles.collect();
    if bundles.len() > 1 {
        said.push("not all runs used the same templates: some replaced built-in ones".to_owned());
    }
    let unknown = gathered.runs.iter().filter(|run| is_unknown(run)).count();
    if unknown > 0 {
        said.push(format!(
            "of {} nothing is known but the records: no run.json lies beside them",
            crate::output::counted(unknown as u64, "file")
        ));
    }
    said
}

fn is_unknown(run: &GatheredRun) -> bool {
    run.sessions > 0 && run.account.is_none()
}

/// What each player of a model was told, by game and player.
fn prompts_of(account: &Account) -> BTreeMap<String, String> {
    let games = account.versions.prompts.iter();
    games
        .map(|(player, prompts)| {
            let replaced = if prompts.replaced { ", replaced" } else { "" };
            (
                player.clone(),
                format!("version {}{replaced}", prompts.version),
            )
        })
        .collect()
}

/// Keys that have several values over these accounts.
fn by_key(
    accounts: &[&Account],
    values: impl Fn(&Account) -> BTreeMap<String, String>,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for account in accounts {
        for (key, value) in values(account) {
            all.entry(key).or_default().insert(value);
        }
    }
    all.retain(|_, values| values.len() > 1);
    all
}

fn joined<T: AsRef<str>>(values: BTreeSet<T>) -> String {
    let values: Vec<&str> = values.iter().map(AsRef::as_ref).collect();
    values.join(", ")
}
