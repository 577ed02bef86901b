//! `agon show`: one finished session as a readable log, or the sessions that there are.
//! Finds records (`sessions.rs`) and prints what the report crate tells of them; plays
//! nothing and changes nothing. Started by `commands.rs`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_engine::extent::Extent;
use agon_engine::names::among;
use agon_engine::record::StoredRecord;
use agon_engine::{Luck, Seat};
use agon_outlets::InLine as _;
use agon_report::auction::{Auctions, IncrementBins, Smoothing};
use agon_report::{Layout, Reports, Telling, grouped, story};
use agon_service_kit::tasks::Tasks;
use agon_worker::remaking::remake;
use serde_json::json;

use crate::failure::Failure;
use crate::output::{self, Columns, FormatArguments, counted};
use crate::role::{DataArguments, LogArguments, runtime};
use crate::run_folder::history::Results;
use crate::sent::{Choice, Prompts, telemetry};
use crate::sessions::{Found, Sessions, Source};
use crate::storage;
use crate::templates;

const EXAMPLES: &str = "Examples:
  agon show                               the experiments whose results are here
  agon show gamma-bench-quick-start       the sessions of one of them
  agon show aucarena-niche --measures     what its games came to, in tables
  agon show my-niche --run 1              the sessions of an earlier run
  agon show my-niche --measures --compare aucarena-niche
                                          beside what the paper published
  agon show my-niche --measures --increment-bins 0,5,10,20
                                          with your own bins of bid increments
  agon show 3f9a                          one session, by its id's beginning
  agon show 3f9a --seat 2                 the same as seat 2 saw it
  agon show 3f9a --plans --beliefs        with what players planned and believed
  agon show 3f9a --fouls                  with what was said in refused answers
  agon show 3f9a --seat 2 --replies       with all that its player said
  agon show 3f9a --prompts --seat 2       what its model was sent, word for word
  agon show 3f9a --prompts --decision 2/7 one call of it
  agon show 3f9a --json | jq .outcome     the record itself
  agon show 3f9a --coordinator http://coordinator:7700

Results are looked for in DATA/runs, where `agon run` writes them; --results names another folder \
(a run's, or one with several runs below it) or a records.jsonl.";

/// Arguments of `agon show`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Show {
    /// A session's id, or its beginning; or an experiment's name, the folder of its results or of a
    /// coordinator's archive (also in a bucket: s3://BUCKET/PREFIX/EXPERIMENT) or a file of records, to
    /// list sessions; nothing, to list experiments
    #[arg(value_name = "SESSION")]
    session: Option<String>,
    /// Folder or file with records [default: DATA/runs]
    #[arg(long, value_name = "DIR", conflicts_with = "coordinator")]
    results: Option<PathBuf>,
    #[command(flatten)]
    data: DataArguments,
    /// For an experiment: the number of the run, as `agon runs` lists them [default: the newest
    /// run with results]
    #[arg(
        long,
        value_name = "N",
        requires = "session",
        conflicts_with = "coordinator"
    )]
    run: Option<u32>,
    /// Ask the coordinator at this address
    #[arg(long, value_name = "URL")]
    coordinator: Option<String>,
    /// Only what this seat could see, and what its own player concluded
    #[arg(long, value_name = "N")]
    seat: Option<Seat>,
    /// With plans, strategies and tips of the players
    #[arg(long)]
    plans: bool,
    /// With beliefs and their corrections, profiles and predictions
    #[arg(long)]
    beliefs: bool,
    /// With what was said in each refused answer
    #[arg(long)]
    fouls: bool,
    /// With all that was said in the answers that counted
    #[arg(long)]
    replies: bool,
    /// What every decision was asked, word for word, and what came of it: messages, schema,
    /// parameters, reasoning, raw reply, how it was read, re-asks, tokens
    #[arg(long, conflicts_with_all = ["plans", "beliefs", "fouls", "replies"])]
    prompts: bool,
    /// With --prompts: only this decision, as SEAT/INDEX
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "prompts",
        conflicts_with = "seat"
    )]
    decision: Option<String>,
    /// With --prompts: each conversation in full, not only what is new in it
    #[arg(long, requires = "prompts")]
    whole: bool,
    /// With --prompts: the templates that the run replaced built-in ones with, if it did
    /// [default: those in the run's folder]
    #[arg(long, value_name = "DIR", requires = "prompts")]
    templates: Option<PathBuf>,
    /// Of an experiment: all that is measured of its games over the sessions of a setting.
    /// docs/measures.md defines every number
    #[arg(long, requires = "session",
          conflicts_with_all = ["seat", "plans", "beliefs", "fouls", "replies", "prompts"])]
    measures: bool,
    /// With --measures: what is published in this table too, as the key `compare` of an
    /// experiment's [report] shows it
    #[arg(
        long,
        value_name = "TABLE",
        requires = "measures",
        conflicts_with = "json"
    )]
    compare: Option<String>,
    /// With --measures: where the bins of bid increments begin, in percent, rising from 0;
    /// each ends before the next one, the last has no end [default: 0,10,11,20,50]
    #[arg(
        long,
        value_name = "PERCENT",
        value_delimiter = ',',
        requires = "measures"
    )]
    increment_bins: Vec<f64>,
    /// With --measures: what is added to every share of a profile of a rival before it is
    /// compared with its true persona [default: 1e-9]
    #[arg(long, value_name = "SHARE", requires = "measures")]
    smoothing: Option<f64>,
    #[command(flatten)]
    format: FormatArguments,
    /// As JSON: the record as it is, or with --seat what that seat could see; with
    /// --measures all measures, more than the tables have room for
    #[arg(long)]
    json: bool,
}

/// Shows it.
///
/// # Errors
/// Exit 2 when there is no such session, or more than one; 3 when the coordinator
/// does not answer.
pub fn run(arguments: &Show, log: &LogArguments) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let guard = log.start("show", true)?;
        let shown = show(arguments).await;
        guard.shutdown().await;
        shown
    })
}

async fn show(arguments: &Show) -> Result<(), Failure> {
    if arguments.format.is_given() && (!arguments.measures || arguments.json) {
        let reason = "--format has an effect with --measures only, and not with --json";
        return Err(Failure::BadInput(reason.to_owned()));
    }
    let place = arguments.session.as_ref().map(PathBuf::from);
    if let (Some(place), None, None) = (&place, &arguments.coordinator, &arguments.results)
        && (storage::is_address(place) || place.exists())
        && (place.is_absolute() || !arguments.data.runs().join(place).exists())
    {
        return show_place(arguments, place).await;
    }
    let source = match (&arguments.coordinator, &arguments.results) {
        (Some(url), _) => Source::Coordinator(url.clone()),
        (None, Some(path)) => Source::Folder(path.clone(), arguments.run),
        (None, None) => Source::Folder(arguments.data.runs(), arguments.run),
    };
    match &arguments.session {
        Some(wanted) => show_wanted(arguments, &source, wanted).await,
        None => list_experiments(arguments, &Sessions::look(&source, None).await?),
    }
}

/// Shows what a folder or file holds: of one experiment its sessions, of several which there are.
async fn show_place(arguments: &Show, place: &Path) -> Result<(), Failure> {
    let source = Source::Folder(place.to_owned(), arguments.run);
    let sessions = Sessions::look(&source, None).await?;
    let mut experiments = sessions.experiments.keys();
    match (experiments.next(), experiments.next()) {
        (Some(only), None) => show_wanted(arguments, &source, only).await,
        _ => list_experiments(arguments, &sessions),
    }
}

async fn show_wanted(arguments: &Show, source: &Source, wanted: &str) -> Result<(), Failure> {
    if arguments.measures {
        let empty = Reports::of_auctions(Auctions {
            bins: bins(&arguments.increment_bins)?,
            smoothing: smoothing(arguments.smoothing)?,
        });
        let sessions = Sessions::measure(source, wanted, empty).await?;
        return show_measures(arguments, wanted, &sessions);
    }
    let sessions = Sessions::look(source, Some(wanted)).await?;
    if !sessions.of_experiment.is_empty() {
        return list_sessions(arguments, &sessions);
    }
    let found = sessions.the_one(wanted)?;
    if arguments.prompts {
        return show_prompts(arguments, found).await;
    }
    tell(arguments, &found.line)
}

fn show_measures(arguments: &Show, wanted: &str, sessions: &Sessions) -> Result<(), Failure> {
    let measured = sessions.reports.as_ref();
    let Some(measured) = measured.filter(|reports| !reports.is_empty()) else {
        if sessions.experiments.contains_key(wanted) {
            let games = Reports::default().games().join(", ");
            return Err(Failure::BadInput(format!(
                "{wanted} has no finished session of a game with measures; these games have some: {games}"
            )));
        }
        // Says what is near when there is no such session either.
        sessions.the_one(wanted)?;
        return Err(Failure::BadInput(format!(
            "{wanted} is a session; --measures takes the name of an experiment"
        )));
    };
    if arguments.json {
        output::print_json(&measured.to_json().map_err(Failure::surroundings)?);
        return Ok(());
    }
    let compared = match &arguments.compare {
        Some(table) => Some(published(measured, table, arguments.format.layout())?),
        None => None,
    };
    output::print(&measured.render(arguments.format.layout()));
    if let Some(compared) = compared {
        output::print(&format!("\n{compared}"));
    }
    Ok(())
}

/// Prints what the decisions of a session were asked, made again from its record.
async fn show_prompts(arguments: &Show, found: &Found) -> Result<(), Failure> {
    let record = Arc::new(StoredRecord::from_line(&found.line).map_err(Failure::input)?);
    let choice = match &arguments.decision {
        Some(address) => Choice::at(address).map_err(Failure::BadInput)?,
        None => Choice {
            seat: arguments.seat,
            whole: arguments.whole,
            ..Choice::default()
        },
    };
    if record.decisions.is_empty() {
        let reason = "no model was asked anything in this session".to_owned();
        return Err(Failure::BadInput(reason));
    }
    let file = found.file.as_deref().unwrap_or(Path::new(""));
    let library = templates::played_with(arguments.templates.as_deref(), file)?;
    let tasks = Tasks::new();
    let most = Extent::of_json(found.line.as_bytes());
    let remade = remake(&tasks, Arc::clone(&record), &most, Arc::new(library)).await;
    let remade = remade
        .map_err(|other| Failure::BadInput(format!("{other}; name them with --templates")))?;
    let telemetry = found
        .file
        .as_deref()
        .and_then(|file| telemetry(file, &record));
    let prompts = Prompts::new(record, remade, telemetry.as_ref());
    prompts.refuse_nothing(choice).map_err(Failure::BadInput)?;
    if arguments.json {
        output::print_json_list(prompts.json(choice));
    } else {
        prompts.text(choice).for_each(|piece| output::print(&piece));
    }
    match prompts.same() {
        (same, all) if same == all => Ok(()),
        (same, all) => Err(Failure::BadNews(format!(
            "{} of {all} calls could not be made again as they were",
            all - same
        ))),
    }
}

/// The paper's bins where none are given.
fn bins(edges: &[f64]) -> Result<IncrementBins, Failure> {
    if edges.is_empty() {
        return Ok(IncrementBins::default());
    }
    IncrementBins::new(edges.to_vec()).ok_or_else(|| {
        Failure::BadInput("--increment-bins must rise from 0, as 0,10,11".to_owned())
    })
}

fn smoothing(added: Option<f64>) -> Result<Smoothing, Failure> {
    let Some(added) = added else {
        return Ok(Smoothing::default());
    };
    Smoothing::new(added).ok_or_else(|| {
        Failure::BadInput("--smoothing must be above 0 and at most 1, as 0.001".to_owned())
    })
}

fn published(measured: &Reports, table: &str, layout: Layout) -> Result<String, Failure> {
    let compared = measured.beside_published(table, layout);
    compared.ok_or_else(|| {
        Failure::BadInput(format!(
            "no published table \"{table}\"{}",
            among(table, measured.published_tables())
        ))
    })
}

fn tell(arguments: &Show, line: &str) -> Result<(), Failure> {
    let record = StoredRecord::from_line(line).map_err(Failure::input)?;
    let seats = record.spec.seats.len();
    if let Some(seat) = arguments.seat
        && seat >= seats
    {
        return Err(Failure::BadInput(format!(
            "there is no seat {seat}: the session has seats 0 to {}",
            seats.saturating_sub(1)
        )));
    }
    match (arguments.json, arguments.seat) {
        (true, Some(seat)) => output::print_json(&story::seat_as_json(&record, seat).to_string()),
        (true, None) => output::print_json(line),
        (false, seat) => {
            let telling = Telling {
                seat,
                plans: arguments.plans,
                beliefs: arguments.beliefs,
                said: arguments.fouls,
                replies: arguments.replies,
                anonymous: false,
            };
            output::print(&story::tell(&record, telling));
        }
    }
    Ok(())
}

fn list_experiments(arguments: &Show, sessions: &Sessions) -> Result<(), Failure> {
    if arguments.json {
        let listed: Vec<_> = sessions
            .experiments
            .iter()
            .map(|(name, count)| json!({ "experiment": name, "sessions": count }))
            .collect();
        output::print_json(&json!(listed).to_string());
        return Ok(());
    }
    if sessions.experiments.is_empty() {
        return Err(Failure::BadInput(sessions.nothing()));
    }
    let mut columns = Columns::new(["experiment", "sessions", "of run", "runs kept"]);
    for (name, count) in &sessions.experiments {
        let (run, kept) = match which_run(sessions, name, None) {
            Some((run, results)) => (run.to_string(), results.runs.len().to_string()),
            None => (String::new(), String::new()),
        };
        columns.row([name.clone(), grouped(*count), run, kept]);
    }
    output::print(&columns.to_string());
    output::print("\n`agon show EXPERIMENT` lists its sessions, `agon show SESSION` shows one.");
    Ok(())
}

fn list_sessions(arguments: &Show, sessions: &Sessions) -> Result<(), Failure> {
    if arguments.json {
        let listed = sessions.of_experiment.iter();
        let listed: Vec<&str> = listed.map(|one| one.json.as_str()).collect();
        output::print_json(&format!("[{}]", listed.join(",")));
        return Ok(());
    }
    let digits = sessions.digits();
    let mut listed = sessions.of_experiment.iter();
    let in_series = listed.any(|session| session.luck.place > 0);
    let mut columns = Columns::new([
        "session",
        "game",
        "setting",
        if in_series { "repeat, place" } else { "repeat" },
        "players",
        "payoffs",
        "notes",
    ]);
    for session in &sessions.of_experiment {
        let Luck { repeat, place, .. } = session.luck;
        columns.row([
            session.session[..digits.min(session.session.len())].to_owned(),
            session.spec.game.clone(),
            sessions.axes.setting(&session.spec),
            if in_series {
                format!("{repeat}, {place}")
            } else {
                repeat.to_string()
            },
            session.players.clone(),
            session.payoffs.clone(),
            session.notes.clone(),
        ]);
    }
    output::print(&columns.to_string());
    let count = counted(sessions.of_experiment.len() as u64, "session");
    output::print(&format!("\n{count}; `agon show SESSION` shows one."));
    let first = sessions.of_experiment.first();
    let experiment = first.map(|first| first.spec.experiment.as_str());
    let experiment = experiment.unwrap_or_default();
    if let Some((run, results)) = which_run(sessions, experiment, arguments.run)
        && results.runs.len() > 1
    {
        let folder = results.path.in_line();
        let all = match results.runs.len() {
            2 => "both".to_owned(),
            kept => format!("all {kept}"),
        };
        output::print(&format!(
            "They are from run {run}; `agon runs {folder}` lists {all}."
        ));
    }
    Ok(())
}

/// Which run of an experiment is shown, and the folder that keeps its runs, if it keeps them apart.
fn which_run<'a>(
    sessions: &'a Sessions,
    experiment: &str,
    wanted: Option<u32>,
) -> Option<(u32, &'a Results)> {
    let mut folders = sessions.folders.iter();
    let results = folders.find(|results| results.experiment == experiment)?;
    let shown = results.runs.iter().find(|run| run.is_shown);
    Some((wanted.or(shown.map(|run| run.number))?, results))
}
