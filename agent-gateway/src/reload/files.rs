//! Which files a configuration names, and how they look from outside: enough to
//! tell a change without reading them. Links are followed, because Kubernetes
//! changes mounted files by turning a link. Called by `reload.rs`.

use std::fs::Metadata;
use std::path::PathBuf;

use crate::config::GatewayConfig;
use agon_service_kit::secret_source::SecretSource;

/// How files looked; absent: not there, or not ours to see.
pub(super) type FileStamps = Vec<(PathBuf, Option<FileStamp>)>;

/// What changes when a file is written, replaced, or its link turned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileStamp {
    bytes: u64,
    modified: Option<std::time::SystemTime>,
    /// Device, inode and the time of the last change of either.
    #[cfg(unix)]
    inode: (u64, u64, i64, i64),
}

/// The files that a configuration names: keys, headers, prices.
pub(super) fn named_in(config: &GatewayConfig) -> Vec<PathBuf> {
    let keys = config
        .provider_names()
        .filter_map(|name| config.provider(name))
        .flat_map(|provider| &provider.keys)
        .map(|entry| &entry.source);
    let headers = config.header_sources();
    let mut files: Vec<PathBuf> = keys
        .chain(headers)
        .filter_map(|source| match source {
            SecretSource::File(path) => Some(path.clone()),
            SecretSource::Env(_) => None,
        })
        .collect();
    files.extend(config.prices().map(PathBuf::from));
    files
}

/// How files look now. May block on a slow file system.
pub(super) fn look(files: &[PathBuf]) -> FileStamps {
    let mut seen: FileStamps = files
        .iter()
        .map(|path| {
            let look = std::fs::metadata(path)
                .ok()
                .map(|data| FileStamp::of(&data));
            (path.clone(), look)
        })
        .collect();
    seen.sort_by(|(left, _), (right, _)| left.cmp(right));
    seen.dedup();
    seen
}

impl FileStamp {
    fn of(data: &Metadata) -> Self {
        #[cfg(unix)]
        use std::os::unix::fs::MetadataExt as _;
        Self {
            bytes: data.len(),
            modified: data.modified().ok(),
            #[cfg(unix)]
            inode: (data.dev(), data.ino(), data.ctime(), data.ctime_nsec()),
        }
    }
}
