//! Space on the ledger's disk that is kept free for the answers that are under way when the disk
//! fills up: they are paid for, and must be recorded somewhere. A file that holds nothing; it is
//! emptied when the disk is full and filled again when there is space. Called by `writer.rs`.

use std::fs::File;
use std::io::{self, Write as _};

use rusqlite::ErrorCode;

/// Room for some thousand answers of a few kilobytes, which the database writes twice.
pub(super) const BYTES: u64 = 16 << 20;

/// Where the system cannot give space to a file, it is written.
const CHUNK: usize = 64 << 10;

/// The space, of one process or shared by several.
pub(super) struct Reserve {
    file: File,
    is_held: bool,
}

impl Reserve {
    /// Nothing is held yet: a gateway that asks nobody needs none.
    pub(super) fn new(file: File) -> Self {
        Self {
            file,
            is_held: false,
        }
    }

    /// Takes the space if it is not held already.
    ///
    /// # Errors
    /// There is not so much left.
    pub(super) fn hold(&mut self) -> io::Result<()> {
        if self.is_held {
            return Ok(());
        }
        let held = take(&self.file);
        match &held {
            Ok(()) => self.is_held = true,
            // A part of it would only make the disk full.
            Err(_) => self.file.set_len(0)?,
        }
        held
    }

    /// Gives the space to the database; whether there was any.
    pub(super) fn release(&mut self) -> bool {
        let was_held = std::mem::take(&mut self.is_held);
        was_held && self.file.set_len(0).is_ok()
    }
}

/// Whether more space may help.
pub(super) fn is_about_space(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DiskFull | ErrorCode::SystemIoFailure)
    )
}

fn take(file: &File) -> io::Result<()> {
    if file.metadata()?.len() == BYTES {
        return Ok(());
    }
    match rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, BYTES) {
        Ok(()) => return Ok(()),
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => {}
        Err(error) => return Err(error.into()),
    }
    let chunk = vec![0xa5; CHUNK];
    let mut out = file;
    for _ in 0..BYTES / CHUNK as u64 {
        out.write_all(&chunk)?;
    }
    file.sync_all()
}
