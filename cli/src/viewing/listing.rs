//! Reads every session once and lists it, so that pages fill while it goes on.
//! Called by `agon view`; keeps no record.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use agon_outlets::InLine as _;
use agon_report::Session;
use agon_service_kit::tasks::with_causes;
use agon_web::{Index, Place, RunKey};
use parking_lot::RwLock;

use super::files::Files;
use crate::lines::{self, MOST_UNREADABLE};

/// Lists the sessions of all files, until it is told to stop.
pub fn read(files: &Files, index: &RwLock<Index>, is_over: impl Fn() -> bool) {
    let mut runs: HashMap<(PathBuf, String), RunKey> = HashMap::new();
    for (number, file) in files.all() {
        let folder = file.parent().unwrap_or(Path::new("")).to_owned();
        let (mut unreadable, mut last) = (0, None);
        for line in lines::read(&file) {
            if is_over() {
                return;
            }
            let read = line.map_err(|error| error.to_string()).and_then(|line| {
                let session = Session::from_line(line.text.as_bytes());
                let session = session.map_err(|error| {
                    let (file, number) = (file.in_line(), line.number);
                    format!("{file}:{number}: {}", with_causes(&error))
                })?;
                Ok((session, line.offset))
            });
            match read {
                Ok((session, offset)) => {
                    let place = Place {
                        file: number,
                        offset,
                    };
                    let experiment = session.spec.experiment.clone();
                    let mut index = index.write();
                    let key = runs.entry((folder.clone(), experiment)).or_insert_with_key(
                        |(folder, experiment)| {
                            index.add_run(experiment, folder.in_line().to_string())
                        },
                    );
                    index.add(*key, &session, place);
                    last = Some(*key);
                }
                Err(reason) => {
                    tracing::warn!(%reason, "a line is no record");
                    if let Some(key) = last {
                        index.write().note(key, format!("unreadable: {reason}"));
                    }
                    unreadable += 1;
                    if unreadable == MOST_UNREADABLE {
                        break;
                    }
                }
            }
        }
    }
}
