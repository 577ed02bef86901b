//! The folder of an experiment's results. Every run leaves an entry in its `history`, which nothing
//! changes afterwards; the files beside it show the newest run that has results. A mark says whose
//! folder it is: what Agon did not write there is never removed, replaced or written through. The
//! layout is described in docs/runs.md. Readers of such folders use `run_folder/history.rs`.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use agon_outlets::InLine as _;
use agon_service_kit::folder::{Folder, Kind};

use crate::data_folder::cannot;
use crate::failure::Failure;

pub mod account;
mod drafts;
mod entry;
pub mod history;
mod mark;
mod older;
pub mod records;
mod refusals;

pub use account::{Account, Outcome};
pub use entry::{Entry, NewFile};
pub use mark::{digest, digest_of};

use mark::{Found, MARK, Mark};

/// The session records, one JSON object per line.
pub const RECORDS: &str = "records.jsonl";
/// Telemetry beside the records, one JSON object per line, in the same order.
pub const TELEMETRY: &str = "telemetry.jsonl";
/// One row per session.
pub const RESULTS: &str = "results.csv";
/// The tables as they were printed.
pub const SUMMARY: &str = "summary.txt";
/// The experiment as it was run, with every change from the command line.
pub const EXPERIMENT: &str = "experiment.toml";
/// The same as it was handed in.
pub const DOCUMENT: &str = "document.json";
/// The experiment as it was read.
pub const ORIGINAL: &str = "original.toml";
/// The user's templates, when the experiment has any.
pub const TEMPLATES: &str = "templates";

/// The longest file that is read whole of those beside records: documents have 16 MB at most.
pub const MOST_BESIDE_BYTES: u64 = 64 << 20;

/// The folder of all folders of results, in a data folder.
const RUNS: &str = "runs";

/// The folder with an entry for every run.
const HISTORY: &str = "history";

/// Files of the shown run that stand beside the history, too.
const SHOWN: [&str; 6] = [RECORDS, TELEMETRY, RESULTS, SUMMARY, EXPERIMENT, DOCUMENT];

/// Those that are large: a second name for the same file takes no space.
const LARGE: [&str; 2] = [RECORDS, TELEMETRY];

/// Two processes never change the same folder at the same time.
const LOCK: &str = ".in-use";

/// See the module.
pub struct RunFolder {
    folder: Folder,
    history: Folder,
    experiment: String,
}

/// Where results go.
#[derive(Debug, Clone)]
pub struct Place {
    /// The data folder.
    pub data: PathBuf,
    /// The folder that was named for them.
    pub out: Option<PathBuf>,
}

impl Place {
    /// The folder for an experiment.
    pub fn of(&self, experiment: &str) -> PathBuf {
        let by_default = || by_default(&self.data).join(experiment);
        self.out.clone().unwrap_or_else(by_default)
    }

    fn open(&self, experiment: &str) -> Result<Folder, Failure> {
        let path = self.of(experiment);
        let opened = match &self.out {
            Some(out) => Folder::create(out),
            None => Folder::create(&self.data)
                .and_then(|data| data.folder(RUNS))
                .and_then(|runs| runs.folder(experiment)),
        };
        opened.map_err(|error| cannot("use", &path, &error))
    }
}

/// Where the folders of results of a data folder are, unless they were given another place.
pub fn by_default(data: &Path) -> PathBuf {
    data.join(RUNS)
}

/// How a folder for results stands before a run.
pub struct Standing {
    /// Where it is.
    pub path: PathBuf,
    /// The number of its last run; 0 before the first.
    pub last: u32,
    /// How many runs it keeps.
    pub runs: usize,
}

impl RunFolder {
    /// Opens the folder for an experiment's results, or makes it.
    ///
    /// # Errors
    /// It is somebody else's, or another experiment's, or cannot be written; says what to do.
    pub fn claim(place: &Place, experiment: &str) -> Result<Self, Failure> {
        let folder = place.open(experiment)?;
        if holds_of(&folder)?.is_none() {
            refusals::other_things(&folder, experiment)?;
        }
        let history = folder.folder(HISTORY);
        let history = history.map_err(|error| cannot("use", &folder.place(HISTORY), &error))?;
        let this = Self {
            folder,
            history,
            experiment: experiment.to_owned(),
        };
        let _lock = this.lock()?;
        // Nobody else changes it from here on, and somebody may have just before.
        match holds_of(&this.folder)? {
            Some(Holds::Marked(mark)) if mark.experiment == experiment => {
                this.refuse_what_is_no_file()?;
                if let Some(number) = mark.publishing {
                    this.show(number, mark)?;
                }
            }
            Some(Holds::Older(of)) if of == experiment => {
                this.refuse_what_is_no_file()?;
                let mark = older::carry_over(&this.folder, experiment)?;
                write_mark(&this.folder, &mark)?;
            }
            Some(Holds::Marked(Mark { experiment: of, .. }) | Holds::Older(of)) => {
                return Err(refusals::other_experiment(&this.folder, &of, experiment));
            }
            None => write_mark(&this.folder, &Mark::new(experiment))?,
        }
        Ok(this)
    }

    /// Whether the folder for an experiment's results may be used, and which runs it has. Makes
    /// and changes nothing.
    ///
    /// # Errors
    /// As [`RunFolder::claim`], as far as that can be seen beforehand.
    pub fn look(place: &Place, experiment: &str) -> Result<Standing, Failure> {
        let path = place.of(experiment);
        let folder = match Folder::open(&path) {
            Ok(folder) => folder,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Standing {
                    path,
                    last: 0,
                    runs: 0,
                });
            }
            Err(error) => return Err(cannot("use", &path, &error)),
        };
        let (holds, last) = match holds_of(&folder)? {
            Some(Holds::Marked(mark)) => (mark.experiment, mark.last),
            Some(Holds::Older(of)) => (of, 1),
            None => {
                refusals::other_things(&folder, experiment)?;
                (experiment.to_owned(), 0)
            }
        };
        if holds != experiment {
            return Err(refusals::other_experiment(&folder, &holds, experiment));
        }
        let runs = history::results(&path).map_or(last as usize, |results| results.runs.len());
        Ok(Standing { path, last, runs })
    }

    /// Opens a folder of results that is there already.
    ///
    /// # Errors
    /// It is none.
    pub fn existing(path: &Path) -> Result<Self, Failure> {
        let folder = Folder::open(path).map_err(|error| cannot("read", path, &error))?;
        match holds_of(&folder)? {
            Some(Holds::Marked(mark)) => {
                let history = folder.folder(HISTORY);
                let history =
                    history.map_err(|error| cannot("use", &folder.place(HISTORY), &error))?;
                Ok(Self {
                    folder,
                    history,
                    experiment: mark.experiment,
                })
            }
            Some(Holds::Older(_)) => Err(Failure::BadInput(format!(
                "{} was written by an older agon, without a history of runs; the next `agon run` \
                 into it converts it",
                path.in_line()
            ))),
            None => Err(Failure::BadInput(format!(
                "{} is no folder of results",
                path.in_line()
            ))),
        }
    }

    /// Said before anything is played, because at the end it is too late to choose.
    fn refuse_what_is_no_file(&self) -> Result<(), Failure> {
        for name in SHOWN {
            let kind = self.folder.kind(name);
            let what = match kind.map_err(|error| cannot("read", self.path(), &error))? {
                None | Some(Kind::File) => continue,
                Some(Kind::Link) => "a symbolic link, and nothing is written through one",
                Some(Kind::Folder) => "a folder",
                Some(Kind::Other) => "no plain file",
            };
            return Err(Failure::BadInput(format!(
                "{} is {what}, where results are to be written; move it away, or choose another \
                 folder with --out",
                self.folder.place(name).in_line()
            )));
        }
        Ok(())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Whether any run's results stand beside the history.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn shows_results(&self) -> Result<bool, Failure> {
        Ok(self.mark()?.shown > 0)
    }

    /// Makes the entry of a run that begins now, with the next number.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(&self, account: Account) -> Result<Entry, Failure> {
        let _lock = self.lock()?;
        let mut mark = self.mark()?;
        let newest = history::numbers(&self.history).into_iter().max();
        let number = mark.last.max(newest.unwrap_or(0)) + 1;
        mark.last = number;
        write_mark(&self.folder, &mark)?;
        let started = now();
        let name = history::name(number, &started);
        let folder = self.history.new_folder(&name);
        let folder =
            folder.map_err(|error| cannot("create", &self.history.place(&name), &error))?;
        let account = Account {
            format: account::FORMAT,
            run: number,
            experiment: self.experiment.clone(),
            started,
            ..account
        };
        let shown = history::open(&self.history, mark.shown);
        let shown = shown.map_err(|error| cannot("read", self.history.path(), &error))?;
        let entry = Entry::new(folder, account).after(shown).of_running();
        let mut entry =
            entry.map_err(|error| cannot("write", &self.history.place(&name), &error))?;
        entry.write_account()?;
        Ok(entry)
    }

    /// Moves into the entry of a run what the newest ended run with such a file had fetched.
    ///
    /// # Errors
    /// It cannot be moved.
    pub fn take_over(&self, entry: &Entry, name: &str) -> Result<(), Failure> {
        let _lock = self.lock()?;
        let before = history::ended_with(&self.history, name, entry.account.run);
        let taken = before.and_then(|before| match before {
            Some(before) => entry.take_over(name, &before),
            None => Ok(()),
        });
        taken.map_err(|error| cannot("move", &entry.file(name), &error))
    }

    /// Shows a run's results in the files beside the history. Answers what stood in their places
    /// without being ours, by its new name.
    ///
    /// # Errors
    /// They cannot be written.
    pub fn publish(&self, entry: &Entry) -> Result<Vec<PathBuf>, Failure> {
        let _lock = self.lock()?;
        self.show(entry.account.run, self.mark()?)
    }

    fn show(&self, number: u32, mut mark: Mark) -> Result<Vec<PathBuf>, Failure> {
        let failed = |error| cannot("write", self.path(), &error);
        let Some(entry) = history::open(&self.history, number).map_err(failed)? else {
            // It was removed while it was being put in its place.
            return self.show_newest_but(number, mark);
        };
        drafts::clear(&self.folder).map_err(failed)?;
        let mut files = BTreeMap::new();
        for name in SHOWN {
            if let Some(file) = entry.reader(name).map_err(failed)? {
                files.insert(name, digest_of(file).map_err(failed)?);
            }
        }
        let mut kept = Vec::new();
        for name in files.keys() {
            let ours = mark.wrote(&self.folder, name).map_err(failed)?;
            if !ours && self.folder.kind(name).map_err(failed)?.is_some() {
                kept.push(self.set_aside(name, number).map_err(failed)?);
            }
        }
        // From here to the end a file may be that of either run.
        for (name, digest) in &files {
            let known = mark.files.entry((*name).to_owned()).or_default();
            known.push(digest.clone());
        }
        mark.publishing = Some(number);
        write_mark(&self.folder, &mark)?;
        for name in files.keys() {
            self.put(&entry, name, number)
                .map_err(|error| cannot("write", &self.folder.place(name), &error))?;
        }
        let gone = SHOWN.into_iter().filter(|name| !files.contains_key(name));
        self.take_away(gone, &mut mark)?;
        for (name, digest) in files {
            mark.files.insert(name.to_owned(), vec![digest]);
        }
        mark.publishing = None;
        mark.shown = number;
        write_mark(&self.folder, &mark)?;
        Ok(kept)
    }

    /// Puts a file of an entry beside the history.
    fn put(&self, entry: &Folder, name: &str, number: u32) -> io::Result<()> {
        let draft = self.free(drafts::name_of(name, number))?;
        // No second name of the entry's own file: whoever edits what is shown must not change that.
        let put = entry
            .copy(name, &self.folder, &draft)
            .and_then(|()| self.folder.rename(&draft, &self.folder, name));
        if put.is_err() {
            // What is left of it would take the room that was missing.
            let _ = self.folder.remove_file(&draft);
        }
        put
    }

    /// Gives what is not ours another name.
    fn set_aside(&self, name: &str, number: u32) -> io::Result<PathBuf> {
        let free = self.free(format!("{name}.before-run-{number}"))?;
        self.folder.rename(name, &self.folder, &free)?;
        Ok(self.folder.place(&free))
    }

    /// A name like this one that nothing has.
    fn free(&self, mut name: String) -> io::Result<String> {
        while self.folder.kind(&name)?.is_some() {
            name.push('~');
        }
        Ok(name)
    }

    /// Removes the entry of a run, for good. Where its tables were shown, those of the newest run
    /// that is left take their places.
    ///
    /// # Errors
    /// There is none of this number, or it cannot be removed.
    pub fn delete(&self, number: u32) -> Result<Vec<PathBuf>, Failure> {
        let _lock = self.lock()?;
        self.check_deletion(number)?;
        let mark = self.mark()?;
        let is_shown = mark.shown == number || mark.publishing == Some(number);
        let kept = match is_shown {
            true => self.show_newest_but(number, mark)?,
            false => Vec::new(),
        };
        history::remove(&self.history, number)?;
        Ok(kept)
    }

    /// Whether a run can be removed.
    ///
    /// # Errors
    /// There is none of this number, or it is still running.
    pub fn check_deletion(&self, number: u32) -> Result<(), Failure> {
        let failed = |error| cannot("read", self.path(), &error);
        history::find(&self.history, number)?;
        match history::is_running(&self.history, number).map_err(failed)? {
            true => Err(Failure::BadInput(format!(
                "run {number} is still running; stop it, or wait until it ends"
            ))),
            false => Ok(()),
        }
    }

    /// Shows the newest run with records apart from one, or nothing where there is no other.
    fn show_newest_but(&self, number: u32, mut mark: Mark) -> Result<Vec<PathBuf>, Failure> {
        let next = history::newest_with(&self.history, RECORDS, number);
        match next.map_err(|error| cannot("read", self.history.path(), &error))? {
            Some(next) => self.show(next, mark),
            None => {
                self.take_away(SHOWN.into_iter(), &mut mark)?;
                mark.shown = 0;
                mark.publishing = None;
                write_mark(&self.folder, &mark)?;
                Ok(Vec::new())
            }
        }
    }

    /// Removes files beside the history, as far as they are ours.
    fn take_away(
        &self,
        names: impl Iterator<Item = &'static str>,
        mark: &mut Mark,
    ) -> Result<(), Failure> {
        let failed = |error| cannot("write", self.path(), &error);
        for name in names {
            if mark.wrote(&self.folder, name).map_err(failed)? {
                self.folder.remove_file(name).map_err(failed)?;
            }
            mark.files.remove(name);
        }
        Ok(())
    }

    fn lock(&self) -> Result<File, Failure> {
        let failed = |error| cannot("lock", &self.history.place(LOCK), &error);
        let lock = self.history.file(LOCK).map_err(failed)?;
        lock.lock().map_err(failed)?;
        Ok(lock)
    }

    fn mark(&self) -> Result<Mark, Failure> {
        match Mark::read(&self.folder) {
            Ok(Found::Mark(mark)) if mark.experiment != self.experiment => Err(
                refusals::other_experiment(&self.folder, &mark.experiment, &self.experiment),
            ),
            Ok(Found::Mark(mark)) => Ok(mark),
            Ok(Found::None) => Ok(Mark::new(&self.experiment)),
            Ok(Found::Unreadable(why)) => Err(cannot(
                "read",
                &self.folder.place(MARK),
                &io::Error::other(why),
            )),
            Err(error) => Err(cannot("read", &self.folder.place(MARK), &error)),
        }
    }
}

/// What a folder of ours holds.
enum Holds {
    /// Results under this mark.
    Marked(Mark),
    /// Results of this experiment from before there were marks.
    Older(String),
}

fn holds_of(folder: &Folder) -> Result<Option<Holds>, Failure> {
    let found = Mark::read(folder);
    match found.map_err(|error| cannot("read", &folder.place(MARK), &error))? {
        Found::Mark(mark) => Ok(Some(Holds::Marked(mark))),
        Found::None => Ok(older::experiment_of(folder).map(Holds::Older)),
        Found::Unreadable(why) => Err(Failure::BadInput(format!(
            "cannot use {}: {why}; choose another folder with --out",
            folder.place(MARK).in_line()
        ))),
    }
}

fn write_mark(folder: &Folder, mark: &Mark) -> Result<(), Failure> {
    let written = mark.write(folder);
    written.map_err(|error| cannot("write", &folder.place(MARK), &error))
}

/// The time as accounts have it, UTC.
pub fn now() -> String {
    humantime::format_rfc3339_seconds(SystemTime::now()).to_string()
}

#[cfg(test)]
mod tests;
