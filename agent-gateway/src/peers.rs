//! Other processes of this machine that use the same files, each for sessions of its own: whose
//! turn it is to write, and who of them is alive. Both are locks that the system lets go of when
//! their process ends, however it ends. Knows nothing of what the files hold. Called by the
//! embedded back ends.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use agon_service_kit::folder::Folder;

/// The folder with one locked file for each living process.
const FOLDER: &str = "processes";

/// One process at a time writes a file that several share. Waiters are woken by the system, in
/// the order in which they came; SQLite's own waiting is a row of naps.
///
/// Within a process a turn has one user: the same thread, or whoever holds a lock of its own.
#[derive(Debug)]
pub struct Turn(File);

impl Turn {
    /// The turn at what lies beside the lock file of this name.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn at(folder: &Folder, name: &str) -> io::Result<Self> {
        folder.file(name).map(Self)
    }

    /// Waits for the turn and has it until the guard is dropped.
    ///
    /// # Errors
    /// The system has no such locks here.
    pub fn take(&self) -> io::Result<Taken<'_>> {
        self.0.lock()?;
        Ok(Taken(&self.0))
    }
}

/// The turn, taken.
pub struct Taken<'a>(&'a File);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        // It cannot fail for a file that is locked; the end of the process does the same.
        let _ = self.0.unlock();
    }
}

/// The processes that use the same files, this one among them.
#[derive(Debug)]
pub struct Peers {
    folder: Folder,
    own: String,
    _alive: File,
}

impl Peers {
    /// Enters this process under a name that no other ever has.
    ///
    /// # Errors
    /// The folder cannot be written.
    pub fn enter(files: &Folder, own: &str) -> io::Result<Self> {
        let folder = files.folder(FOLDER)?;
        // Locked before it can be seen, or it would be taken for that of a dead one.
        let entering = format!(".{own}");
        let alive = folder.new_file(&entering)?;
        alive.lock()?;
        folder.rename(&entering, &folder, own)?;
        Ok(Self {
            folder,
            own: own.to_owned(),
            _alive: alive,
        })
    }

    /// This process.
    pub fn own(&self) -> &str {
        &self.own
    }

    /// Whether a process of this name still lives. When that cannot be found out, it does.
    pub fn is_alive(&self, name: &str) -> bool {
        if name == self.own {
            return true;
        }
        match self.folder.reader(name) {
            Ok(None) => false,
            Ok(Some(file)) => match file.try_lock_shared() {
                Ok(()) => {
                    // Its name is never used again.
                    let _ = self.folder.remove_file(name);
                    false
                }
                Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
            },
            Err(_) => true,
        }
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        // What stays behind says by its lock that nobody is there.
        let _ = self.folder.remove_file(&self.own);
    }
}

/// The folder that a file lies in, made if need be, and the file's name in it.
///
/// # Errors
/// The folder cannot be made.
pub fn folder_of(file: &Path) -> io::Result<(Folder, String)> {
    let unnamed = || io::Error::other("the path names no file");
    let name = file.file_name().ok_or_else(unnamed)?;
    let folder = Folder::create(file.parent().unwrap_or(Path::new("")))?;
    Ok((folder, name.to_string_lossy().into_owned()))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::time::Duration;

    use super::*;

    fn files() -> (tempfile::TempDir, Folder) {
        let scratch = tempfile::tempdir().unwrap();
        let folder = Folder::open(scratch.path()).unwrap();
        (scratch, folder)
    }

    #[test]
    fn process_is_alive_until_it_ends_and_unknown_ones_are_dead() {
        let (_scratch, files) = files();
        let one = Peers::enter(&files, "one").unwrap();
        let two = Peers::enter(&files, "two").unwrap();
        assert!(one.is_alive("two") && two.is_alive("one") && one.is_alive("one"));
        assert!(!one.is_alive("three"));
        drop(two);
        assert!(!one.is_alive("two"));
    }

    #[test]
    fn process_that_was_killed_is_dead() {
        let (_scratch, files) = files();
        let one = Peers::enter(&files, "one").unwrap();
        // As a kill leaves it: the file without its lock.
        let _ = files.folder(FOLDER).unwrap().new_file("killed").unwrap();
        assert!(!one.is_alive("killed"));
        assert_eq!(one.folder.names().unwrap(), ["one"]);
    }

    #[test]
    fn second_one_waits_for_the_first_ones_turn() {
        let (_scratch, files) = files();
        let first = Turn::at(&files, "x.turn").unwrap();
        let second = Turn::at(&files, "x.turn").unwrap();
        let (tell, told) = mpsc::channel();
        let taken = first.take().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _taken = second.take().unwrap();
                tell.send(()).unwrap();
            });
            let early = told.recv_timeout(Duration::from_millis(50));
            assert!(early.is_err(), "the turn was taken twice");
            drop(taken);
            told.recv().unwrap();
        });
    }
}
