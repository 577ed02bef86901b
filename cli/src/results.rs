//! Writes the files of a run from an experiment's results, as they come from a coordinator or from
//! what was fetched of it, one session at a time: a large run is never held in memory.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::fs::File;
use std::io::BufReader;

use agon_coordinator::experiment::{COMPARISONS, ExperimentDocument, expand};
use agon_engine::names::among;
use agon_engine::record::StoredRecord;
use agon_proto::packed::{claimed_bytes, unpack};
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::{FetchRecordsRequest, FetchRecordsResponse};
use agon_report::session::Telemetry;
use agon_report::{Cells, Layout, Reports, ResultColumns, Session, Tables};
use agon_service_kit::server::LARGEST_RESULT_BYTES;
use agon_service_kit::status::{ErrorClass, is_retryable};
use agon_service_kit::tasks::with_causes;
use agon_worker::Transport;
use tonic::{Status, Streaming};

use crate::ahead::Ahead;
use crate::data_folder::cannot;
use crate::failure::Failure;
use crate::fetching::InOrder;
use crate::output::{FILE_WIDTH, width};
use crate::run_folder::{self, Entry, NewFile};

/// The column of `results.csv` with the number of the run.
const RUN: &str = "run";

/// The client of the experiment service.
pub fn experiment_client(transport: Transport) -> ExperimentServiceClient<Transport> {
    ExperimentServiceClient::new(transport)
        .max_decoding_message_size(LARGEST_RESULT_BYTES)
        .max_encoding_message_size(LARGEST_RESULT_BYTES)
}

/// Why a call was refused, or did not arrive.
pub fn reason(refusal: &Status) -> String {
    // A status that came over the wire has no source, a torn connection has.
    match (refusal.source(), refusal.message()) {
        (Some(source), _) => with_causes(source),
        (None, "") => format!("{}, is it another service?", refusal.code()),
        (None, message) => message.to_owned(),
    }
}

/// What a refusal means to the user.
pub fn refused(whom: &str, refusal: &Status) -> Failure {
    let reason = reason(refusal);
    match ErrorClass::of(refusal) {
        class if class.is_retryable() || is_retryable(refusal) => {
            Failure::Surroundings(format!("{whom} does not answer: {reason}"))
        }
        ErrorClass::Internal => Failure::Surroundings(format!("{whom} failed: {reason}")),
        _ => Failure::BadInput(reason),
    }
}

/// What was fetched.
pub struct Collected {
    /// The tables for the terminal.
    pub shown: String,
    /// The same for a file.
    pub tables: String,
    /// How many sessions they show.
    pub done: u64,
    /// Sessions that are none of the experiment as it was run.
    pub strangers: u64,
    /// Sessions whose stored result cannot be read, and why.
    pub unreadable: Vec<(String, String)>,
    /// Versions of the rules that they were played by, by game; the newest, if there are several.
    pub rules: BTreeMap<String, u32>,
}

/// The results of an experiment in its order.
pub enum Results {
    /// From a coordinator in this process.
    Stream(Box<Streaming<FetchRecordsResponse>>),
    /// Fetched before.
    Fetched(InOrder),
}

impl Results {
    /// Asks a coordinator in this process for all that is finished.
    ///
    /// # Errors
    /// It refuses.
    pub async fn stream(
        mut client: ExperimentServiceClient<Transport>,
        experiment: &str,
    ) -> Result<Self, Failure> {
        let request = FetchRecordsRequest {
            experiment_id: experiment.to_owned(),
            ..FetchRecordsRequest::default()
        };
        let results = client.fetch_records(request).await.map_err(lost)?;
        Ok(Self::Stream(Box::new(results.into_inner())))
    }

    async fn next(&mut self) -> Result<Option<FetchRecordsResponse>, Failure> {
        match self {
            Self::Stream(results) => results.message().await.map_err(lost),
            Self::Fetched(results) => results.next(),
        }
    }
}

fn lost(refusal: Status) -> Failure {
    refused("the coordinator", &refusal)
}

/// Writes the records of the sessions of a grid, as far as they are done, into a run's entry. When
/// the experiment was submitted again with another grid, these are the ones that both have.
///
/// # Errors
/// The coordinator does not answer, or the entry cannot be written.
pub async fn collect(
    mut results: Results,
    document: &ExperimentDocument,
    grid: u64,
    entry: &Entry,
) -> Result<Collected, Failure> {
    let mut rules = BTreeMap::new();
    let mut tables = Tables::default();
    let (mut done, mut strangers) = (0, 0);
    let (mut unreadable, mut wanted) = (Vec::new(), BTreeSet::new());
    let mut record_file = entry.begin(run_folder::RECORDS)?;
    let mut telemetry_file = entry.begin(run_folder::TELEMETRY)?;
    let mut rows: Option<Rows<(Session, Telemetry)>> = None;
    let mut ahead = Ahead::new(Stored::read);
    loop {
        while !ahead.is_full() {
            let Some(result) = results.next().await? else {
                break;
            };
            if result.grid != grid {
                if wanted.is_empty() {
                    wanted = ids(document)?;
                }
                if !wanted.contains(&result.session_id) {
                    strangers += 1;
                    continue;
                }
            }
            let parts = [&result.record, &result.telemetry];
            let bytes = parts.map(|part| claimed_bytes(part).unwrap_or_default());
            ahead.add(result, bytes.iter().sum());
        }
        let stored = match ahead.next() {
            None => break,
            Some(Err(unread)) => {
                unreadable.push(unread);
                continue;
            }
            Some(Ok(stored)) => stored,
        };
        let spec = &stored.record.spec;
        let known = rules.entry(spec.game.clone()).or_insert(spec.rules_version);
        *known = spec.rules_version.max(*known);
        let has_more = tables.add_session(&stored.record, &stored.session, &stored.telemetry);
        record_file.line(stored.record_line.as_bytes())?;
        telemetry_file.line(stored.telemetry_line.as_bytes())?;
        // Rows are written at once while every session has the columns of the first.
        if done == 0 {
            rows = Some(Rows::begin(entry, tables.columns(), Ok)?);
        } else if has_more {
            rows = None;
        }
        if let Some(rows) = &mut rows {
            let bytes = stored.record_line.len() as u64;
            rows.add((stored.session, stored.telemetry), bytes)?;
        }
        done += 1;
    }
    record_file.keep()?;
    telemetry_file.keep()?;
    match rows {
        Some(rows) => rows.finish()?,
        None => write_csv(entry, tables.columns())?,
    }
    let compare = document.report.compare.as_deref();
    Ok(Collected {
        shown: shown(&tables, compare, width()),
        tables: shown(&tables, compare, FILE_WIDTH),
        done,
        strangers,
        unreadable,
        rules,
    })
}

/// The ids of all sessions of an experiment.
fn ids(document: &ExperimentDocument) -> Result<BTreeSet<String>, Failure> {
    let sessions = expand(document).map_err(Failure::input)?.into_sessions();
    Ok(sessions
        .map(|session| session.spec.id().to_string())
        .collect())
}

/// A result, unpacked and read.
struct Stored {
    record_line: String,
    record: StoredRecord,
    session: Session,
    telemetry_line: String,
    telemetry: Telemetry,
}

impl Stored {
    /// Reads it, or says of which session it cannot be read, and why.
    fn read(result: FetchRecordsResponse) -> Result<Self, (String, String)> {
        let read = || {
            if !result.fault.is_empty() {
                return Err(result.fault.clone());
            }
            let part = |packed: &[u8], what| {
                let line = unpack(packed);
                line.ok_or_else(|| format!("its {what} is not one line of text, packed with gzip"))
            };
            let record_line = part(&result.record, "record")?;
            let telemetry_line = part(&result.telemetry, "telemetry")?;
            let record = whole(&record_line)?;
            Ok(Self {
                session: Session::of(&record),
                record,
                record_line,
                telemetry: Telemetry::from_line(telemetry_line.as_bytes()),
                telemetry_line,
            })
        };
        read().map_err(|fault| (result.session_id.clone(), fault))
    }
}

/// Takes a session in, of whose game measures need events and notes too; any other game
/// is left alone.
///
/// # Errors
/// The line is no whole record; says why.
pub fn measure(reports: &mut Reports, game: &str, line: &[u8]) -> Result<(), String> {
    if reports.measures(game) {
        let text = std::str::from_utf8(line).map_err(|error| error.to_string())?;
        reports.add(&whole(text)?);
    }
    Ok(())
}

fn whole(line: &str) -> Result<StoredRecord, String> {
    StoredRecord::from_line(line).map_err(|error| with_causes(&error))
}

/// The name of a published table, as the command line takes it.
///
/// # Errors
/// There is none of this name; says which is near.
pub fn published_table(name: &str) -> Result<String, String> {
    match COMPARISONS.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "there is no such table{}",
            among(name, COMPARISONS)
        )),
    }
}

/// The tables of a run, and the published one that its experiment names.
pub fn shown(tables: &Tables, compare: Option<&str>, width: u16) -> String {
    let layout = Layout::Text(width);
    let own = tables.render(layout);
    let published = compare.filter(|_| !tables.is_empty());
    match published.and_then(|name| tables.beside_published(name, layout)) {
        Some(published) => format!("{own}\n\n{published}"),
        None => own,
    }
}

/// Writes `results.csv` from the records and telemetry that an entry holds; their columns are known.
///
/// # Errors
/// They cannot be read, or the file not be written.
pub fn write_csv(entry: &Entry, columns: &ResultColumns) -> Result<(), Failure> {
    let mut rows = Rows::begin(entry, columns, |(record, telemetry): (Vec<u8>, Vec<u8>)| {
        let session = Session::from_line(&record).map_err(Failure::surroundings)?;
        Ok((session, Telemetry::from_line(&telemetry)))
    })?;
    let records = lines(entry, run_folder::RECORDS)?;
    for (record, telemetry) in records.zip(lines(entry, run_folder::TELEMETRY)?) {
        let (record, telemetry) = (record?, telemetry?);
        let bytes = record.len() as u64;
        rows.add((record, telemetry), bytes)?;
    }
    rows.finish()
}

/// `results.csv` of a run, whose rows are made ahead from sessions or from what those are read from.
struct Rows<T> {
    file: NewFile,
    ahead: Ahead<T, Result<Vec<u8>, Failure>>,
}

impl<T: Send + 'static> Rows<T> {
    /// Begins the file with its headings; the first column says which run it was.
    fn begin(
        entry: &Entry,
        columns: &ResultColumns,
        session: impl Fn(T) -> Result<(Session, Telemetry), Failure> + Send + Sync + 'static,
    ) -> Result<Self, Failure> {
        let mut file = entry.begin(run_folder::RESULTS)?;
        let mut headings = Cells::new(Vec::new());
        headings.cell(RUN).map_err(no_table)?;
        columns.write_headings(&mut headings).map_err(no_table)?;
        file.add(&headings.finish().map_err(no_table)?)?;
        let (run, columns) = (entry.account.run.to_string(), columns.clone());
        let ahead = Ahead::new(move |one| {
            let (session, telemetry) = session(one)?;
            let mut out = Cells::new(Vec::new());
            out.cell(&run).map_err(no_table)?;
            let written = columns.write_row(&session, &telemetry, &mut out);
            written.map_err(no_table)?;
            out.finish().map_err(no_table)
        });
        Ok(Self { file, ahead })
    }

    /// Adds the row of a session, which takes about so many bytes.
    fn add(&mut self, one: T, bytes: u64) -> Result<(), Failure> {
        while self.ahead.is_full() && self.write_next()? {}
        self.ahead.add(one, bytes);
        Ok(())
    }

    /// Writes the next row; whether there was one.
    fn write_next(&mut self) -> Result<bool, Failure> {
        let Some(row) = self.ahead.next() else {
            return Ok(false);
        };
        self.file.add(&row?)?;
        Ok(true)
    }

    fn finish(mut self) -> Result<(), Failure> {
        while self.write_next()? {}
        self.file.keep()
    }
}

fn no_table(error: impl std::fmt::Display) -> Failure {
    Failure::Surroundings(format!("cannot write results: {error}"))
}

/// The lines of a file that was just written.
fn lines(
    entry: &Entry,
    name: &str,
) -> Result<impl Iterator<Item = Result<Vec<u8>, Failure>>, Failure> {
    use std::io::BufRead as _;
    let path = entry.file(name);
    let file = File::open(&path).map_err(|error| cannot("read", &path, &error))?;
    let lines = BufReader::new(file).split(b'\n');
    Ok(lines.map(move |line| line.map_err(|error| cannot("read", &path, &error))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_that_an_experiment_may_name_is_shown() {
        let tables = Tables::default();
        let wide = Layout::Text(400);
        let of_papers = Reports::default().published_tables();
        for name in tables.published_tables() {
            let shown = tables.beside_published(name, wide).unwrap_or_default();
            assert!(shown.contains("ublished"), "{name}: {shown}");
            let has_findings = of_papers.contains(&name);
            assert_eq!(shown.contains("published finding"), has_findings, "{name}");
        }
        assert_eq!(tables.published_tables(), COMPARISONS);
        assert_eq!(tables.beside_published("none", wide), None);
    }
}
