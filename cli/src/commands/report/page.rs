//! The report as one page: what was run, the answer first, then every table and figure that the
//! sessions have anything for, with the data of each figure. Sessions are read once.

use std::collections::BTreeSet;
use std::path::Path;

use agon_figures::Palette;
use agon_outlets::InLine as _;
use agon_report::comparison::MainComparison;
use agon_report::page::{Page, SessionList, details, folded, heading, paragraph, warning};
use agon_report::plots::{PlotData, PlotSet, for_games};
use agon_report::tables::LEADERBOARD;
use agon_report::{Layout, Session, Tables};
use agon_service_kit::files::read_whole;
use agon_service_kit::secrets;

use super::analyses::Analyses;
use super::{Report, compared};
use crate::failure::Failure;
use crate::gathering::{Gathered, provenance};
use crate::output::{self, counted};
use crate::run_folder::{EXPERIMENT, MOST_BESIDE_BYTES};

/// Characters of an experiment's document that are shown.
const MOST_SHOWN: usize = 20_000;

/// Reads the sessions and writes the page.
///
/// # Errors
/// There is no such run, or the file cannot be written.
pub(super) fn write(arguments: &Report, out: &Path, mut tables: Tables) -> Result<(), Failure> {
    // Before sessions are read for nothing.
    arguments.overwrite.check(out)?;
    let analyses = arguments.analyses.as_deref().map(Analyses::read);
    let analyses = analyses.transpose()?;
    let mut ids = BTreeSet::new();
    let mut plots = PlotSet::new(for_games).linked();
    let mut sessions = SessionList::default();
    let (mut all, mut simulated) = (0u64, 0u64);
    let named = arguments.runs.named();
    let mut comparison = MainComparison::new(named.len() > 1);
    let gathered = arguments.runs.gather(|gathered| {
        let record = gathered.record;
        all += 1;
        simulated += u64::from(record.simulated);
        plots.add(&record);
        let session = Session::of(&record);
        if analyses.is_some() {
            ids.insert(session.session.clone());
        }
        sessions.add(&session);
        comparison.add(named.get(gathered.place).map_or("", |run| run), &session);
        tables.add_session(&record, &session, &gathered.telemetry);
        Ok(())
    })?;
    let mut page = Page::new(&title(&gathered));
    page.section("Summary", summary(&gathered, all, simulated));
    let mut names = compared(&arguments.compare, &gathered);
    if tables.has_leaderboard() {
        names.remove(LEADERBOARD);
        let leaderboard = tables.beside_published(LEADERBOARD, Layout::Html);
        page.section("Leaderboard", leaderboard.unwrap_or_default());
    }
    let standings = standings(&tables);
    if !standings.is_empty() {
        page.section("Standings", standings);
    }
    let comparisons = comparisons(&mut comparison);
    if !comparisons.is_empty() {
        page.section("Comparisons", comparisons);
    }
    page.section("Measures", tables.render(Layout::Html));
    for name in names {
        if let Some(table) = tables.beside_published(&name, Layout::Html) {
            page.section(&format!("Published beside it: {name}"), table);
        }
    }
    page.section("Figures", figures(&plots));
    if let Some(analyses) = &analyses {
        page.section("Reasoning and strategy", analyses.html(&ids)?);
    }
    page.section("Sessions", sessions.html());
    page.section("What was run", what_was_run(&gathered));
    let html = secrets::without(&page.html()).into_owned();
    arguments.overwrite.write(out, html.as_bytes())?;
    output::tell(&format!("{} in {}", counted(all, "session"), out.in_line()));
    Ok(())
}

/// Who did best over all games, and in each.
fn standings(tables: &Tables) -> String {
    let overall = tables.standings().overall(Layout::Html);
    let games = tables.standings().by_game(true, Layout::Html);
    let games = (!games.is_empty()).then(|| folded("Game by game", "games", &games));
    overall
        .into_iter()
        .chain(games)
        .collect::<Vec<_>>()
        .join("\n")
}

/// What is compared with what; of several only the first is open.
fn comparisons(comparison: &mut MainComparison) -> String {
    let compared = comparison.render(Layout::Html).into_iter().enumerate();
    let compared = compared.map(|(place, (title, table))| match place {
        0 => format!("{}\n{table}", heading(&title)),
        _ => folded(&title, &format!("comparison-{place}"), &table),
    });
    compared.collect::<Vec<_>>().join("\n")
}

fn title(gathered: &Gathered) -> String {
    let runs = gathered.runs.iter().filter(|run| run.sessions > 0);
    let accounts = runs.filter_map(|run| run.account.as_ref());
    let mut names: Vec<&str> = accounts.map(|account| &*account.experiment).collect();
    names.dedup();
    match names.as_slice() {
        [] => "Sessions of unknown runs".to_owned(),
        [one] => (*one).to_owned(),
        [one, two] => format!("{one} and {two}"),
        [one, .., last] => format!("{one} to {last}, {} runs", names.len()),
    }
}

fn summary(gathered: &Gathered, all: u64, simulated: u64) -> String {
    let mut parts = Vec::new();
    if simulated > 0 {
        let which = match simulated == all {
            true => "All sessions were".to_owned(),
            false => format!(
                "{} of {} were",
                counted(simulated, "session"),
                counted(all, "session")
            ),
        };
        parts.push(warning(&format!(
            "{which} played by SIMULATED models: their numbers say nothing about real ones"
        )));
    }
    parts.push(provenance::runs(gathered).fitted(Layout::Html));
    let notes = [gathered.notes(), provenance::differences(gathered)].concat();
    parts.extend(notes.iter().map(|note| paragraph(note)));
    parts.push(paragraph(
        "Means are over sessions; n is how many. Intervals are 95 % intervals. Numbers that rest on \
         forfeited answers are marked, or left out where most answers were.",
    ));
    parts.join("\n")
}

fn figures(plots: &PlotSet) -> String {
    let shown = plots.iter();
    // A player looks the same in all of them.
    let palette = Palette::of(
        shown
            .clone()
            .flat_map(PlotData::series)
            .collect::<BTreeSet<_>>(),
    );
    let figures = shown.enumerate().map(|(place, plots)| {
        let figure = plots.figure().palette(palette.clone());
        let svg = figure.svg_for_page(&format!("f{place}"));
        let data = details(&format!("Data of {}", plots.name()), &figure.csv());
        format!("<figure>\n{svg}\n{data}\n</figure>")
    });
    figures.collect::<Vec<_>>().join("\n")
}

/// The documents of the runs, and how each was started.
fn what_was_run(gathered: &Gathered) -> String {
    let runs = gathered.runs.iter().filter(|run| run.sessions > 0);
    let parts = runs.map(|run| {
        let Some(account) = &run.account else {
            return paragraph(&format!(
                "{}: nothing but its records is known",
                run.file.in_line()
            ));
        };
        let document = read_whole(&run.file.with_file_name(EXPERIMENT), MOST_BESIDE_BYTES);
        let document = document.ok().and_then(|text| String::from_utf8(text).ok());
        let document: Option<String> = document.map(|text| text.chars().take(MOST_SHOWN).collect());
        let command = account.command.join(" ");
        let versions = serde_json::to_string_pretty(&account.versions).unwrap_or_default();
        let models = serde_json::to_string_pretty(&account.models).unwrap_or_default();
        let about = format!(
            "{} run {}, started {}, ended {}: {}",
            account.experiment,
            account.run,
            account.started,
            account.ended.as_deref().unwrap_or("never"),
            account.outcome.in_words()
        );
        let parts = [
            Some(paragraph(&about)),
            Some(paragraph(&format!("Command: {command}"))),
            Some(details("Versions of program, rules and prompts", &versions)),
            Some(details("Where answers came from", &models)),
            document.map(|text| details("The experiment", &text)),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    });
    parts.collect::<Vec<_>>().join("\n")
}
