//! A folder that a program of ours writes into. It is opened once; everything inside is reached
//! from that handle by a plain name, and no symbolic link is followed on the way, so that nothing
//! outside can be written by whoever may put a link there. Links in the path that the user named
//! are the user's own. Called for data folders and for folders of results.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::path::{Path, PathBuf};

use cap_fs_ext::{DirExt as _, FollowSymlinks, OpenOptionsFollowExt as _};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata, OpenOptions};

/// A link stands in the place of something of ours. Comes inside an [`io::Error`].
#[derive(Debug, thiserror::Error)]
#[error("it is a symbolic link, and nothing is written through one")]
pub struct IsALink;

/// An opened folder.
#[derive(Debug)]
pub struct Folder {
    handle: Dir,
    path: PathBuf,
}

/// What stands under a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, wherever it leads.
    Link,
    /// A socket, a device and the like.
    Other,
}

impl Folder {
    /// Opens the folder that the user named, and makes it if need be.
    ///
    /// # Errors
    /// It cannot be made or read.
    pub fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        Self::open(path)
    }

    /// Opens the folder that the user named.
    ///
    /// # Errors
    /// It is not there or cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        // The empty path names the working folder elsewhere, too.
        let named = if path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            path
        };
        Ok(Self {
            handle: Dir::open_ambient_dir(named, ambient_authority())?,
            path: path.to_owned(),
        })
    }

    /// Where it is, as it was named; for messages and for readers.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where something in it is.
    pub fn place(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Where it is, free of links, for a library that opens files by their path.
    ///
    /// # Errors
    /// It has been moved or removed.
    pub fn real_path(&self) -> io::Result<PathBuf> {
        std::fs::canonicalize(if self.path.as_os_str().is_empty() {
            Path::new(".")
        } else {
            &self.path
        })
    }

    /// Opens a folder in it, and makes that if need be.
    ///
    /// # Errors
    /// It cannot be made, or something else has its name.
    pub fn folder(&self, name: &str) -> io::Result<Self> {
        match self.handle.create_dir(name) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => self.inside(name),
        }
    }

    /// Makes a folder in it.
    ///
    /// # Errors
    /// It cannot be made, or its name is taken ([`ErrorKind::AlreadyExists`]).
    pub fn new_folder(&self, name: &str) -> io::Result<Self> {
        self.handle.create_dir(name)?;
        self.inside(name)
    }

    /// Opens a folder in it; `None` when there is nothing of that name.
    ///
    /// # Errors
    /// It cannot be read, or is no folder.
    pub fn existing_folder(&self, name: &str) -> io::Result<Option<Self>> {
        match self.kind(name)? {
            None => Ok(None),
            Some(_) => self.inside(name).map(Some),
        }
    }

    fn inside(&self, name: &str) -> io::Result<Self> {
        self.refuse_no_file(name)?;
        Ok(Self {
            handle: self.handle.open_dir_nofollow(name)?,
            path: self.path.join(name),
        })
    }

    /// Makes sure that names which were changed stay changed if the machine dies.
    ///
    /// # Errors
    /// The disk does not say so.
    pub fn sync(&self) -> io::Result<()> {
        File::open(self.real_path()?)?.sync_all()
    }

    /// What stands under a name; `None` when nothing does.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn kind(&self, name: &str) -> io::Result<Option<Kind>> {
        Ok(self.look(name)?.map(|found| Kind::of(&found)))
    }

    fn look(&self, name: &str) -> io::Result<Option<Metadata>> {
        match self.handle.symlink_metadata(name) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The names in it, in order. Names that are no UTF-8 are none of ours and come as they can
    /// be shown.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let shown = |name: &OsStr| name.to_string_lossy().into_owned();
        let entries = self.handle.entries()?;
        let names = entries.map(|entry| entry.map(|entry| shown(&entry.file_name())));
        let mut names = names.collect::<io::Result<Vec<String>>>()?;
        names.sort();
        Ok(names)
    }

    /// Opens a file for locking or for writing at its end, and makes it if need be. What is in it
    /// stays.
    ///
    /// # Errors
    /// It cannot be written, or its name is that of a link or a folder.
    pub fn file(&self, name: &str) -> io::Result<File> {
        self.refuse_no_file(name)?;
        let mut how = OpenOptions::new();
        how.read(true).append(true).create(true);
        self.open_file(name, &mut how)
    }

    /// Makes a file that is not there yet.
    ///
    /// # Errors
    /// It cannot be made, or its name is taken ([`ErrorKind::AlreadyExists`]).
    pub fn new_file(&self, name: &str) -> io::Result<File> {
        let mut how = OpenOptions::new();
        how.write(true).create_new(true);
        self.open_file(name, &mut how)
    }

    /// Opens a file for reading; `None` when there is nothing of that name.
    ///
    /// # Errors
    /// It cannot be read, or is a link.
    pub fn reader(&self, name: &str) -> io::Result<Option<File>> {
        if self.look(name)?.is_none() {
            return Ok(None);
        }
        self.refuse_no_file(name)?;
        let mut how = OpenOptions::new();
        how.read(true);
        self.open_file(name, &mut how).map(Some)
    }

    /// The content of a file; `None` when there is nothing of that name.
    ///
    /// # Errors
    /// It cannot be read, or is a link.
    pub fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
        let Some(mut file) = self.reader(name)? else {
            return Ok(None);
        };
        let mut bytes = Vec::new();
        let _ = file.read_to_end(&mut bytes)?;
        Ok(Some(bytes))
    }

    fn open_file(&self, name: &str, how: &mut OpenOptions) -> io::Result<File> {
        let opened = self
            .handle
            .open_with(name, how.follow(FollowSymlinks::No))?;
        Ok(opened.into_std())
    }

    /// Opening a pipe would wait for somebody at its other end. Of links, for a clear word; the
    /// opening itself follows none either.
    fn refuse_no_file(&self, name: &str) -> io::Result<()> {
        match self.kind(name)? {
            Some(Kind::Link) => Err(io::Error::other(IsALink)),
            Some(Kind::Other) => Err(io::Error::new(
                ErrorKind::InvalidInput,
                "it is not a regular file but a pipe, a device or a socket",
            )),
            _ => Ok(()),
        }
    }

    /// Gives a file or folder another name, in this folder or in another. A plain file of the new
    /// name is replaced, so the caller must know that it is its own.
    ///
    /// # Errors
    /// It is not there, or the new name cannot be given.
    pub fn rename(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        self.handle.rename(name, &to.handle, new_name)
    }

    /// Gives a file a second name, in this folder or in another.
    ///
    /// # Errors
    /// It is not there, the new name is taken, or files cannot have two names here.
    pub fn link(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        self.refuse_no_file(name)?;
        self.handle.hard_link(name, &to.handle, new_name)
    }

    /// Copies a file under a name that is not taken.
    ///
    /// # Errors
    /// It is not there, or cannot be written.
    pub fn copy(&self, name: &str, to: &Self, new_name: &str) -> io::Result<()> {
        let Some(mut from) = self.reader(name)? else {
            return Err(ErrorKind::NotFound.into());
        };
        let mut copy = to.new_file(new_name)?;
        let _ = io::copy(&mut from, &mut copy)?;
        copy.sync_all()
    }

    /// Removes a file, or a link and not what it leads to. The caller knows that it is its own.
    ///
    /// # Errors
    /// It is not there or may not be removed.
    pub fn remove_file(&self, name: &str) -> io::Result<()> {
        self.handle.remove_file(name)
    }

    /// Removes a folder with nothing in it.
    ///
    /// # Errors
    /// It is not there, or something is in it.
    pub fn remove_empty_folder(&self, name: &str) -> io::Result<()> {
        self.handle.remove_dir(name)
    }
}

impl Kind {
    fn of(found: &Metadata) -> Self {
        match found.file_type() {
            kind if kind.is_symlink() => Self::Link,
            kind if kind.is_dir() => Self::Folder,
            kind if kind.is_file() => Self::File,
            _ => Self::Other,
        }
    }
}

#[cfg(all(test, unix))]
mod tests;
