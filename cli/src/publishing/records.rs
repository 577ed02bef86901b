//! The records of a site, run by run: packed lines as they are, what each session cost, the document that
//! was run and its templates. Named so that `agon verify` reads the folder of a run.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use agon_coordinator::archive;
use agon_coordinator::experiment::ExperimentDocument;
use agon_service_kit::files::read_whole;
use agon_service_kit::secrets;
use flate2::write::GzEncoder;
use serde_json::{Value, json};

use super::folder::SiteFolder;
use crate::data_folder::cannot;
use crate::experiment_arguments::as_file;
use crate::failure::Failure;
use crate::run_folder::{Account, DOCUMENT, EXPERIMENT, MOST_BESIDE_BYTES, TEMPLATES, history};
use crate::templates;

/// The team that a published document names: no one needs to know whose it was.
const TEAM: &str = "default";

/// Bytes of a file of records before it is packed; readers unpack four times as much.
const MOST_SEGMENT_BYTES: u64 = 256 * 1024 * 1024;

/// What telemetry says that is nobody else's business.
const PRIVATE: [&str; 1] = ["worker"];

/// A run as a site tells of it.
pub struct PublishedRun {
    /// Its experiment.
    pub experiment: String,
    /// A file of its records, beside which its document lies.
    pub source: PathBuf,
    /// Sessions that were published.
    pub sessions: u64,
    segments: u32,
}

/// The records of all runs.
#[derive(Default)]
pub struct Records {
    runs: BTreeMap<String, PublishedRun>,
    open: Option<Segment>,
}

/// A file of records that is being written, and what they cost beside it.
struct Segment {
    run: String,
    paths: [String; 2],
    files: [GzEncoder<File>; 2],
    bytes: u64,
}

/// Where the records of a run are in a site.
pub fn place(run: &str) -> String {
    format!("records/{run}")
}

impl Records {
    /// Writes a record and what it cost, as lines.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn add(
        &mut self,
        site: &mut SiteFolder,
        run: &str,
        (experiment, source): (&str, &Path),
        (record, telemetry): (&str, Option<&str>),
    ) -> Result<(), Failure> {
        let is_open = self.open.as_ref();
        let is_open =
            is_open.is_some_and(|open| open.run == run && open.bytes < MOST_SEGMENT_BYTES);
        if !is_open {
            self.close(site)?;
            let about = self
                .runs
                .entry(run.to_owned())
                .or_insert_with(|| PublishedRun {
                    experiment: experiment.to_owned(),
                    source: source.to_owned(),
                    sessions: 0,
                    segments: 0,
                });
            about.segments += 1;
            let name = format!("{}/{:04}", place(run), about.segments);
            let paths =
                [archive::RECORDS, archive::TELEMETRY].map(|ending| format!("{name}{ending}"));
            let files = [site.begin_packed(&paths[0])?, site.begin_packed(&paths[1])?];
            self.open = Some(Segment {
                run: run.to_owned(),
                paths,
                files,
                bytes: 0,
            });
        }
        if let Some(open) = &mut self.open {
            open.bytes += record.len() as u64;
            let telemetry = telemetry.map_or_else(|| "{}".to_owned(), without_what_is_private);
            for ((line, file), path) in [record, &telemetry]
                .iter()
                .zip(&mut open.files)
                .zip(&open.paths)
            {
                let line = format!("{}\n", secrets::without(line.trim_end()));
                let written = file.write_all(line.as_bytes());
                written.map_err(|error| cannot("write", Path::new(path), &error))?;
            }
        }
        if let Some(about) = self.runs.get_mut(run) {
            about.sessions += 1;
        }
        Ok(())
    }

    fn close(&mut self, site: &mut SiteFolder) -> Result<(), Failure> {
        let Some(Segment { paths, files, .. }) = self.open.take() else {
            return Ok(());
        };
        for (path, file) in paths.iter().zip(files) {
            let finished = file.finish();
            finished.map_err(|error| cannot("write", Path::new(path), &error))?;
            site.take_in(path)?;
        }
        Ok(())
    }

    /// Writes what lies beside the records; what a site says of each run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self, site: &mut SiteFolder) -> Result<Vec<Value>, Failure> {
        self.close(site)?;
        let mut told = Vec::new();
        for (run, about) in &self.runs {
            let document = document(about);
            if let Some(document) = &document {
                write_document(site, run, document, &about.source)?;
            }
            let account = history::beside(&about.source, "");
            let account = history::account(&account).filter(|_| document.is_some());
            told.push(tell(run, about, account.as_ref(), document.is_some()));
        }
        Ok(told)
    }
}

/// The document of a run, if one lies beside its records.
fn document(about: &PublishedRun) -> Option<ExperimentDocument> {
    let path = history::beside(&about.source, DOCUMENT);
    let bytes = read_whole(&path, MOST_BESIDE_BYTES).ok()?;
    let document = ExperimentDocument::from_json(&bytes).ok()?;
    (document.name == about.experiment).then_some(document)
}

fn write_document(
    site: &mut SiteFolder,
    run: &str,
    document: &ExperimentDocument,
    source: &Path,
) -> Result<(), Failure> {
    let folder = history::beside(source, TEMPLATES);
    let replaced = match folder.is_dir() {
        true => templates::read(&folder)?,
        false => BTreeMap::new(),
    };
    let document = ExperimentDocument {
        team: TEAM.to_owned(),
        templates: (!replaced.is_empty()).then(|| TEMPLATES.to_owned()),
        ..document.clone()
    };
    let place = place(run);
    let json = serde_json::to_string_pretty(&document).map_err(Failure::surroundings)?;
    site.write(
        &format!("{place}/{DOCUMENT}"),
        format!("{json}\n").as_bytes(),
    )?;
    let toml = as_file(&document, &replaced, TEMPLATES)?;
    site.write(&format!("{place}/{EXPERIMENT}"), toml.as_bytes())?;
    for (path, text) in &replaced {
        site.write(&format!("{place}/{TEMPLATES}/{path}"), text.as_bytes())?;
    }
    Ok(())
}

/// What is told of a run: no command, no folder and no address beyond those that its records name.
fn tell(run: &str, about: &PublishedRun, account: Option<&Account>, has_document: bool) -> Value {
    json!({
        "run": run,
        "experiment": about.experiment,
        "sessions": about.sessions,
        "records": place(run),
        "segments": about.segments,
        "has_document": has_document,
        "started": account.map(|account| &account.started),
        "versions": account.map(|account| &account.versions),
        "verify": format!("agon verify {}", place(run)),
    })
}

/// A line of telemetry without what is nobody else's business.
fn without_what_is_private(line: &str) -> String {
    let Ok(Value::Object(mut telemetry)) = serde_json::from_str(line) else {
        return "{}".to_owned();
    };
    telemetry.retain(|name, _| !PRIVATE.contains(&&**name));
    Value::Object(telemetry).to_string()
}
