//! `agon report`: everything that can be made of any number of runs, in one go: the tables and what
//! is published beside them, in the terminal, for a paper, or as one page. Started by `commands.rs`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agon_outlets::InLine as _;
use agon_report::Tables;

use crate::failure::Failure;
use crate::gathering::{Gathered, RunArguments, named_by, provenance};
use crate::named_file::Overwrite;
use crate::output::{self, FormatArguments};
use crate::results::published_table;

mod analyses;
mod page;

const EXAMPLES: &str = "Examples:
  agon report gamma-bench-quick-start   its tables, with the published one
  agon report lb-gpt-4o lb-my-model     two runs together, each session once
  agon report my-niche --compare aucarena-niche
  agon report my-niche --format latex   every table for a paper
  agon report my-niche -o report.html   one page with tables and figures

The tables that experiments name in [report] are shown with what is published; --compare adds others.";

/// Endings of pages.
const ENDINGS: [&str; 2] = ["html", "htm"];

/// Arguments of `agon report`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Report {
    #[command(flatten)]
    runs: RunArguments,
    /// What is published in this table too, as the key `compare` of an experiment's [report]
    /// names it; may be given several times
    #[arg(long, value_name = "TABLE", value_parser = published_table)]
    compare: Vec<String>,
    /// Write one page of HTML with tables and figures into this file instead; it ends with .html
    #[arg(short, long, value_name = "FILE", conflicts_with = "format")]
    out: Option<PathBuf>,
    /// On the page, also what `python -m agon.analysis RUN... --out FOLDER` found about these runs:
    /// how players reason, what they could have gained, who would win in equilibrium
    #[arg(long, value_name = "FOLDER", requires = "out")]
    analyses: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    #[command(flatten)]
    format: FormatArguments,
}

/// Prints it.
///
/// # Errors
/// Exit 2 when there is no such run or table, or the file is to be no page.
pub fn run(arguments: &Report) -> Result<(), Failure> {
    let mut tables = Tables::default();
    if let Some(out) = &arguments.out {
        if !out
            .extension()
            .is_some_and(|ending| ENDINGS.iter().any(|one| ending == *one))
        {
            return Err(Failure::BadInput(format!(
                "{} ends neither with .html nor with .htm: a report is a page; `agon figure` writes \
                 pictures, `--format latex` prints tables for a paper",
                out.in_line()
            )));
        }
        return page::write(arguments, out, tables);
    }
    let gathered = arguments.runs.gather(|session| {
        tables.add(&session.record, &session.telemetry);
        Ok(())
    })?;
    let layout = arguments.format.layout();
    output::print(&tables.render(layout));
    for name in compared(&arguments.compare, &gathered) {
        if let Some(published) = tables.beside_published(&name, layout) {
            output::print(&format!("\n{published}"));
        }
    }
    let runs = provenance::runs(&gathered).fitted(layout);
    output::print(&format!("\n{runs}"));
    for note in [gathered.notes(), provenance::differences(&gathered)].concat() {
        output::print(&format!("\n{note}"));
    }
    Ok(())
}

/// The published tables that were asked for, and those that the experiments name.
fn compared(asked: &[String], gathered: &Gathered) -> BTreeSet<String> {
    let named = gathered.runs.iter().filter_map(|run| named_by(&run.file));
    asked.iter().cloned().chain(named).collect()
}
