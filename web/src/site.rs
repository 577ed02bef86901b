//! The pages as plain files, for any host that serves files: the front end, and what the interface answers,
//! packed. Says which files there are and what they hold, and writes none. Called by `agon publish`.

use agon_report::Tables;
use agon_report::blocks::blocks;
use agon_report::plots::PlotSet;
use agon_report::spreadsheet::csv_of;
use agon_report::viewing::Viewing;
use serde::Serialize;
use serde_json::json;

use crate::answers::{Decision, SessionHead, Steps};
use crate::assets;
use crate::index::{Choices, Index, RunChoice};
use crate::library::Calls;
use crate::results::{FigureFile, FigureHead, Part, Standing, Told, part_of, parts, told, written};

/// Steps of a file, as many as the front end asks for at once.
const STEPS: usize = 100;

/// Calls of a file: long conversations stand whole in the first call of each seat.
pub const CALLS: usize = 50;

/// Sessions of a file of a list.
const SESSIONS: usize = 1_000;

/// What the page may do: as the server says, but for what a page cannot say of itself.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
                      connect-src 'self'; font-src 'self'; form-action 'none'; base-uri 'none'; \
                      require-trusted-types-for 'script'";

/// What says in a page that it is one of a site.
const MARK: &str = "<meta name=\"agon-site\" content=\"1\" />";

/// A file of a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteFile {
    /// Its path below the site, with `/`.
    pub path: String,
    /// What it holds.
    pub bytes: Vec<u8>,
    /// Whether it is stored packed, under its path with `.gz`.
    pub is_packed: bool,
}

impl SiteFile {
    fn data(path: String, value: &impl Serialize) -> Self {
        Self {
            path: format!("data/{path}.json"),
            // What is shown are words, numbers and lists and maps of them, which always serialise.
            bytes: serde_json::to_vec(value).unwrap_or_default(),
            is_packed: true,
        }
    }

    fn plain(path: String, text: String) -> Self {
        Self {
            path: format!("data/{path}"),
            bytes: text.into_bytes(),
            is_packed: false,
        }
    }
}

/// What a site leaves out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How each seat saw its session.
    pub seats: bool,
    /// The calls of models.
    pub calls: bool,
}

/// The front end.
pub fn front_end() -> Vec<SiteFile> {
    let files = assets::built();
    let mut files: Vec<SiteFile> = files
        .map(|(path, data)| SiteFile {
            bytes: match path.ends_with(".html") {
                true => page(&String::from_utf8_lossy(&data)).into_bytes(),
                false => data.into_owned(),
            },
            path,
            is_packed: false,
        })
        .collect();
    files.sort_by(|one, other| one.path.cmp(&other.path));
    files
}

/// The page of a site: it says by itself what servers say of theirs.
fn page(built: &str) -> String {
    let policy =
        format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\" />\n    {MARK}");
    // The policy holds for what comes after it.
    let charset = "<meta charset=\"utf-8\" />";
    built.replacen(charset, &format!("{charset}\n    {policy}"), 1)
}

/// The lists of runs and sessions. `place` says where the records of a run are, in the site.
pub fn lists(index: &Index, place: impl Fn(&str) -> String) -> Vec<SiteFile> {
    let mut files = Vec::new();
    let mut runs = index.runs();
    for run in &mut runs {
        run.place = place(&run.run);
        let Some(mut head) = index.run(&run.run) else {
            continue;
        };
        head.run.place.clone_from(&run.place);
        // They name files of the machine on which it was published.
        head.notes.retain(|note| !note.starts_with("unreadable"));
        files.push(SiteFile::data(format!("runs/{}/head", run.run), &head));
        let all: Vec<_> = index.all_sessions(&run.run).collect();
        // A run whose sessions all stand in another has a page without any.
        let pages = all.len().div_ceil(SESSIONS).max(1);
        files.extend((0..pages).map(|number| {
            let sessions = all.iter().skip(number * SESSIONS).take(SESSIONS);
            let sessions: Vec<_> = sessions.collect();
            let page = json!({ "sessions": sessions, "total": all.len() });
            SiteFile::data(format!("runs/{}/sessions-{number}", run.run), &page)
        }));
    }
    files.push(SiteFile::data("runs".to_owned(), &json!({ "runs": runs })));
    files
}

/// A session: what is said of it, and its steps.
pub fn session(index: &Index, viewing: &Viewing, left_out: LeftOut) -> Vec<SiteFile> {
    let id = viewing.record().session.to_string();
    let run = index.place(&id).map(|(run, _)| run.to_owned());
    let head = SessionHead {
        run: run.unwrap_or_default(),
        head: viewing.head(),
        paired: index.paired(&id),
    };
    let mut files = vec![SiteFile::data(format!("sessions/{id}/head"), &head)];
    let total = viewing.steps();
    let seats = viewing.record().spec.seats.len();
    for (number, from) in (0..total).step_by(STEPS).enumerate() {
        let steps = |seat| Steps {
            steps: viewing.from(from, STEPS, seat),
            total,
        };
        files.push(SiteFile::data(
            format!("sessions/{id}/steps-{number}"),
            &steps(None),
        ));
        if !left_out.seats {
            let seen: Vec<Steps> = (0..seats).map(|seat| steps(Some(seat))).collect();
            let path = format!("sessions/{id}/seats-{number}");
            files.push(SiteFile::data(path, &seen));
        }
    }
    files
}

/// The calls of a session's models, or why there are none. Of each call that comes after another one of
/// its seat in the same file, the messages are left out that stood in the one before.
pub fn calls(session: &str, calls: Result<&dyn Calls, String>) -> impl Iterator<Item = SiteFile> {
    let path = format!("sessions/{session}/calls-");
    let (calls, fault) = match calls {
        Ok(calls) => (Some(calls), None),
        Err(reason) => (None, Some(json!({ "error": reason }))),
    };
    let fault = fault.map(|fault| SiteFile::data(format!("{path}0"), &fault));
    let count = calls.map_or(0, Calls::count);
    let files = (0..count).step_by(CALLS).enumerate();
    let files = files.filter_map(move |(number, first)| {
        let calls = calls?;
        let mut seat = None;
        let shortened = (first..count.min(first + CALLS)).map(|place| {
            let call = calls.at(place);
            let is_first = seat.replace(call.seat) != Some(call.seat);
            if is_first { call } else { shortened(call) }
        });
        let shortened: Vec<Decision> = shortened.collect();
        let calls = json!({ "calls": shortened });
        Some(SiteFile::data(format!("{path}{number}"), &calls))
    });
    fault.into_iter().chain(files)
}

fn shortened(mut call: Decision) -> Decision {
    if let Some(messages) = &mut call.messages {
        messages.drain(..call.known.min(messages.len()));
    }
    call
}

/// Results of all sessions, or of one run.
pub struct Scope<'a> {
    /// The run; `None` for all.
    pub run: Option<&'a str>,
    /// Tables of its sessions.
    pub tables: &'a Tables,
    /// Figures of its sessions.
    pub plots: &'a PlotSet,
    /// How many sessions these are.
    pub sessions: u64,
    /// How many of them were answered by a simulated model.
    pub simulated: u64,
    /// Published tables that are shown beside.
    pub published: &'a [String],
    /// What has to be said of them.
    pub notes: Vec<String>,
}

/// The results of a site.
pub fn results(index: &Index, scope: &Scope<'_>) -> Vec<SiteFile> {
    let folder = match scope.run {
        Some(run) => format!("results/run-{run}"),
        None => "results/all".to_owned(),
    };
    let (shown, mut published) = parts(scope.tables);
    published.retain(|part| scope.published.contains(&part.title));
    let mut files = Vec::new();
    for Part { name, .. } in shown.iter().chain(&published) {
        let written = part_of(scope.tables, name).unwrap_or_default();
        let told = Told {
            counted: scope.sessions,
            blocks: blocks(&written),
        };
        let tables = (0..).map_while(|number| Some((number, told.table(number)?)));
        files.extend(tables.map(|(number, table)| {
            SiteFile::plain(
                format!("{folder}/tables/{name}/{number}.csv"),
                csv_of(table),
            )
        }));
        files.push(SiteFile::data(format!("{folder}/tables/{name}"), &told));
    }
    let mut figures = Vec::new();
    for plot in scope.plots.iter() {
        let name = plot.name();
        figures.push(FigureHead::of(plot));
        files.push(SiteFile::data(
            format!("{folder}/figures/{name}"),
            &told(plot, scope.sessions),
        ));
        let figure = plot.figure();
        for (file, form) in [
            ("figure.svg", FigureFile::Svg),
            ("dark.svg", FigureFile::DarkSvg),
            ("figure.csv", FigureFile::Csv),
        ] {
            let path = format!("{folder}/figures/{name}/{file}");
            files.push(SiteFile::plain(path, written(&figure, form)));
        }
    }
    let standing = Standing {
        counted: scope.sessions,
        total: scope.sessions,
        simulated: scope.simulated,
        parts: shown,
        published,
        figures,
        choices: Choices {
            runs: runs(index),
            ..Choices::default()
        },
        notes: scope.notes.clone(),
    };
    files.push(SiteFile::data(folder, &standing));
    files
}

/// Runs that results can be narrowed to.
fn runs(index: &Index) -> Vec<RunChoice> {
    let runs = index.runs().into_iter();
    runs.map(|run| RunChoice {
        run: run.run,
        experiment: run.experiment,
    })
    .collect()
}
