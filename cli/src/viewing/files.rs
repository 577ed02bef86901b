//! Files of records as a source of pages: each by its number, and the calls of a record made again with
//! the templates and the telemetry that lie beside it.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use agon_engine::extent::Extent;
use agon_engine::record::StoredRecord;
use agon_outlets::InLine as _;
use agon_report::session::Telemetry;
use agon_service_kit::tasks::Tasks;
use agon_service_kit::tasks::with_causes;
use agon_web::{Calls, Place, Sessions, Source};
use agon_worker::remaking::remake;
use futures_util::future::BoxFuture;
use parking_lot::RwLock;

use super::calls::Remembered;
use crate::failure::Failure;
use crate::lines::{Line, LineError};
use crate::run_folder::records;
use crate::sent::{Prompts, telemetry};
use crate::{lines, templates};

type Lines = Box<dyn Iterator<Item = Result<Line, LineError>> + Send>;

/// Files of records, in the order in which they were found. More may come.
#[derive(Default)]
pub struct Files {
    files: RwLock<Vec<PathBuf>>,
    /// What could not be looked into.
    pub faults: Vec<String>,
}

impl Files {
    /// Those at and below these paths.
    ///
    /// # Errors
    /// A bucket cannot be read, or there is nothing.
    pub fn below(paths: &[PathBuf]) -> Result<Self, Failure> {
        let (files, faults) = found(paths)?;
        if files.is_empty() {
            let reason = faults.first().cloned().unwrap_or_default();
            return Err(Failure::BadInput(format!(
                "there is nothing to view: {reason}; `agon runs` lists the runs that are kept"
            )));
        }
        let files = RwLock::new(files);
        Ok(Self { files, faults })
    }

    /// What is at and below these paths now. A file keeps its number for as long as it is known, and
    /// those that have come get one.
    ///
    /// # Errors
    /// A bucket cannot be read.
    pub fn look_again(&self, paths: &[PathBuf]) -> Result<Vec<(u32, PathBuf)>, Failure> {
        let (found, _) = found(paths)?;
        let mut files = self.files.write();
        let mut numbers: HashMap<PathBuf, u32> = files.iter().cloned().zip(0..).collect();
        let numbered = found.into_iter().map(|file| {
            let number = *numbers.entry(file.clone()).or_insert_with(|| {
                files.push(file.clone());
                files.len() as u32 - 1
            });
            (number, file)
        });
        Ok(numbered.collect())
    }

    /// All of them, with their numbers.
    pub fn all(&self) -> Vec<(u32, PathBuf)> {
        (0..).zip(self.files.read().clone()).collect()
    }

    /// Adds one; its number.
    pub fn add(&self, file: PathBuf) -> u32 {
        let mut files = self.files.write();
        files.push(file);
        files.len() as u32 - 1
    }

    fn file(&self, place: Place) -> Result<PathBuf, String> {
        let file = self.files.read().get(place.file as usize).cloned();
        file.ok_or_else(|| "its file is not known".to_owned())
    }
}

/// The files of records at and below these paths, and what could not be looked into.
fn found(paths: &[PathBuf]) -> Result<(Vec<PathBuf>, Vec<String>), Failure> {
    let (mut files, mut faults) = (Vec::new(), Vec::new());
    for path in paths {
        for file in records::below(path, None)?.shown {
            match file {
                Ok(file) => files.push(file),
                Err(fault) => faults.push(fault.to_string()),
            }
        }
    }
    Ok((files, faults))
}

impl Source for Files {
    fn line(&self, place: Place) -> Result<String, String> {
        let line =
            lines::at(&self.file(place)?, place.offset).map_err(|error| error.to_string())?;
        Ok(line.text)
    }

    fn sessions(&self, file: u32) -> Box<dyn Sessions> {
        let path = self.files.read().get(file as usize).cloned();
        Box::new(InOrder {
            path: path.unwrap_or_default(),
            lines: None,
        })
    }

    fn calls(&self, place: Place) -> BoxFuture<'static, Result<Arc<dyn Calls>, String>> {
        let file = self.file(place);
        Box::pin(async move {
            let file = file?;
            let library = templates::played_with(None, &file).map_err(|error| error.to_string())?;
            let (again, offset) = (file.clone(), place.offset);
            let read = tokio::task::spawn_blocking(move || {
                let line = lines::at(&again, offset).map_err(|error| error.to_string())?;
                let most = Extent::of_json(line.text.as_bytes());
                let record = StoredRecord::from_line(&line.text);
                let record = record.map_err(|error| with_causes(&error))?;
                Ok::<_, String>((Arc::new(record), most))
            });
            let (record, most) = read.await.map_err(|error| error.to_string())??;
            let (tasks, library) = (Tasks::new(), Arc::new(library));
            let remade = remake(&tasks, Arc::clone(&record), &most, library).await;
            let remade = remade.map_err(|other| format!("{other}, which are not here"))?;
            let made = tokio::task::spawn_blocking(move || {
                let telemetry = telemetry(&file, &record);
                let prompts = Prompts::new(record, remade, telemetry.as_ref());
                Arc::new(Remembered(prompts)) as Arc<dyn Calls>
            });
            made.await.map_err(|error| error.to_string())
        })
    }
}

/// Sessions of a file, with the lines of telemetry beside them.
struct InOrder {
    path: PathBuf,
    /// Lines of records and of telemetry, once they are open.
    lines: Option<(Lines, Option<Lines>)>,
}

impl Sessions for InOrder {
    fn at(&mut self, place: Place) -> Result<(StoredRecord, Telemetry), String> {
        let path = &self.path;
        let (lines, telemetry) = self.lines.get_or_insert_with(|| {
            let beside = records::telemetry_beside(path);
            (lines::read(path), beside.map(|beside| lines::read(&beside)))
        });
        for line in lines {
            let beside = telemetry.as_mut().and_then(Iterator::next);
            let line = line.map_err(|error| error.to_string())?;
            if line.offset < place.offset {
                continue;
            }
            let record = StoredRecord::from_line(&line.text);
            let record = record.map_err(|error| with_causes(&error))?;
            let beside = beside.and_then(Result::ok);
            let telemetry = beside.map_or_else(Telemetry::default, |line| {
                Telemetry::from_line(line.text.as_bytes())
            });
            return Ok((record, telemetry));
        }
        Err(format!(
            "{}: a record that was there is gone",
            path.in_line()
        ))
    }
}
