//! The folder in which services on one machine keep their state, one folder for
//! each, used by one process at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// A service's folder, held by this process.
pub struct ServiceFolder {
    path: PathBuf,
    /// Held for as long as the folder is used; the system lets go of it when the
    /// process ends, however it ends.
    _lock: File,
}

impl ServiceFolder {
    /// Creates the folder of a service if need be and takes it for this process.
    ///
    /// # Errors
    /// It cannot be written, or another process has it.
    pub fn take(data: &Path, service: &str) -> Result<Self, Failure> {
        let path = data.join(service);
        fs::create_dir_all(&path).map_err(|error| cannot("create", &path, &error))?;
        let lock_path = path.join("in-use");
        let lock = File::create(&lock_path).map_err(|error| cannot("write", &lock_path, &error))?;
        match lock.try_lock() {
            Ok(()) => Ok(Self { path, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(Failure::Surroundings(format!(
                "{} is in use by another agon; wait for it, or choose another folder with --data",
                data.display()
            ))),
            Err(TryLockError::Error(error)) => Err(cannot("lock", &lock_path, &error)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A file that cannot be used, with what to do about the usual reasons.
pub fn cannot(what: &str, path: &Path, error: &std::io::Error) -> Failure {
    let advice = match error.kind() {
        std::io::ErrorKind::StorageFull => "; free some space and run the same command again",
        std::io::ErrorKind::PermissionDenied => "; choose a folder you may write to",
        _ => "",
    };
    Failure::Surroundings(format!("cannot {what} {}: {error}{advice}", path.display()))
}
