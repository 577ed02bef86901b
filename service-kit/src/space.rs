//! How much room is left on the disk of a folder, as far as the system says and for this user. Frees
//! nothing. Asked by `agon doctor`.

use std::io;
use std::path::Path;

/// Bytes that this user may still write to the file system of a path.
///
/// # Errors
/// There is nothing at that path, or the system does not say.
#[cfg(unix)]
pub fn free_bytes(path: &Path) -> io::Result<u64> {
    let disk = rustix::fs::statvfs(path)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}

/// As on Unix.
///
/// # Errors
/// Always.
#[cfg(not(unix))]
pub fn free_bytes(_path: &Path) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}
