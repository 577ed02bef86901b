//! `agon figure`: a figure of any runs, as a picture, as its data or in the terminal. What it shows is
//! a line in the report crate's list; the crate `figures` draws. Started by `commands.rs`.

use std::path::{Path, PathBuf};

use agon_engine::names::among;
use agon_figures::{Figure, RenderError};
use agon_outlets::InLine as _;
use agon_report::plots::{Plot, PlotData, find, plots};
use agon_report::{Column, Layout, Reports, TextTable};

use crate::failure::Failure;
use crate::gathering::RunArguments;
use crate::named_file::Overwrite;
use crate::output;

const EXAMPLES: &str = "Examples:
  agon figure                                     lists the figures
  agon figure gamma-bench-guessing my-repeats     in the terminal
  agon figure alympics-bids my-water -o bids.svg  a picture: .svg, .png or .pdf
  agon figure alympics-bids my-water -o bids.csv  its numbers
  agon figure payoffs lb-gpt-4o lb-my-model -o p.pdf --csv

Every mean has its 95 % interval over sessions or series; the caption says over how many.";

/// Pixels of an inch of a PNG.
const PIXELS_PER_INCH: f32 = 300.0;

/// Arguments of `agon figure`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct FigureArguments {
    /// The figure; nothing, to list them
    #[arg(value_name = "FIGURE")]
    name: Option<String>,
    #[command(flatten)]
    runs: RunArguments,
    /// Write it into this file, as its ending says: .svg, .png, .pdf or .csv
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// With a picture: write its numbers beside it, as .csv
    #[arg(long, requires = "out")]
    csv: bool,
    #[command(flatten)]
    overwrite: Overwrite,
}

/// Draws it.
///
/// # Errors
/// Exit 2 when there is no such figure or run, or nothing to show; 3 when it cannot be written.
pub fn run(arguments: &FigureArguments) -> Result<(), Failure> {
    let Some(name) = &arguments.name else {
        list();
        return Ok(());
    };
    let plot = find(name).ok_or_else(|| {
        let names = plots().map(|plot| plot.name);
        Failure::BadInput(format!(
            "no figure \"{}\"{}; `agon figure` lists them",
            name.in_line(),
            among(name, names)
        ))
    })?;
    // Before sessions are read for nothing.
    let form = arguments.out.as_deref().map(Form::of).transpose()?;
    let numbers = arguments.csv.then_some(arguments.out.as_ref()).flatten();
    let numbers = numbers.map(|out| out.with_extension("csv"));
    for file in arguments.out.iter().chain(&numbers) {
        arguments.overwrite.check(file)?;
    }
    let mut drawn = PlotData::new(plot);
    let reports = Reports::default();
    let gathered = arguments.runs.gather(|session| {
        drawn.add(&session.record, &reports);
        Ok(())
    })?;
    if drawn.is_empty() {
        return Err(Failure::BadInput(nothing(plot)));
    }
    let figure = drawn.figure();
    match (&arguments.out, form) {
        (Some(out), Some(form)) => {
            arguments.overwrite.write(out, &form.of_figure(&figure)?)?;
            if let Some(numbers) = numbers.filter(|numbers| numbers != out) {
                let csv = figure.csv();
                arguments.overwrite.write(&numbers, csv.as_bytes())?;
            }
            output::tell(&format!("{} in {}", plot.name, out.in_line()));
        }
        _ => output::print(&figure.text(usize::from(output::width()))),
    }
    for note in gathered.notes() {
        output::tell(&note);
    }
    Ok(())
}

fn nothing(plot: &Plot) -> String {
    let games = match plot.games {
        [] => "any game".to_owned(),
        games => games.join(", "),
    };
    format!(
        "none of these sessions has anything for the figure {}: it shows sessions of {games}",
        plot.name
    )
}

fn list() {
    let mut columns = vec![Column::key("figure")];
    columns.extend(["what it shows", "like", "games"].map(Column::words));
    let mut table = TextTable::new(columns);
    for plot in plots() {
        let games = match plot.games.len() {
            0 => "any".to_owned(),
            1..=3 => plot.games.join(", "),
            _ => "gamma-Bench's".to_owned(),
        };
        table.row([plot.name, plot.about, plot.source, &games].map(str::to_owned));
    }
    output::print(&table.fitted(Layout::Text(output::width())));
}

/// What a file holds.
#[derive(Clone, Copy)]
enum Form {
    Svg,
    Png,
    Pdf,
    Csv,
}

impl Form {
    fn of(file: &Path) -> Result<Self, Failure> {
        let ending = file.extension().unwrap_or_default().to_string_lossy();
        Ok(match &*ending {
            "svg" => Self::Svg,
            "png" => Self::Png,
            "pdf" => Self::Pdf,
            "csv" => Self::Csv,
            _ => {
                return Err(Failure::BadInput(format!(
                    "{} ends neither with .svg, .png or .pdf nor with .csv",
                    file.in_line()
                )));
            }
        })
    }

    fn of_figure(self, figure: &Figure) -> Result<Vec<u8>, Failure> {
        let failed = |error: RenderError| match error {
            RenderError::Size { .. } => Failure::BadInput(format!(
                "cannot draw the figure: {error}; name fewer runs, narrow it with --where \
                 AXIS=VALUE, or write it as .svg or .csv"
            )),
            _ => Failure::Surroundings(format!("cannot draw the figure: {error}")),
        };
        match self {
            Self::Svg => Ok(figure.svg().into_bytes()),
            Self::Csv => Ok(figure.csv().into_bytes()),
            Self::Png => agon_figures::png(&figure.svg(), PIXELS_PER_INCH).map_err(failed),
            Self::Pdf => agon_figures::pdf(&figure.svg()).map_err(failed),
        }
    }
}
