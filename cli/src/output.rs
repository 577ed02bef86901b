//! What goes to the terminal, or to whoever reads in its place: text that survives a closed pipe,
//! without secrets and with nothing in it that speaks to the terminal, and tables that fit. No other
//! file prints (tests/tests/tidy.rs).

use std::backtrace::{Backtrace, BacktraceStatus};
use std::fmt;
use std::io::{ErrorKind, IsTerminal as _, Write as _};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_outlets::{json, line, lines};
use agon_report::{Column, Layout, TextTable};
use agon_service_kit::secrets;
use terminal_size::terminal_size;

pub use agon_report::counted;

/// Set when something could not be printed; [`lost`] tells.
static LOST: AtomicBool = AtomicBool::new(false);

/// Prints text and a line break. A closed pipe (`agon games | head`) is no error;
/// anything else, such as a full disk, is remembered for the exit code.
pub fn print(text: &str) {
    write(format!("{}\n", printed(text)).as_bytes());
}

/// Text as [`print`] prints it, for files that hold the same.
pub fn printed(text: &str) -> String {
    lines(&secrets::without(text)).to_string()
}

/// The same for JSON, which stays JSON.
pub fn print_json(text: &str) {
    let text = secrets::without(text);
    write(format!("{}\n", json(&text)).as_bytes());
}

/// The same for a list, entry by entry: all of it may be more than there is memory for.
pub fn print_json_list(entries: impl Iterator<Item = serde_json::Value>) {
    let mut before = "[";
    for entry in entries {
        let text = entry.to_string();
        write(format!("{before}{}", json(&secrets::without(&text))).as_bytes());
        before = ",";
    }
    let end = if before == "[" { "[]\n" } else { "]\n" };
    write(end.as_bytes());
}

/// Says something beside the output: on standard error, with a line break.
pub fn tell(text: &str) {
    let text = format!("{}\n", told(text));
    // Nobody is left to be told that nobody can be told.
    let _ = std::io::stderr().lock().write_all(text.as_bytes());
}

/// Text as [`tell`] prints it. People write keys where names belong, and what is told often repeats
/// what they wrote.
pub fn told(text: &str) -> String {
    let mut text = secrets::without_what_looks_like_keys(text);
    for argument in &*ARGUMENTS_OF_SEVERAL_LINES {
        text = text.replace(argument, &line(argument).to_string());
    }
    lines(&text).to_string()
}

/// A panic is a fault of ours, but its words may hold what others wrote.
pub fn tell_of_panics() {
    std::panic::set_hook(Box::new(|panic| {
        if agon_agents::engine_fault::is_expected() {
            return;
        }
        let thread = std::thread::current();
        let name = thread.name().unwrap_or("unnamed").to_owned();
        tell(&format!("thread '{name}' {panic}"));
        let trace = Backtrace::capture();
        if trace.status() == BacktraceStatus::Captured {
            tell(&trace.to_string());
        }
    }));
}

/// Prints bytes of our own as they are.
pub fn write(bytes: &[u8]) {
    let mut out = std::io::stdout().lock();
    let written = out.write_all(bytes).and_then(|()| out.flush());
    if let Err(error) = written
        && error.kind() != ErrorKind::BrokenPipe
    {
        LOST.store(true, Ordering::Relaxed);
    }
}

/// Whether standard output took less than it was given.
pub fn lost() -> bool {
    LOST.load(Ordering::Relaxed)
}

/// How wide tables are in files, and wherever the output is no terminal: the same for
/// everybody, so that files can be compared.
pub const FILE_WIDTH: u16 = 100;

/// Arguments of this process that hold line breaks: where a message repeats one, it stays in its
/// line.
static ARGUMENTS_OF_SEVERAL_LINES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let arguments = std::env::args_os().skip(1);
    let texts = arguments.map(|argument| argument.to_string_lossy().into_owned());
    texts.filter(|argument| argument.contains('\n')).collect()
});

/// Narrower terminals wrap lines themselves.
const NARROWEST: u16 = 60;

/// How tables are printed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::Args)]
pub struct FormatArguments {
    /// How tables are printed: text as wide as the terminal, or markup for a paper or a page
    /// [default: text]
    #[arg(long, value_enum, value_name = "FORMAT", hide_default_value = true)]
    format: Option<Format>,
}

/// See [`FormatArguments`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// As text.
    Text,
    /// As GitHub-flavoured Markdown.
    Markdown,
    /// As LaTeX, for the package booktabs.
    Latex,
    /// As parts of an HTML page.
    Html,
}

impl FormatArguments {
    /// The layout of tables on standard output.
    pub fn layout(self) -> Layout {
        match self.format {
            None | Some(Format::Text) => Layout::Text(width()),
            Some(Format::Markdown) => Layout::Markdown,
            Some(Format::Latex) => Layout::Latex,
            Some(Format::Html) => Layout::Html,
        }
    }

    /// Whether one was chosen.
    pub fn is_given(self) -> bool {
        self.format.is_some()
    }
}

/// How wide tables may be on standard output.
pub fn width() -> u16 {
    if !std::io::stdout().is_terminal() {
        return FILE_WIDTH;
    }
    let said = std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok());
    let width: Option<u16> = said.or_else(|| terminal_size().map(|(width, _)| width.0));
    width.unwrap_or(FILE_WIDTH).max(NARROWEST)
}

/// A list: as wide as the terminal, or one line a row for programs that read it.
pub struct Columns {
    table: TextTable,
}

impl Columns {
    /// A table with these headings.
    pub fn new<const N: usize>(headings: [&str; N]) -> Self {
        let columns = headings
            .iter()
            .enumerate()
            .map(|(place, heading)| match place {
                0 => Column::key(*heading),
                _ => Column::words(*heading),
            });
        Self {
            table: TextTable::new(columns.collect()),
        }
    }

    /// Adds a row.
    pub fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.table.row(cells);
    }
}

impl fmt::Display for Columns {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = if std::io::stdout().is_terminal() {
            width()
        } else {
            u16::MAX
        };
        write!(formatter, "{}", self.table.fitted(Layout::Text(width)))
    }
}
