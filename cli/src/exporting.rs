//! Writes the tables of an export into a folder or storage: a file for each table, or for each table
//! and partition, in one of three formats. Rows come one by one and leave memory as soon as a few
//! megabytes of them are together.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use agon_outlets::InLine as _;
use agon_report::Cells;
use agon_report::export::{Cell, Rows, TABLES, Table, Type};

use crate::data_folder::cannot;
use crate::failure::Failure;

mod csv;
mod jsonl;
mod parquet;
mod place;

use place::{Place, Sink};

/// The file beside the tables that says what their columns are.
pub const COLUMNS: &str = "columns.csv";

/// The file whose lock says that a draft is being written.
pub const LOCK: &str = ".lock";

/// A format of files.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Columns with types, compressed: pandas, polars, DuckDB, R.
    #[default]
    Parquet,
    /// For spreadsheets, and whatever else reads text.
    Csv,
    /// One JSON object per line.
    Jsonl,
}

impl Format {
    fn ending(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
        }
    }

    fn begin(self, file: Sink, table: &'static Table) -> io::Result<Box<dyn TableFile>> {
        Ok(match self {
            Self::Parquet => Box::new(parquet::ParquetFile::begin(file, table)?),
            Self::Csv => Box::new(csv::CsvFile::begin(file, table)?),
            Self::Jsonl => Box::new(jsonl::JsonFile::begin(file, table)),
        })
    }
}

/// A file that rows of one table are written to.
trait TableFile {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()>;

    /// Writes what is left, and gives back what it was written to.
    fn finish(self: Box<Self>) -> io::Result<Sink>;
}

/// Tables that are being written.
pub struct Exported {
    files: BTreeMap<Key, Box<dyn TableFile>>,
    place: Place,
    format: Format,
    tables: Vec<&'static str>,
    /// The partition of the rows that come now, as the name of a file.
    partition: Option<String>,
    /// Rows by table.
    pub rows: BTreeMap<&'static str, u64>,
}

/// A table, and a partition of it.
type Key = (&'static str, Option<String>);

impl Exported {
    /// These tables in a folder or a place in storage that does not exist yet, or has nothing in it.
    ///
    /// # Errors
    /// There is something in it, or it cannot be written.
    pub fn begin(out: &Path, format: Format, tables: Vec<&'static str>) -> Result<Self, Failure> {
        Ok(Self {
            files: BTreeMap::new(),
            place: Place::begin(out)?,
            format,
            tables,
            partition: None,
            rows: BTreeMap::new(),
        })
    }

    /// The rows that come from here on belong to the partition of this value.
    pub fn partition(&mut self, value: &str) {
        let legal = |one: char| match one {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => one,
            _ => '_',
        };
        let value: String = value.chars().map(legal).collect();
        self.partition = Some(value);
    }

    /// Completes them.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn finish(mut self) -> Result<BTreeMap<&'static str, u64>, Failure> {
        // A table without a row has a file with its columns all the same.
        if self.partition.is_none() {
            for table in self.wanted() {
                let key = (table.name, None);
                if !self.files.contains_key(&key) {
                    let file = self.file(table, &key)?;
                    self.files.insert(key, file);
                }
                self.rows.entry(table.name).or_default();
            }
        }
        let files = std::mem::take(&mut self.files).into_iter();
        let written = files.map(|(key, file)| {
            let name = self.name(&key);
            match file.finish() {
                Ok(sink) => Ok((name, sink)),
                Err(error) => Err(self.place.failed(&name, &error, &[])),
            }
        });
        let written: Vec<_> = written.collect::<Result<_, _>>()?;
        let columns = self.place.create(COLUMNS);
        let columns = columns.and_then(|sink| self.describe(sink));
        let columns = columns.map_err(|error| self.place.failed(COLUMNS, &error, &[]))?;
        self.place.complete(written, columns)?;
        Ok(self.rows)
    }

    fn wanted(&self) -> impl Iterator<Item = &'static Table> + use<> {
        let names = self.tables.clone();
        let tables = TABLES.iter();
        tables.filter(move |table| names.contains(&table.name))
    }

    fn file(&self, table: &'static Table, key: &Key) -> Result<Box<dyn TableFile>, Failure> {
        let name = self.name(key);
        let created = self.place.create(&name);
        let begun = created.and_then(|sink| self.format.begin(sink, table));
        begun.map_err(|error| self.place.failed(&name, &error, &[]))
    }

    /// The file of a table: `sessions.csv`, or `sessions/pirate.csv` of a partition. Not
    /// `game=pirate`: readers would take that for another column of the same name.
    fn name(&self, (table, partition): &Key) -> String {
        let ending = self.format.ending();
        match partition {
            None => format!("{table}.{ending}"),
            Some(partition) => format!("{table}/{partition}.{ending}"),
        }
    }

    /// Writes what the columns are.
    fn describe(&self, sink: Sink) -> io::Result<Sink> {
        let mut out = Cells::new(sink);
        out.row(["table", "column", "type", "about"].map(str::to_owned))?;
        for table in self.wanted() {
            for column in table.columns {
                let kind = match column.kind {
                    Type::Text => "text",
                    Type::Integer => "integer",
                    Type::Number => "number",
                    Type::Flag => "flag",
                };
                out.row([table.name, column.name, kind, column.about].map(str::to_owned))?;
            }
        }
        out.finish()
    }
}

impl Rows for Exported {
    type Error = Failure;

    fn wants(&self, table: &Table) -> bool {
        self.tables.contains(&table.name)
    }

    fn row(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<(), Failure> {
        let key = (table.name, self.partition.clone());
        *self.rows.entry(table.name).or_default() += 1;
        let written = match self.files.get_mut(&key) {
            Some(file) => file.row(cells),
            None => {
                let begun = self.file(table, &key)?;
                self.files.entry(key.clone()).or_insert(begun).row(cells)
            }
        };
        written.map_err(|error| self.place.failed(&self.name(&key), &error, &[]))
    }
}

/// A folder for a draft with nothing in it, and its lock: what an export that was killed left there is
/// removed.
///
/// # Errors
/// Another such command writes there, or it cannot be written.
pub fn claim(draft: &Path, command: &str) -> Result<File, Failure> {
    let failed = |error: io::Error| cannot("create", draft, &error);
    fs::create_dir_all(draft).map_err(failed)?;
    let lock = File::create(draft.join(LOCK)).map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(Failure::Surroundings(format!(
                "another agon {command} is writing to {}; wait for it, or name another folder with -o",
                draft.in_line()
            )));
        }
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    for entry in fs::read_dir(draft).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let removed = match path.file_name() {
            Some(name) if name == LOCK => Ok(()),
            _ if path.is_dir() => fs::remove_dir_all(&path),
            _ => fs::remove_file(&path),
        };
        removed.map_err(failed)?;
    }
    Ok(lock)
}
