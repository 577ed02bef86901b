//! The data folder: what services and runs on one machine keep. A service has its folder for
//! itself. Runs share the gateway's files, and each has the folder of its experiment: who comes
//! second with the same experiment waits until the first has ended. Held by locks, which the
//! system lets go of when a process ends, however it ends.

use std::fs::{File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::folder::{Folder, IsALink};
use agon_service_kit::signals::shutdown_signal;

use crate::failure::Failure;
use crate::output;

/// The coordinator's folder, and in it those of experiments that are run without a service.
pub const COORDINATOR: &str = "coordinator";
const EXPERIMENTS: &str = "experiments";

/// The store of the coordinator, in its folder or in that of an experiment.
pub const STORE: &str = "store";

/// The gateway's folder, and its ledger there.
pub const GATEWAY: &str = "gateway";
pub const LEDGER: &str = "ledger.db";

/// The file whose lock says that a folder is in use; it holds the number of the process.
const LOCK: &str = "in-use";

/// Who waits for another process looks this often.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A folder that is held by this process, alone or beside others.
pub struct HeldFolder {
    path: PathBuf,
    /// Held for as long as the folder is used.
    _lock: File,
}

impl HeldFolder {
    /// Creates the folder of a service if need be and takes it for this process.
    ///
    /// # Errors
    /// It cannot be written, or another process has it.
    pub fn of_service(data: &Path, service: &str) -> Result<Self, Failure> {
        let (folder, lock) = lock_file(data, &[service])?;
        match lock.try_lock() {
            Ok(()) => Ok(Self::held(&folder, lock)),
            Err(TryLockError::WouldBlock) => Err(in_use(data)),
            Err(TryLockError::Error(error)) => Err(cannot("lock", &folder.place(LOCK), &error)),
        }
    }

    /// Creates the gateway's folder if need be and shares it with other runs.
    ///
    /// # Errors
    /// It cannot be written, or a service has it for itself.
    pub fn of_gateway(data: &Path) -> Result<Self, Failure> {
        let (folder, lock) = lock_file(data, &[GATEWAY])?;
        match lock.try_lock_shared() {
            Ok(()) => Ok(Self::held(&folder, lock)),
            Err(TryLockError::WouldBlock) => Err(in_use(data)),
            Err(TryLockError::Error(error)) => Err(cannot("lock", &folder.place(LOCK), &error)),
        }
    }

    /// Creates the folder of an experiment if need be and takes it for this process, as soon as no
    /// other one runs the same experiment.
    ///
    /// # Errors
    /// It cannot be written, or Ctrl-C ended the waiting.
    pub async fn of_experiment(data: &Path, experiment: &str) -> Result<Self, Failure> {
        let (folder, lock) = lock_file(data, &[COORDINATOR, EXPERIMENTS, experiment])?;
        let mut waits_for = None;
        let mut interrupt = std::pin::pin!(shutdown_signal());
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => {
                    return Err(cannot("lock", &folder.place(LOCK), &error));
                }
            }
            let holder = waits_for.get_or_insert_with(|| {
                let holder = holder(&folder);
                output::tell(&waiting(data, experiment, &holder));
                holder
            });
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = &mut interrupt => return Err(Failure::Interrupted(format!(
                    "stopped waiting; {holder} continues, and this command started nothing"
                ))),
            }
        }
        if let Some(holder) = waits_for {
            output::tell(&format!("{holder} has ended; going on with {experiment}"));
        }
        note_holder(&lock).map_err(|error| cannot("write", &folder.place(LOCK), &error))?;
        Ok(Self::held(&folder, lock))
    }

    fn held(folder: &Folder, lock: File) -> Self {
        Self {
            path: folder.path().to_owned(),
            _lock: lock,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Opens a folder below the data folder, each made if need be, and the file to lock there.
fn lock_file(data: &Path, names: &[&str]) -> Result<(Folder, File), Failure> {
    let mut folder = Folder::create(data).map_err(|error| cannot("create", data, &error))?;
    for name in names {
        let inside = folder.folder(name);
        folder = inside.map_err(|error| cannot("create", &folder.place(name), &error))?;
    }
    let lock = folder.file(LOCK);
    let lock = lock.map_err(|error| cannot("write", &folder.place(LOCK), &error))?;
    Ok((folder, lock))
}

/// Which process holds a folder, in words.
fn holder(folder: &Folder) -> String {
    let noted = folder.read(LOCK).ok().flatten().unwrap_or_default();
    let number = String::from_utf8_lossy(&noted);
    match number.trim().parse::<u32>() {
        Ok(number) => format!("process {number}"),
        Err(_) => "another process".to_owned(),
    }
}

fn note_holder(mut lock: &File) -> io::Result<()> {
    lock.set_len(0)?;
    writeln!(lock, "{}", std::process::id())
}

fn waiting(data: &Path, experiment: &str, holder: &str) -> String {
    format!(
        "{holder} is already running {experiment} in {}; waiting for it to end, then continuing \
         from there (Ctrl-C stops waiting, not that run)",
        data.in_line(),
    )
}

/// The file on the way to a path at which a folder cannot be made or opened.
fn file_in_place_of_folder<'a>(path: &'a Path, error: &io::Error) -> Option<&'a Path> {
    let stumbles = [io::ErrorKind::AlreadyExists, io::ErrorKind::NotADirectory];
    let mut ways = path
        .ancestors()
        .filter(|_| stumbles.contains(&error.kind()));
    ways.find(|way| way.is_file())
}

fn in_use(data: &Path) -> Failure {
    Failure::Surroundings(format!(
        "{} is in use by another agon process and cannot be shared with this one; wait until it \
         ends, or choose another folder with --data",
        data.in_line()
    ))
}

/// A file that cannot be used, with what to do about the usual reasons. A path that somebody typed and
/// that leads through a file is wrong input.
pub fn cannot(what: &str, path: &Path, error: &io::Error) -> Failure {
    if let Some(file) = file_in_place_of_folder(path, error) {
        return Failure::BadInput(format!(
            "{} is a file, and a folder is needed there; name a folder",
            file.in_line()
        ));
    }
    let is_link = error.get_ref().is_some_and(|inner| inner.is::<IsALink>());
    let advice = match error.kind() {
        _ if is_link => "; remove the link, or name the folder that it leads to",
        io::ErrorKind::StorageFull => {
            "; what was done is kept: free some space and run the same command again"
        }
        io::ErrorKind::PermissionDenied if what == "read" => "; check its permissions",
        io::ErrorKind::PermissionDenied => "; choose a folder you may write to",
        _ => "",
    };
    Failure::Surroundings(format!("cannot {what} {}: {error}{advice}", path.in_line()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_where_the_data_folder_belongs_is_named_as_wrong_input() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("afile");
        std::fs::write(&file, "").unwrap();
        for data in [file.clone(), file.join("data")] {
            let Err(failure) = HeldFolder::of_gateway(&data) else {
                panic!("{} was used", data.display());
            };
            let told = format!("{} is a file, and a folder is needed there", file.display());
            assert!(failure.to_string().starts_with(&told), "{failure}");
            assert_eq!(failure.code(), 2);
        }
    }
}
