//! Writes the tables of an export into a folder: a file for each table, or for each table and
//! partition, in one of three formats. Rows come one by one and leave memory as soon as a few
//! megabytes of them are together. The folder appears whole or not at all.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;
use agon_report::Cells;
use agon_report::export::{Cell, Rows, TABLES, Table, Type};

use crate::data_folder::cannot;
use crate::failure::Failure;

mod csv;
mod jsonl;
mod parquet;

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

    fn begin(self, file: File, table: &'static Table) -> io::Result<Box<dyn TableFile>> {
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

    /// Writes what is left.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A folder that is being written.
pub struct Exported {
    folder: PathBuf,
    /// Where it is until it is whole.
    draft: PathBuf,
    /// Held as long as the draft is written.
    _lock: File,
    format: Format,
    tables: Vec<&'static str>,
    /// The partition of the rows that come now, as the name of a file.
    partition: Option<String>,
    files: BTreeMap<(&'static str, Option<String>), Box<dyn TableFile>>,
    /// Rows by table.
    pub rows: BTreeMap<&'static str, u64>,
}

impl Exported {
    /// A folder that does not exist yet, or has nothing in it, for these tables.
    ///
    /// # Errors
    /// There is something in it, or it cannot be written.
    pub fn begin(
        folder: &Path,
        format: Format,
        tables: Vec<&'static str>,
    ) -> Result<Self, Failure> {
        let mut entries = fs::read_dir(folder).into_iter().flatten();
        if folder.is_file() || entries.next().is_some() {
            return Err(Failure::BadInput(format!(
                "{} exists, and nothing is overwritten; name a folder that does not exist yet with \
                 -o",
                folder.in_line()
            )));
        }
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let draft = folder.with_file_name(format!(".{name}.part"));
        let lock = claim(&draft, "export")?;
        let exported = Self {
            folder: folder.to_owned(),
            draft,
            _lock: lock,
            format,
            tables,
            partition: None,
            files: BTreeMap::new(),
            rows: BTreeMap::new(),
        };
        exported
            .describe()
            .map_err(|error| cannot("write", &exported.draft, &error))?;
        Ok(exported)
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

    /// Completes the folder.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn finish(mut self) -> Result<BTreeMap<&'static str, u64>, Failure> {
        let failed = |error: io::Error| cannot("write", &self.draft, &error);
        // A table without a row has a file with its columns all the same.
        if self.partition.is_none() {
            for table in TABLES
                .iter()
                .filter(|table| self.tables.contains(&table.name))
            {
                let key = (table.name, None);
                if !self.files.contains_key(&key) {
                    let begun = begin(&self.draft, self.format, table, None).map_err(failed)?;
                    self.files.insert(key, begun);
                }
                self.rows.entry(table.name).or_default();
            }
        }
        for file in std::mem::take(&mut self.files).into_values() {
            file.finish().map_err(failed)?;
        }
        fs::remove_file(self.draft.join(LOCK)).map_err(failed)?;
        // An empty folder may be there.
        let _ = fs::remove_dir(&self.folder);
        fs::rename(&self.draft, &self.folder)
            .map_err(|error| cannot("write", &self.folder, &error))?;
        Ok(std::mem::take(&mut self.rows))
    }

    /// Writes what the columns are.
    fn describe(&self) -> io::Result<()> {
        let mut out = Cells::new(File::create_new(self.draft.join(COLUMNS))?);
        out.row(["table", "column", "type", "about"].map(str::to_owned))?;
        let wanted = TABLES
            .iter()
            .filter(|table| self.tables.contains(&table.name));
        for table in wanted {
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
        out.finish().map(|_| ())
    }
}

impl Rows for Exported {
    type Error = Failure;

    fn wants(&self, table: &Table) -> bool {
        self.tables.contains(&table.name)
    }

    fn row(&mut self, table: &'static Table, cells: &[Cell<'_>]) -> Result<(), Failure> {
        let failed = |error: io::Error| cannot("write", &self.draft, &error);
        let key = (table.name, self.partition.clone());
        let file = match self.files.get_mut(&key) {
            Some(file) => file,
            None => {
                let partition = self.partition.as_deref();
                let begun = begin(&self.draft, self.format, table, partition).map_err(failed)?;
                self.files.entry(key).or_insert(begun)
            }
        };
        *self.rows.entry(table.name).or_default() += 1;
        file.row(cells).map_err(failed)
    }
}

impl Drop for Exported {
    fn drop(&mut self) {
        // Whole exports have been renamed, and nothing is there any more.
        let _ = fs::remove_dir_all(&self.draft);
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

/// The file of a table: `sessions.csv`, or `sessions/pirate.csv` of a partition. Not `game=pirate`:
/// readers would take that for another column of the same name.
fn begin(
    draft: &Path,
    format: Format,
    table: &'static Table,
    partition: Option<&str>,
) -> io::Result<Box<dyn TableFile>> {
    let ending = format.ending();
    let path = match partition {
        None => draft.join(format!("{}.{ending}", table.name)),
        Some(partition) => {
            let folder = draft.join(table.name);
            fs::create_dir_all(&folder)?;
            folder.join(format!("{partition}.{ending}"))
        }
    };
    format.begin(File::create_new(path)?, table)
}
