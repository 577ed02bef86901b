//! What `python -m agon.analysis RUN --out FOLDER` found, as a section of the page: models of
//! reasoning, strategies, payoff tables with equilibria and dynamics, regret, welfare. Shown only
//! beside the sessions that it was made of. The other side is `sdk/python/src/agon/analysis/report`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;
use agon_report::page::{folded, heading, paragraph, picture, warning};
use agon_report::{Column, Layout, TextTable};
use agon_service_kit::files::read_whole;
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use crate::failure::Failure;
use crate::output::counted;
use crate::publishing::in_digits;

/// The file in the folder.
const FILE: &str = "analyses.json";

/// Bytes of it: hundreds of figures.
const MOST_BYTES: u64 = 256 * 1024 * 1024;

/// The version of the file that is read here.
const VERSION: u32 = 1;

#[derive(Debug, Deserialize)]
struct Document {
    version: u32,
    sessions: u64,
    /// Of the sorted ids of all sessions, with line breaks between them.
    sessions_sha256: String,
    notes: Vec<String>,
    groups: Vec<Group>,
}

/// What was found about the sessions of a game in a setting.
#[derive(Debug, Deserialize)]
struct Group {
    heading: String,
    sessions: u64,
    analyses: Vec<Analysis>,
    left_out: Vec<LeftOut>,
}

#[derive(Debug, Deserialize)]
struct Analysis {
    title: String,
    says: String,
    source: String,
    simulated: bool,
    columns: Vec<Heading>,
    rows: Vec<Vec<String>>,
    caveats: Vec<String>,
    /// Empty without a figure.
    svg: String,
}

#[derive(Debug, Deserialize)]
struct Heading {
    name: String,
    is_number: bool,
}

#[derive(Debug, Deserialize)]
struct LeftOut {
    titles: Vec<String>,
    reason: String,
}

/// Analyses that were read.
pub(super) struct Analyses {
    file: PathBuf,
    document: Document,
}

impl Analyses {
    /// Those of a folder.
    ///
    /// # Errors
    /// It has none, or of another version.
    pub(super) fn read(folder: &Path) -> Result<Self, Failure> {
        let file = folder.join(FILE);
        let wrong = |why: &dyn std::fmt::Display| {
            Failure::BadInput(format!(
                "{}: {why}; `python -m agon.analysis RUN... --out {}` writes it",
                file.in_line(),
                folder.in_line()
            ))
        };
        let bytes = read_whole(&file, MOST_BYTES).map_err(|error| wrong(&error))?;
        let document: Document = serde_json::from_slice(&bytes).map_err(|error| wrong(&error))?;
        if document.version != VERSION {
            let version = document.version;
            return Err(wrong(&format!(
                "it has version {version}, and this program reads version {VERSION}"
            )));
        }
        Ok(Self { file, document })
    }

    /// The section of the page.
    ///
    /// # Errors
    /// They were made of other sessions than these.
    pub(super) fn html(&self, sessions: &BTreeSet<String>) -> Result<String, Failure> {
        let ids: Vec<&str> = sessions.iter().map(|id| &**id).collect();
        let digest = Sha256::digest(ids.join("\n").as_bytes());
        if in_digits(&digest) != self.document.sessions_sha256 {
            return Err(Failure::BadInput(format!(
                "{} was made of {}, and this report is of {} that are not the same; name the same \
                 runs here and there, without --where",
                self.file.in_line(),
                counted(self.document.sessions, "session"),
                sessions.len(),
            )));
        }
        let notes = self.document.notes.iter().map(|note| paragraph(note));
        let groups = self.document.groups.iter().enumerate();
        let groups = groups.map(|(place, group)| {
            let of = counted(group.sessions, "session");
            let title = format!("{} ({of})", group.heading);
            match place {
                0 => format!("{}\n{}", heading(&title), group.html()),
                _ => folded(&title, &format!("analyses-{place}"), &group.html()),
            }
        });
        Ok(notes.chain(groups).collect::<Vec<_>>().join("\n"))
    }
}

impl Group {
    fn html(&self) -> String {
        let analyses = self.analyses.iter().map(Analysis::html);
        let left_out = self.left_out.iter().map(|left| {
            let titles = left.titles.join(", ");
            paragraph(&format!("Left out: {titles}, because {}", left.reason))
        });
        analyses.chain(left_out).collect::<Vec<_>>().join("\n")
    }
}

impl Analysis {
    fn html(&self) -> String {
        let columns = self.columns.iter().map(|column| match column.is_number {
            true => Column::number(&column.name),
            false => Column::words(&column.name),
        });
        let mut table = TextTable::new(columns.collect());
        for row in &self.rows {
            table.row(row.clone());
        }
        let simulated = self
            .simulated
            .then(|| warning("Rests on SIMULATED models: it says nothing about real ones"));
        let figure =
            (!self.svg.is_empty()).then(|| picture(&format!("Figure: {}", self.title), &self.svg));
        let parts = [
            Some(heading(&self.title)),
            simulated,
            Some(paragraph(&format!("{} ({})", self.says, self.source))),
            Some(table.fitted(Layout::Html)),
            figure,
        ];
        let caveats = self.caveats.iter().map(|caveat| paragraph(caveat));
        let parts = parts.into_iter().flatten().chain(caveats);
        parts.collect::<Vec<_>>().join("\n")
    }
}
