//! `agon prompts`: the templates that a player of a game is told in, and an example of what
//! comes of them, played by the simulated model. The start of templates of one's own. Started
//! by `commands.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use agon_agent_gateway::GatewayConfig;
use agon_agents::settings::{DEFAULT_AGENT, DEFAULT_PROMPT};
use agon_agents::{AGENTS, PromptLibrary, templates_of};
use agon_coordinator::experiment::{ExperimentFile, expand};
use agon_engine::extent::RECORD;
use agon_engine::record::StoredRecord;
use agon_engine::registry;
use agon_engine::spec::Settings;
use agon_engine::{PlayerKind, PlayerSpec};
use agon_outlets::InLine as _;
use agon_proto::v1::{FetchRecordsRequest, WatchExperimentRequest};
use agon_service_kit::tasks::Tasks;
use agon_worker::remaking::remake;
use serde_json::json;
use tonic::Status;

use crate::embedded::{Cluster, Options};
use crate::experiment_arguments::{CheckedExperiment, prompts_of};
use crate::failure::Failure;
use crate::handing_in::{Terms, hand_in};
use crate::model_config::SIMULATED;
use crate::output::{self, Columns};
use crate::outside::GameArguments;
use crate::results;
use crate::role::{LogArguments, runtime};
use crate::sent::{Choice, Prompts as Decisions};
use crate::templates;

const EXAMPLES: &str = "Examples:
  agon prompts                              games, and the versions of each
  agon prompts pirate                       templates of v1, and what is sent
  agon prompts pirate --version v3 --agent chain_of_thought
  agon prompts english_auction --agent bdi  an agent with its own templates
  agon prompts pirate --out my-templates    write them, to change them; then
  agon run ... --templates my-templates     play with them";

/// How many decisions the example shows.
const SHOWN: u32 = 3;

/// The name of the experiment that is the example.
const EXAMPLE: &str = "example";

/// Arguments of `agon prompts`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, disable_version_flag = true)]
pub struct Prompts {
    /// The game; nothing, to list them
    #[arg(value_name = "GAME")]
    game: Option<String>,
    /// Version of the prompts
    #[arg(long, value_name = "VERSION", default_value = DEFAULT_PROMPT)]
    version: String,
    /// The agent that plays
    #[arg(long, value_name = "AGENT", default_value = DEFAULT_AGENT)]
    agent: String,
    /// Write the templates into this folder, which must not hold any of them yet, instead of
    /// printing them
    #[arg(long, value_name = "DIR", requires = "game")]
    out: Option<PathBuf>,
}

/// Prints or writes them.
///
/// # Errors
/// Exit 2 when there is no such game, version or agent, or a file is there already.
pub fn run(arguments: &Prompts, log: &LogArguments) -> Result<(), Failure> {
    let Some(game) = &arguments.game else {
        list();
        return Ok(());
    };
    let registration = registry::find(game).map_err(Failure::input)?;
    let library = PromptLibrary::builtin();
    let player = player(arguments);
    let built_in = templates_of(&player, game, &library).map_err(Failure::input)?;
    if let Some(folder) = &arguments.out {
        templates::write_new(folder, &built_in)?;
        let (count, folder) = (built_in.len() as u64, folder.in_line());
        output::print(&format!(
            "{} written to {folder}; play with them with --templates {folder}",
            output::counted(count, "template")
        ));
        return Ok(());
    }
    for (path, text) in &built_in {
        output::print(&format!("##### {path}\n{}\n", text.trim_end()));
    }
    let built = registration
        .build(&Settings::new())
        .map_err(Failure::input)?;
    let others = built.game.seats().saturating_sub(1);
    let rounds = built.params.contains_key("rounds");
    let example = example(arguments, game, others, rounds);
    runtime()?.block_on(async {
        let guard = log.start("prompts", true)?;
        let shown = show_example(&example, &library).await;
        guard.shutdown().await;
        shown
    })
}

fn list() {
    let library = PromptLibrary::builtin();
    let mut columns = Columns::new(["game", "agent", "versions"]);
    for game in registry::GAMES {
        let name = &*game.info.name;
        columns.row([
            name.to_owned(),
            "-".to_owned(),
            library.versions(name).join(", "),
        ]);
        for agent in AGENTS.iter().filter(|agent| agent.own_prompts) {
            let folder = agon_agents::templates::folder(name, agent.name);
            let versions = library.versions(&folder);
            if !versions.is_empty() {
                columns.row([name.to_owned(), agent.name.to_owned(), versions.join(", ")]);
            }
        }
    }
    output::print(&columns.to_string());
    output::print(
        "\n`agon prompts GAME` prints the templates of a version and what is sent; agents that are \
         not named here speak in the words of the game.",
    );
}

fn player(arguments: &Prompts) -> PlayerSpec {
    let settings = json!({
        "model": SIMULATED, "agent": arguments.agent, "prompt": arguments.version,
    });
    PlayerSpec {
        name: "subject".to_owned(),
        kind: PlayerKind::Model,
        settings: serde_json::from_value(settings).unwrap_or_default(),
    }
}

/// An experiment of one short session: the simulated model at seat 0, rules at all others.
fn example(arguments: &Prompts, game: &str, others: usize, rounds: bool) -> String {
    let (agent, version) = (&arguments.agent, &arguments.version);
    let params = if rounds {
        "params = { rounds = 2 }\n"
    } else {
        ""
    };
    let rivals = match others {
        0 => String::new(),
        count => format!(", {{ player = \"other\", count = {count} }}"),
    };
    format!(
        "name = \"{EXAMPLE}\"\n\
         [players.subject]\nkind = \"model\"\nmodel = \"{SIMULATED}\"\n\
         agent = \"{agent}\"\nprompt = \"{version}\"\n\
         [players.other]\nkind = \"rule\"\nstrategy = \"random\"\n\
         [[games]]\ngame = \"{game}\"\n{params}seats = [\"subject\"{rivals}]\n"
    )
}

/// Plays the example and prints what its model was sent.
async fn show_example(text: &str, library: &PromptLibrary) -> Result<(), Failure> {
    let bad = |errors| Failure::BadInput(format!("{errors}"));
    let file = ExperimentFile::parse(EXAMPLE, text).map_err(bad)?;
    let mut document = file.check().map_err(bad)?;
    let expansion = expand(&document).map_err(|faults| Failure::BadInput(faults.to_string()))?;
    let cells = expansion.into_cells();
    document.prompts = cells
        .flat_map(|cell| prompts_of(&cell.spec, library))
        .collect();
    let checked = CheckedExperiment {
        document,
        source: EXAMPLE.to_owned(),
        text: text.to_owned(),
        changes: Vec::new(),
        rules: BTreeMap::new(),
        templates: BTreeMap::new(),
        library: library.clone(),
        models: BTreeSet::from([SIMULATED.to_owned()]),
        settings: 1,
    };
    let line = play(&checked).await?;
    let record = StoredRecord::from_line(&line).map_err(Failure::surroundings)?;
    let (record, library) = (Arc::new(record), Arc::new(library.clone()));
    let remade = remake(&Tasks::new(), Arc::clone(&record), &RECORD, library).await;
    let remade = remade.map_err(Failure::surroundings)?;
    let choice = Choice {
        seat: Some(0),
        below: Some(SHOWN),
        ..Choice::default()
    };
    output::print(&format!(
        "##### An example: the first {SHOWN} decisions at seat 0, with the game's default parameters; \
         the replies are simulated"
    ));
    let decisions = Decisions::new(record, remade, None);
    decisions
        .text(choice)
        .for_each(|piece| output::print(&piece));
    Ok(())
}

/// Plays an experiment of one session in a scratch folder and hands over its record.
async fn play(checked: &CheckedExperiment) -> Result<String, Failure> {
    let folder = tempfile::tempdir().map_err(Failure::surroundings)?;
    let options = Options {
        redis: None,
        data: folder.path().to_owned(),
        experiment: EXAMPLE.to_owned(),
        workers: 1,
        places: 1,
        games: GameArguments::default(),
    };
    let config = GatewayConfig::default();
    let cluster = Cluster::start(&options, config, &checked.models).await?;
    let played = async {
        let mut client = results::experiment_client(cluster.experiments.clone());
        let experiment_id = hand_in(&mut client, checked, Terms::default())
            .await?
            .experiment_id;
        let watch = WatchExperimentRequest {
            experiment_id: experiment_id.clone(),
        };
        let mut states = client.watch_experiment(watch).await?.into_inner();
        while states.message().await?.is_some() {}
        let fetch = FetchRecordsRequest {
            experiment_id,
            ..Default::default()
        };
        let mut records = client.fetch_records(fetch).await?.into_inner();
        records.message().await
    };
    let played: Result<_, Status> = played.await;
    cluster.stop(Ok(())).await?;
    let result = played.map_err(|refusal| results::refused("the example", &refusal))?;
    let record = result.and_then(|result| agon_proto::packed::unpack(&result.record));
    record.ok_or_else(|| Failure::BadNews("the example was not played to its end".to_owned()))
}
