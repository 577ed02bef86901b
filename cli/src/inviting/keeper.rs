//! Invitations, who came, and what they answered outside games, as files of the data folder that only
//! their owner may read. Who somebody is stands in a file of its own, which nothing else reads.

use std::fs::{File, Metadata};
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;

use agon_outlets::InLine as _;
use agon_service_kit::folder::Folder;
use agon_web::seats::{Book, Keeper, Kept};
use parking_lot::Mutex;

use crate::data_folder::cannot;
use crate::failure::Failure;

/// The folder.
const PEOPLE: &str = "people";

/// Invitations, and how far each person is.
const INVITATIONS: &str = "invitations.json";

/// The same while it is written.
const NEW_INVITATIONS: &str = "invitations.new";

/// Who is who: the only place where pseudonyms meet what a recruitment service says of people.
const PERSONS: &str = "persons.jsonl";

/// Consent, checks and questionnaires, by pseudonym.
const ANSWERS: &str = "answers.jsonl";

/// Whose lock says that invitations are being changed.
const LOCK: &str = "lock";

/// See the module.
pub struct PeopleFolder {
    folder: Folder,
    known: Mutex<Option<(Version, Arc<Book>)>>,
}

/// What tells two contents of a file apart: each is a file of its own.
#[derive(PartialEq, Eq)]
struct Version {
    file: u64,
    bytes: u64,
    modified: Option<std::time::SystemTime>,
}

impl PeopleFolder {
    /// Opens the folder in the data folder, and makes it if need be.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn open(data: &Path) -> Result<Self, Failure> {
        let opened = Folder::create(data).and_then(|data| data.folder(PEOPLE));
        let folder = opened.map_err(|error| cannot("use", &data.join(PEOPLE), &error))?;
        let path = folder.real_path();
        let closed = path.and_then(|path| close(&path, 0o700));
        closed.map_err(|error| cannot("use", folder.path(), &error))?;
        let known = Mutex::new(None);
        Ok(Self { folder, known })
    }

    /// Whether somebody was invited in this data folder.
    pub fn is_in(data: &Path) -> bool {
        data.join(PEOPLE).join(INVITATIONS).is_file()
    }

    fn stored(&self) -> io::Result<Option<(Version, File)>> {
        let Some(file) = self.folder.reader(INVITATIONS)? else {
            return Ok(None);
        };
        let found = file.metadata()?;
        let version = Version {
            file: number(&found),
            bytes: found.len(),
            modified: found.modified().ok(),
        };
        Ok(Some((version, file)))
    }

    fn load(&self) -> io::Result<Arc<Book>> {
        let Some((version, file)) = self.stored()? else {
            return Ok(Arc::default());
        };
        let mut known = self.known.lock();
        if let Some((of, book)) = &*known
            && *of == version
        {
            return Ok(Arc::clone(book));
        }
        let book: Book = serde_json::from_reader(io::BufReader::new(file))?;
        let book = Arc::new(book);
        *known = Some((version, Arc::clone(&book)));
        Ok(book)
    }

    fn store(&self, book: &Book) -> io::Result<()> {
        match self.folder.remove_file(NEW_INVITATIONS) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = self.folder.new_file(NEW_INVITATIONS)?;
        close_file(&file)?;
        serde_json::to_writer_pretty(io::BufWriter::new(&mut file), book)?;
        file.sync_all()?;
        self.folder
            .rename(NEW_INVITATIONS, &self.folder, INVITATIONS)?;
        self.folder.sync()
    }

    fn change_locked(&self, change: &mut dyn FnMut(&mut Book)) -> io::Result<()> {
        let lock = self.folder.file(LOCK)?;
        close_file(&lock)?;
        lock.lock()?;
        let mut book = Book::clone(&*self.load()?);
        let before = book.clone();
        change(&mut book);
        match book == before {
            true => Ok(()),
            false => self.store(&book),
        }
    }

    fn append(&self, kept: &Kept) -> io::Result<()> {
        let name = match kept {
            Kept::Person { .. } => PERSONS,
            Kept::Answers { .. } => ANSWERS,
        };
        let mut file = self.folder.file(name)?;
        close_file(&file)?;
        let line = format!("{}\n", serde_json::to_string(kept)?);
        file.write_all(line.as_bytes())?;
        file.sync_data()
    }

    fn said(&self, error: &io::Error) -> String {
        format!("{}: {error}", self.folder.path().in_line())
    }
}

impl Keeper for PeopleFolder {
    fn read(&self) -> Result<Arc<Book>, String> {
        self.load().map_err(|error| self.said(&error))
    }

    fn change(&self, change: &mut dyn FnMut(&mut Book)) -> Result<(), String> {
        let changed = self.change_locked(change);
        changed.map_err(|error| self.said(&error))
    }

    fn keep(&self, kept: &Kept) -> Result<(), String> {
        self.append(kept).map_err(|error| self.said(&error))
    }
}

#[cfg(unix)]
fn close(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn close(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

/// For its owner alone, before anything is in it.
#[cfg(unix)]
fn close_file(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))
}

#[cfg(not(unix))]
fn close_file(_file: &File) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn number(found: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    found.ino()
}

#[cfg(not(unix))]
fn number(_found: &Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn files_about_people_are_read_by_their_owner_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let data = tempfile::tempdir().unwrap();
        let folder = PeopleFolder::open(data.path()).unwrap();
        folder
            .change(&mut |book| drop(book.invite("x", "ann", u64::MAX).unwrap()))
            .unwrap();
        let kept = Kept::Person {
            pseudonym: "person-1".to_owned(),
            experiment: "x".to_owned(),
            door: "ann".to_owned(),
            participant: [("PROLIFIC_PID".to_owned(), "p".to_owned())].into(),
            at: String::new(),
        };
        folder.keep(&kept).unwrap();
        let path = data.path().join(PEOPLE);
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o700);
        for name in [INVITATIONS, PERSONS, LOCK] {
            assert_eq!(mode(&path.join(name)), 0o600, "{name}");
        }
    }

    #[test]
    fn changes_of_another_process_are_seen_and_none_is_lost() {
        let data = tempfile::tempdir().unwrap();
        let [one, other] = [(); 2].map(|()| PeopleFolder::open(data.path()).unwrap());
        std::thread::scope(|scope| {
            for folder in [&one, &other] {
                scope.spawn(move || {
                    for _ in 0..20 {
                        let invite = &mut |book: &mut Book| {
                            let _ = book.invite("x", "ann", u64::MAX);
                        };
                        folder.change(invite).unwrap();
                    }
                });
            }
        });
        for folder in [one, other] {
            assert_eq!(folder.read().unwrap().invitations.len(), 40);
        }
    }
}
