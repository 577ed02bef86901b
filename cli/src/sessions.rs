//! Finds finished sessions by the beginning of their id or by their experiment, in
//! folders of results or at a coordinator, one record at a time. When it finds none or
//! too many it says what is near. Reads only. Called by `agon show` and `agon play`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_engine::extent::{self, Bounds, Extent};
use agon_engine::names::{meant, nearest};
use agon_engine::record::RecordError;
use agon_engine::spec::Settings;
use agon_engine::{Luck, SessionId, SessionSpec};
use agon_outlets::InLine as _;
use agon_proto::v1::{FetchRecordsRequest, ListExperimentsRequest};
use agon_report::{AxisNames, Reports, Session};
use agon_service_kit::tasks::with_causes;
use serde::Deserialize;
use tonic::Status;

use crate::coordinators;
use crate::failure::Failure;
use crate::lines::{self, LineError, MOST_UNREADABLE};
use crate::output;
use crate::results::{experiment_client, measure, refused};
use crate::run_folder::{self, history::Results};
use crate::storage;

mod listed;
mod runs;

use listed::as_json;

/// Digits of a whole id.
const WHOLE: usize = 32;

/// Digits that are shown where a beginning is enough.
const SHOWN: usize = 8;

/// How many sessions are named when none or too many fit.
const NAMED: usize = 5;

/// Sessions that are looked through at once: twice as many as one experiment may have.
const MOST_SESSIONS: u64 = 400_000;

/// Longest name of an experiment or a game.
const LONGEST_NAME: u64 = 200;

/// What the listed sessions and their settings may hold together.
const SETTINGS: Bounds = Bounds {
    bytes: 256 * 1024 * 1024,
    values: 3_000_000,
    tables: 300_000,
};

/// Where records are.
pub enum Source {
    /// A folder with records in it or below it, or one file of records; of folders of results
    /// the run with this number, or the one that they show.
    Folder(PathBuf, Option<u32>),
    /// A running coordinator.
    Coordinator(String),
}

/// What was found.
pub struct Sessions {
    /// Experiments and how many sessions each has.
    pub experiments: BTreeMap<String, u64>,
    /// The sessions of the wanted experiment, in order.
    pub of_experiment: Vec<Listed>,
    /// The axes of all of them.
    pub axes: AxisNames,
    /// Their settings, each once: what of their specs differs from cell to cell.
    settings: BTreeMap<[u8; 32], Arc<SessionSpec>>,
    settings_extent: Extent,
    /// Measures of them instead, when they were asked for.
    pub reports: Option<Reports>,
    /// The folders of results that were looked through.
    pub folders: Vec<Results>,
    /// Records whose id begins as wanted, by id.
    matching: BTreeMap<String, Found>,
    /// All ids, with their experiment and game.
    ids: BTreeMap<String, Arc<(String, String)>>,
    /// Each experiment and game once.
    origins: BTreeSet<Arc<(String, String)>>,
    /// Where they were looked for, in words.
    place: String,
}

/// What a list says of a session.
pub struct Listed {
    /// Its id.
    pub session: String,
    /// A spec with its game and setting.
    pub spec: Arc<SessionSpec>,
    /// Its own repeat, and its place in a series.
    pub luck: Luck,
    /// Who sat there, in words.
    pub players: String,
    /// What each player was paid, in words.
    pub payoffs: String,
    /// What must be said of its numbers.
    pub notes: String,
    /// All of it as JSON.
    pub json: String,
}

/// A record that was found.
pub struct Found {
    /// Its line.
    pub line: String,
    /// The file that it lies in, if it lies in one.
    pub file: Option<PathBuf>,
}

/// As much of a record as finding it takes.
#[derive(Deserialize)]
struct Head {
    session: SessionId,
    spec: HeadSpec,
}

#[derive(Deserialize)]
struct HeadSpec {
    experiment: String,
    game: String,
}

impl Sessions {
    /// Looks through everything that is there for an id's beginning or an
    /// experiment's name.
    ///
    /// # Errors
    /// The folder is not there, or the coordinator does not answer.
    pub async fn look(source: &Source, wanted: Option<&str>) -> Result<Self, Failure> {
        Self::find(source, wanted, None).await
    }

    /// Looks for an experiment and measures its sessions one by one into `reports`, keeping
    /// none.
    ///
    /// # Errors
    /// As [`Sessions::look`].
    pub async fn measure(source: &Source, wanted: &str, reports: Reports) -> Result<Self, Failure> {
        Self::find(source, Some(wanted), Some(reports)).await
    }

    async fn find(
        source: &Source,
        wanted: Option<&str>,
        reports: Option<Reports>,
    ) -> Result<Self, Failure> {
        let place = match source {
            Source::Folder(path, None) => path.in_line().to_string(),
            Source::Folder(path, Some(run)) => format!("run {run} of {}", path.in_line()),
            Source::Coordinator(url) => format!("the coordinator at {url}"),
        };
        let mut found = Self {
            experiments: BTreeMap::new(),
            of_experiment: Vec::new(),
            axes: AxisNames::default(),
            settings: BTreeMap::new(),
            settings_extent: Extent::default(),
            reports,
            folders: Vec::new(),
            matching: BTreeMap::new(),
            ids: BTreeMap::new(),
            origins: BTreeSet::new(),
            place,
        };
        match source {
            Source::Folder(path, run) => found.look_in(path, *run, wanted)?,
            Source::Coordinator(url) => found.ask(url, wanted).await?,
        }
        Ok(found)
    }

    /// The record whose id begins so, if there is exactly one.
    ///
    /// # Errors
    /// There is none, or more than one; says which are near.
    pub fn the_one(&self, wanted: &str) -> Result<&Found, Failure> {
        let mut matching = self.matching.iter();
        match (matching.next(), matching.next()) {
            (Some((_, found)), None) => Ok(found),
            (Some(_), Some(_)) if wanted.is_empty() => Err(Failure::BadInput(
                "name a session; its id is empty".to_owned(),
            )),
            (Some(_), Some(_)) => Err(Failure::BadInput(format!(
                "{} sessions begin with {wanted}: {}; write more of it",
                self.matching.len(),
                self.in_words(self.matching.keys())
            ))),
            (None, _) => Err(Failure::BadInput(self.none(wanted))),
        }
    }

    /// As many digits of an id as tell the listed sessions apart.
    pub fn digits(&self) -> usize {
        let ids: Vec<&String> = self.ids.keys().collect();
        let shared = ids.windows(2).map(|pair| shared(pair[0], pair[1]));
        shared.max().map_or(SHOWN, |shared| SHOWN.max(shared + 1))
    }

    /// What is said where there is no session at all.
    pub fn nothing(&self) -> String {
        let place = &self.place;
        format!(
            "no finished sessions in {place}; `agon run` puts results into DATA/runs, --results \
             names another folder"
        )
    }

    fn look_in(
        &mut self,
        path: &Path,
        run: Option<u32>,
        wanted: Option<&str>,
    ) -> Result<(), Failure> {
        if !storage::is_address(path) && !path.exists() {
            let sought = wanted.map_or_else(String::new, |wanted| {
                format!("no session and no experiment \"{}\": ", wanted.in_line())
            });
            return Err(Failure::BadInput(format!(
                "{sought}{} does not exist; `agon run` writes results into DATA/runs, --results \
                 names another folder",
                path.in_line()
            )));
        }
        let files = run_folder::records::below(path, run)?;
        if let Some(run) = run {
            runs::refuse_unknown(run, wanted, path, &files.folders)?;
        }
        self.folders = files.folders;
        // An empty folder is told about with what was wanted.
        for file in files.shown.into_iter().flatten() {
            self.read(&file, wanted, true)?;
        }
        let is_found = !self.of_experiment.is_empty() || !self.matching.is_empty();
        if wanted.is_some() && !is_found && self.reports.as_ref().is_none_or(Reports::is_empty) {
            for file in files.earlier {
                self.read(&file, wanted, false)?;
            }
        }
        Ok(())
    }

    fn read(&mut self, file: &Path, wanted: Option<&str>, is_shown: bool) -> Result<(), Failure> {
        let mut unreadable = 0;
        for line in lines::read(file) {
            let taken = line.and_then(|line| {
                let taken = self.take(&line.text, Some(file), wanted, is_shown);
                taken.map_err(|reason| LineError::at(&line, reason))
            });
            if let Err(error) = taken {
                output::tell(&format!("unreadable: {error}"));
                unreadable += 1;
            }
            if unreadable == MOST_UNREADABLE {
                let file = file.in_line();
                output::tell(&format!(
                    "unreadable: {file}: not read on after {MOST_UNREADABLE} lines"
                ));
                break;
            }
            self.check_size()?;
        }
        Ok(())
    }

    /// Refuses more than can be listed at once.
    fn check_size(&self) -> Result<(), Failure> {
        let sessions = extent::check("sessions", self.ids.len() as u64, MOST_SESSIONS);
        let settings = self.settings_extent.within(&SETTINGS);
        sessions.and(settings).map_err(|error| {
            let place = &self.place;
            let message = "name a single file or folder of fewer with --results";
            Failure::BadInput(format!(
                "{place} holds too much to list: {error}; {message}"
            ))
        })
    }

    async fn ask(&mut self, url: &str, wanted: Option<&str>) -> Result<(), Failure> {
        let lost = |refusal: Status| refused(&format!("the coordinator at {url}"), &refusal);
        let mut client = experiment_client(coordinators::in_charge(url)?);
        let listed = client
            .list_experiments(ListExperimentsRequest {})
            .await
            .map_err(lost)?
            .into_inner();
        let names = listed.experiments.iter();
        let is_name = names.clone().any(|e| wanted == Some(&e.experiment_id));
        for experiment in names {
            let name = &experiment.experiment_id;
            self.experiments.insert(name.clone(), experiment.done);
            // A list of experiments takes none of their records, a name only its own.
            if wanted.is_none() || (is_name && wanted != Some(name)) {
                continue;
            }
            let request = FetchRecordsRequest {
                experiment_id: name.clone(),
                ..Default::default()
            };
            let records = client.fetch_records(request).await.map_err(lost)?;
            let mut records = records.into_inner();
            self.experiments.insert(name.clone(), 0);
            while let Some(result) = records.message().await.map_err(lost)? {
                let taken = match result.fault.is_empty() {
                    true => agon_proto::packed::unpack(&result.record)
                        .ok_or_else(|| "it is not one line of text, packed with gzip".to_owned())
                        .and_then(|line| self.take(&line, None, wanted, true)),
                    false => Err(result.fault),
                };
                if let Err(reason) = taken {
                    let session = &result.session_id;
                    output::tell(&format!("unreadable: session {session}: {reason}"));
                }
                self.check_size()?;
            }
        }
        Ok(())
    }

    /// Takes a record in. Those of earlier runs can be found by their ids only: they count as
    /// none of their experiment's.
    fn take(
        &mut self,
        line: &str,
        file: Option<&Path>,
        wanted: Option<&str>,
        is_shown: bool,
    ) -> Result<(), String> {
        let head: Head =
            serde_json::from_str(line).map_err(|error| format!("not a session record: {error}"))?;
        let Head { session, spec } = head;
        if !session.is_whole() {
            return Err(RecordError::NoId(session.to_string()).to_string());
        }
        let session = session.to_string();
        let longest = spec.experiment.len().max(spec.game.len());
        extent::check("letters in a name", longest as u64, LONGEST_NAME)
            .map_err(|error| format!("not a session record: {error}"))?;
        // The same results may lie in several folders.
        if self.ids.contains_key(&session) {
            return Ok(());
        }
        if is_shown {
            *self.experiments.entry(spec.experiment.clone()).or_insert(0) += 1;
        }
        if let Some(wanted) = wanted {
            let is_wanted = is_shown && spec.experiment == wanted;
            if is_wanted && let Some(reports) = &mut self.reports {
                measure(reports, &spec.game, line.as_bytes())?;
            } else if is_wanted {
                self.list(line)?;
            }
            if session.starts_with(&wanted.to_lowercase()) {
                // Of several none is shown.
                let is_first = self.matching.is_empty();
                let found = Found {
                    line: if is_first {
                        line.to_owned()
                    } else {
                        String::new()
                    },
                    file: file.map(Path::to_owned),
                };
                self.matching.insert(session.clone(), found);
            }
        }
        let origin = Arc::new((spec.experiment, spec.game));
        let known = self.origins.get(&origin).cloned();
        let origin = known.unwrap_or_else(|| {
            self.origins.insert(Arc::clone(&origin));
            origin
        });
        self.ids.insert(session, origin);
        Ok(())
    }

    /// Keeps what a list says of a session.
    fn list(&mut self, line: &str) -> Result<(), String> {
        let read = Session::from_line(line.as_bytes()).map_err(|error| with_causes(&error))?;
        let json = as_json(&read).to_string();
        let setting = serde_json::to_vec(&(&read.spec.game, &read.spec.setting));
        let setting = setting.map_err(|error| error.to_string())?;
        let key = *blake3::hash(&setting).as_bytes();
        let spec = match self.settings.get(&key) {
            Some(spec) => Arc::clone(spec),
            None => {
                let extent = Extent::of_json(&setting);
                let all = &mut self.settings_extent;
                all.bytes += extent.bytes;
                all.values += extent.values;
                all.tables += extent.tables + 1;
                self.axes.add(&read.spec);
                // Only its game and its setting are looked at.
                let spec = Arc::new(SessionSpec {
                    params: Settings::new(),
                    seats: Vec::new(),
                    ..read.spec.clone()
                });
                self.settings.insert(key, Arc::clone(&spec));
                spec
            }
        };
        let payoffs = read.paid().into_iter().map(|paid| match paid.payoff {
            Some(payoff) => format!("{} {payoff:.2}", paid.player),
            None => format!("{} -", paid.player),
        });
        let listed = Listed {
            spec,
            luck: read.spec.luck,
            players: read.players(),
            payoffs: payoffs.collect::<Vec<_>>().join(", "),
            notes: read.notes(),
            json,
            session: read.session,
        };
        // A list is no place for more.
        let told = [&listed.players, &listed.payoffs, &listed.json];
        self.settings_extent.bytes += told.iter().map(|text| text.len() as u64).sum::<u64>();
        self.of_experiment.push(listed);
        Ok(())
    }

    /// Why nothing was found, and what there is.
    fn none(&self, wanted: &str) -> String {
        if let Some(why) = self.unfinished(wanted) {
            return why;
        }
        if self.ids.is_empty() {
            return self.nothing();
        }
        let place = &self.place;
        let hexadecimal = wanted.chars().all(|letter| letter.is_ascii_hexdigit());
        let mut parts = Vec::new();
        if hexadecimal && wanted.len() <= WHOLE {
            let wanted = wanted.to_lowercase();
            let mut near: Vec<&String> = self.ids.keys().collect();
            // Stable: ids that share as much stay in their order.
            near.sort_by_key(|id| std::cmp::Reverse(shared(id, &wanted)));
            parts.push(format!(
                "the nearest are {}",
                self.in_words(near.into_iter())
            ));
        }
        let names = self.experiments.keys().map(String::as_str);
        let near = nearest(wanted, names.clone());
        let mut there = near.join(", ");
        if let Some(more) = self.experiments.len().checked_sub(near.len() + 1) {
            there.push_str(&format!(" and {} more", more + 1));
        }
        parts.push(match meant(wanted, names) {
            Some(meant) => format!("did you mean \"{meant}\"? Experiments there: {there}"),
            None => format!("experiments there: {there}"),
        });
        format!(
            "no session and no experiment \"{wanted}\" in {place}; {}",
            parts.join("; ")
        )
    }

    /// The first few ids, each with where it belongs.
    fn in_words<'a>(&self, ids: impl Iterator<Item = &'a String>) -> String {
        let digits = self.digits();
        let named: Vec<String> = ids
            .take(NAMED)
            .map(|id| {
                let start = &id[..digits.min(id.len())];
                match self.ids.get(id).map(|origin| &**origin) {
                    Some((experiment, game)) => format!("{start} ({game} of {experiment})"),
                    None => start.to_owned(),
                }
            })
            .collect();
        named.join(", ")
    }
}

/// How many characters two ids have in common at their beginning.
fn shared(one: &str, other: &str) -> usize {
    let pairs = one.chars().zip(other.chars());
    pairs.take_while(|(one, other)| one == other).count()
}
