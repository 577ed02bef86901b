//! Files that people name with `--out`: pictures, pages; in folders or, by an address, in storage. What
//! is there is replaced only if they say so, and only if it is a file. Called by `agon figure` and `agon report`.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use agon_outlets::InLine as _;

use crate::data_folder::cannot;
use crate::failure::Failure;
use crate::storage;

/// Whether a file that is there is replaced.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Overwrite {
    /// With --out: replace the file if it exists
    #[arg(long, requires = "out")]
    overwrite: bool,
}

impl Overwrite {
    /// Looks before anything is made for nothing.
    ///
    /// # Errors
    /// There is something that may not be replaced.
    pub fn check(self, file: &Path) -> Result<(), Failure> {
        if storage::is_address(file) {
            return storage::check(file);
        }
        let name = file.in_line();
        match fs::symlink_metadata(file) {
            Err(_) => Ok(()),
            Ok(_) if !self.overwrite => Err(Failure::BadInput(format!(
                "{name} exists, and nothing is overwritten; name another file, or add --overwrite \
                 to replace it"
            ))),
            Ok(there) if !there.is_file() => Err(Failure::BadInput(format!(
                "{name} is not a file and cannot be replaced; name another one"
            ))),
            Ok(_) => Ok(()),
        }
    }

    /// Writes the file.
    ///
    /// # Errors
    /// As [`Self::check`]; or it cannot be written.
    pub fn write(self, file: &Path, bytes: &[u8]) -> Result<(), Failure> {
        if storage::is_address(file) {
            return storage::write(file, bytes, self.overwrite);
        }
        self.check(file)?;
        let written = if self.overwrite {
            fs::write(file, bytes)
        } else {
            File::create_new(file).and_then(|mut made| made.write_all(bytes))
        };
        written.map_err(|error| match error.kind() {
            // Somebody was faster.
            io::ErrorKind::AlreadyExists => Failure::BadInput(format!(
                "{} exists, and nothing is overwritten",
                file.in_line()
            )),
            _ => cannot("write", file, &error),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_unless_it_is_a_file_that_may_be_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let [thesis, link, fresh] =
            ["thesis.svg", "link.svg", "fresh.svg"].map(|name| folder.path().join(name));
        fs::write(&thesis, "thesis").unwrap();
        std::os::unix::fs::symlink(&thesis, &link).unwrap();
        let [kept, replaced] = [false, true].map(|overwrite| Overwrite { overwrite });
        for there in [&thesis, &link] {
            let said = kept.write(there, b"figure").unwrap_err().to_string();
            assert!(said.contains("--overwrite"), "{said}");
        }
        for there in [&link, &folder.path().to_owned()] {
            let said = replaced.write(there, b"figure").unwrap_err().to_string();
            assert!(said.contains("is not a file"), "{said}");
        }
        assert_eq!(fs::read_to_string(&thesis).unwrap(), "thesis");
        kept.write(&fresh, b"one").unwrap();
        replaced.write(&fresh, b"two").unwrap();
        assert_eq!(fs::read_to_string(&fresh).unwrap(), "two");
    }
}
