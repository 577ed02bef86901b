//! A static site of any runs: lists, results, every session step by step, the records, and what proves them.
//! Reads sessions once for the lists and once more for all the rest, one at a time. Called by `agon publish`.

mod folder;
mod records;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_engine::extent::Extent;
use agon_engine::record::StoredRecord;
use agon_report::plots::{PlotSet, every_for_games};
use agon_report::session::Telemetry;
use agon_report::viewing::Viewing;
use agon_report::{Tables, grouped};
use agon_service_kit::tasks::Tasks;
use agon_web::site::{LeftOut, Scope, SiteFile};
use agon_web::{Calls, Index, Place, site};
use agon_worker::remaking::remake;
use parking_lot::RwLock;
use serde_json::json;

use crate::failure::Failure;
use crate::lines::{self, Line};
use crate::output::{self, counted};
use crate::run_folder::records::telemetry_beside;
use crate::sent::Prompts;
use crate::templates;
use crate::viewing::calls::Remembered;
use crate::viewing::{Files, listing};
pub(crate) use folder::in_digits;
use folder::{ABOUT, SUMS, SiteFolder};
use records::Records;

/// The form of a site.
const FORMAT: u32 = 1;

/// How often it is told how far it is.
const TELL_EVERY: Duration = Duration::from_secs(5);

/// Bytes in a megabyte.
const MEGABYTE: f64 = 1e6;

/// What is published, and where.
pub struct Publication {
    /// Folders and files of records.
    pub paths: Vec<PathBuf>,
    /// The folder of the site.
    pub out: PathBuf,
    /// What is left out.
    pub left_out: LeftOut,
    /// The most that it may come to, in megabytes.
    pub most_megabytes: u64,
    /// Whether it is told how far it is.
    pub tells: bool,
    /// Published tables that are shown beside results, by a file of records.
    pub compared: fn(&Path) -> Option<String>,
}

/// A site that was published.
pub struct Published {
    /// Its sessions.
    pub sessions: u64,
    /// Its files.
    pub files: usize,
    /// How large it is, in bytes.
    pub bytes: u64,
    /// What proves its records, run by run.
    pub verify: Vec<String>,
}

/// Writes the site.
///
/// # Errors
/// No session is there, something is in the way, or it cannot be written.
pub async fn publish(publication: &Publication) -> Result<Published, Failure> {
    let mut folder = SiteFolder::begin(&publication.out, publication.most_megabytes)?;
    let files = Files::below(&publication.paths)?;
    for fault in &files.faults {
        output::tell(&format!("unreadable: {fault}"));
    }
    let index = RwLock::new(Index::default());
    listing::read(&files.all(), &index, || false);
    let index = index.into_inner();
    if index.is_empty() {
        return Err(Failure::BadInput(
            "no finished session to publish; `agon runs` lists the runs that are kept".to_owned(),
        ));
    }
    for file in site::front_end() {
        write(&mut folder, file)?;
    }
    for file in site::lists(&index, records::place) {
        write(&mut folder, file)?;
    }
    let mut sessions = Sessions {
        publication,
        index: &index,
        folder: &mut folder,
        records: Records::default(),
        all: Results::new(),
        runs: BTreeMap::new(),
        told: Instant::now(),
        tasks: Tasks::new(),
    };
    for (number, file) in files.all() {
        sessions.read(number, &file).await?;
    }
    let Sessions {
        records, all, runs, ..
    } = sessions;
    all.write(&index, None, &mut folder)?;
    if runs.len() > 1 {
        for (run, results) in &runs {
            results.write(&index, Some(run), &mut folder)?;
        }
    }
    let runs = records.finish(&mut folder)?;
    let verify = runs.iter().filter_map(|run| run["verify"].as_str());
    let verify: Vec<String> = verify.map(str::to_owned).collect();
    let mut commands = vec![format!("sha256sum -c {SUMS}")];
    commands.extend(verify.iter().cloned());
    let about = json!({
        "agon_site": FORMAT,
        "agon": env!("CARGO_PKG_VERSION"),
        "sessions": all.sessions,
        "left_out": publication.left_out,
        "runs": runs,
        "verify": commands,
    });
    let about = serde_json::to_string_pretty(&about).map_err(Failure::surroundings)?;
    folder.write(ABOUT, format!("{about}\n").as_bytes())?;
    let bytes = folder.bytes();
    Ok(Published {
        sessions: all.sessions,
        files: folder.finish()?,
        bytes,
        verify,
    })
}

fn write(folder: &mut SiteFolder, file: SiteFile) -> Result<(), Failure> {
    match file.is_packed {
        true => folder.write_packed(&file.path, &file.bytes),
        false => folder.write(&file.path, &file.bytes),
    }
}

/// Results of all sessions, or of a run.
struct Results {
    tables: Tables,
    plots: PlotSet,
    sessions: u64,
    simulated: u64,
    published: BTreeSet<String>,
    /// Records that are listed and cannot be read whole.
    unreadable: u64,
}

impl Results {
    fn new() -> Self {
        Self {
            tables: Tables::default(),
            plots: PlotSet::new(every_for_games),
            sessions: 0,
            simulated: 0,
            published: BTreeSet::new(),
            unreadable: 0,
        }
    }

    /// What the numbers leave out.
    fn notes(&self, index: &Index, run: Option<&str>) -> Vec<String> {
        let mut notes = index.notes_of_runs(|one| run.is_none_or(|run| run == one));
        if self.unreadable > 0 {
            let count = counted(self.unreadable, "record");
            notes.push(format!(
                "missing here: {count}, which this program cannot read"
            ));
        }
        notes
    }

    fn add(&mut self, record: &StoredRecord, telemetry: &Telemetry) {
        self.tables.add(record, telemetry);
        self.plots.add(record);
        self.sessions += 1;
        self.simulated += u64::from(record.simulated);
    }

    fn write(
        &self,
        index: &Index,
        run: Option<&str>,
        folder: &mut SiteFolder,
    ) -> Result<(), Failure> {
        let published: Vec<String> = self.published.iter().cloned().collect();
        let scope = Scope {
            run,
            tables: &self.tables,
            plots: &self.plots,
            sessions: self.sessions,
            simulated: self.simulated,
            published: &published,
            notes: self.notes(index, run),
        };
        for file in site::results(index, &scope) {
            write(folder, file)?;
        }
        Ok(())
    }
}

/// The sessions of all files, one after the other.
struct Sessions<'a> {
    publication: &'a Publication,
    index: &'a Index,
    folder: &'a mut SiteFolder,
    records: Records,
    all: Results,
    runs: BTreeMap<String, Results>,
    told: Instant,
    tasks: Tasks,
}

impl Sessions<'_> {
    async fn read(&mut self, number: u32, file: &Path) -> Result<(), Failure> {
        let mut beside = telemetry_beside(file).map(|beside| lines::read(&beside));
        let library = templates::played_with(None, file);
        let library = library.map(Arc::new).map_err(|error| error.to_string());
        let compared = (self.publication.compared)(file);
        for line in lines::read(file) {
            let telemetry = beside.as_mut().and_then(Iterator::next);
            let telemetry = telemetry.and_then(Result::ok).map(|line| line.text);
            // What cannot be read is in no list either; the list has said so.
            let Ok(line) = line else {
                break;
            };
            let Ok(record) = StoredRecord::from_line(&line.text) else {
                self.all.unreadable += 1;
                continue;
            };
            let place = Place {
                file: number,
                offset: line.offset,
            };
            let listed = self.index.place(record.session.as_str());
            let Some((run, _)) = listed.filter(|(_, known)| *known == place) else {
                continue;
            };
            let run = run.to_owned();
            let results = self.runs.entry(run.clone()).or_insert_with(Results::new);
            for results in [&mut self.all, results] {
                let telemetry = telemetry.as_deref().unwrap_or_default();
                results.add(&record, &Telemetry::from_line(telemetry.as_bytes()));
                results.published.extend(compared.clone());
            }
            let about = (record.spec.experiment.as_str(), file);
            let both = (line.text.as_str(), telemetry.as_deref());
            self.records.add(self.folder, &run, about, both)?;
            self.session(&line, record, telemetry.as_deref(), &library)
                .await?;
        }
        Ok(())
    }

    /// The pages of a session.
    async fn session(
        &mut self,
        line: &Line,
        record: StoredRecord,
        telemetry: Option<&str>,
        library: &Result<Arc<agon_agents::PromptLibrary>, String>,
    ) -> Result<(), Failure> {
        let viewing = Viewing::new(Arc::new(record));
        let left_out = self.publication.left_out;
        for file in site::session(self.index, &viewing, left_out) {
            write(self.folder, file)?;
        }
        let record = viewing.record();
        if !left_out.calls && !record.decisions.is_empty() {
            let calls = match library {
                Err(reason) => Err(reason.clone()),
                Ok(library) => {
                    let most = Extent::of_json(line.text.as_bytes());
                    let stored = Arc::clone(record);
                    let remade = remake(&self.tasks, stored, &most, Arc::clone(library)).await;
                    let telemetry = telemetry.and_then(|line| serde_json::from_str(line).ok());
                    let stored = Arc::clone(record);
                    let shown = remade
                        .map(|remade| Remembered(Prompts::new(stored, remade, telemetry.as_ref())));
                    shown.map_err(|other| format!("{other}, which are not here"))
                }
            };
            let calls = calls.as_ref().map(|calls| calls as &dyn Calls);
            let calls = calls.map_err(Clone::clone);
            for file in site::calls(record.session.as_str(), calls) {
                write(self.folder, file)?;
            }
        }
        self.tell();
        Ok(())
    }

    /// Says how far it is, and what it will come to.
    fn tell(&mut self) {
        if !self.publication.tells || self.told.elapsed() < TELL_EVERY {
            return;
        }
        self.told = Instant::now();
        let (done, all) = (self.all.sessions, self.index.len() as u64);
        let megabytes = self.folder.bytes() as f64 / MEGABYTE;
        let expected = megabytes * all as f64 / done.max(1) as f64;
        output::tell(&format!(
            "{} of {} sessions published, {megabytes:.0} MB of about {expected:.0}",
            grouped(done),
            grouped(all)
        ));
    }
}
