//! `agon export`: the sessions of any runs as tables for other programs. What the tables are, the
//! report crate says; `exporting.rs` writes them. Started by `commands.rs`.

use std::path::PathBuf;

use agon_outlets::InLine as _;
use agon_report::Reports;
use agon_report::export::{TABLES, rows_of};

use crate::exporting::{Exported, Format};
use crate::failure::Failure;
use crate::gathering::RunArguments;
use crate::output::{self, counted};

const EXAMPLES: &str = "Examples:
  agon export gamma-bench-quick-start -o out     six tables as Parquet
  agon export -o out --format csv                of all runs here
  agon export lb-gpt-4o lb-my-model -o out --tables sessions,seats
  agon export -o out --partition game            out/sessions/pirate.parquet ...
  agon export -o s3://bucket/my-paper            S3-compatible storage

  python:  pandas.read_parquet(\"out/sessions.parquet\")
  duckdb:  select game, avg(mean_payoff) from 'out/sessions.parquet' group by 1

out/columns.csv says what the columns are, and so does docs/exports.md, which also names the \
variables of the environment that hold credentials and endpoint of storage.";

/// Arguments of `agon export`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Export {
    #[command(flatten)]
    runs: RunArguments,
    /// The folder to write, or s3://bucket/prefix; it must not exist yet, or be empty
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Format of the files
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    format: Format,
    /// Tables to write: sessions, seats, rounds, actions, decisions, observations [default: all]
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    tables: Vec<String>,
    /// A folder for each table, with a file for every value of this column
    #[arg(long, value_enum, value_name = "COLUMN")]
    partition: Option<Partition>,
}

/// What files may be divided by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Partition {
    /// The game.
    Game,
    /// The experiment.
    Experiment,
}

/// Writes them.
///
/// # Errors
/// Exit 2 when there is no such run or table, or the folder holds something; 3 when it cannot be
/// written.
pub fn run(arguments: &Export) -> Result<(), Failure> {
    let tables = tables(&arguments.tables)?;
    // Before anything is written.
    let _ = arguments.runs.paths()?;
    let mut exported = Exported::begin(&arguments.out, arguments.format, tables)?;
    let reports = Reports::default();
    let gathered = arguments.runs.gather(|session| {
        let record = &session.record;
        match arguments.partition {
            Some(Partition::Game) => exported.partition(&record.spec.game),
            Some(Partition::Experiment) => {
                exported.partition(&record.spec.experiment);
            }
            None => {}
        }
        rows_of(record, &session.telemetry, &reports, &mut exported)
    })?;
    let written = exported.finish()?;
    for (table, rows) in written {
        output::print(&format!("{table}: {}", counted(rows, "row")));
    }
    for note in gathered.notes() {
        output::print(&note);
    }
    let sessions = counted(gathered.sessions, "session");
    output::tell(&format!("{sessions} in {}", arguments.out.in_line()));
    Ok(())
}

/// The tables of these names, or all.
fn tables(named: &[String]) -> Result<Vec<&'static str>, Failure> {
    if named.is_empty() {
        return Ok(TABLES.iter().map(|table| table.name).collect());
    }
    let known = |name: &String| {
        let found = TABLES.iter().find(|table| table.name == name);
        found.map(|table| table.name).ok_or_else(|| {
            let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
            Failure::BadInput(format!(
                "no table \"{}\"; tables are {}",
                name.in_line(),
                names.join(", ")
            ))
        })
    };
    named.iter().map(known).collect()
}
