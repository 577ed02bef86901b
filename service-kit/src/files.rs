//! Files that people name: configurations, experiments, keys, templates. They are read whole if they
//! are files and not too large; a pipe that nobody writes into, or a device without an end, is
//! refused at once. Called by whoever reads such a file.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Opens a regular file, or a link to one.
///
/// # Errors
/// There is none, it may not be read, or it is a pipe, a device, a socket or a folder.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        // Opening a pipe would wait for somebody who writes into it.
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    let message = "it is not a regular file but a pipe, a device or a folder";
    Err(io::Error::new(ErrorKind::InvalidInput, message))
}

/// Reads a regular file whole, unless it is longer than `most` bytes.
///
/// # Errors
/// As [`open_regular`]; or it is longer.
pub fn read_whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    let message = format!("it has more than {} MiB", most.div_ceil(1 << 20));
    Err(io::Error::new(ErrorKind::FileTooLarge, message))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;
    use std::process::Command;

    use super::*;

    #[test]
    fn what_is_no_file_is_refused_at_once_and_links_to_files_are_read() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "text").unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink(at("loop"), at("loop")).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        let made = Command::new("mkfifo").arg(at("pipe")).status().unwrap();
        assert!(made.success());
        symlink(at("pipe"), at("to-pipe")).unwrap();
        let _socket = UnixListener::bind(at("socket")).unwrap();
        assert_eq!(read_whole(&at("file"), 4).unwrap(), b"text");
        assert_eq!(read_whole(&at("link"), 4).unwrap(), b"text");
        let long = read_whole(&at("file"), 3).unwrap_err();
        assert_eq!(long.kind(), ErrorKind::FileTooLarge);
        for name in [
            "loop", "zero", "pipe", "to-pipe", "socket", ".", "none", "file/x",
        ] {
            assert!(read_whole(&at(name), 4).is_err(), "{name}");
        }
        for device in ["/dev/zero", "/dev/tty", "/dev/null", "/dev/urandom"] {
            assert!(read_whole(Path::new(device), 4).is_err(), "{device}");
        }
    }
}
