//! Configurations that follow their files: a good change is used for new connections; a faulty one
//! is logged once, and the configuration in use stays. Contents are compared, because Kubernetes
//! swaps links and modification times say little. Called by servers and clients of TLS.

use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::task::JoinError;
use tracing::{info, warn};

use super::metrics;
use super::pem::{PemFile, TlsError};
use crate::tasks::with_causes;

/// Between two looks at the files. A change is used when two looks in a row saw the same: a
/// certificate and its key are two files, and one is written after the other.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// The files of a configuration.
pub(super) trait Files: Send + Sync + 'static {
    /// What they hold.
    type Contents: Clone + PartialEq + Send + Sync;
    /// What is made of it.
    type Config: Send + Sync;

    /// The files by name, for the log.
    fn paths(&self) -> Vec<PathBuf>;

    /// Reads all of them.
    fn read(&self) -> Result<Self::Contents, TlsError>;

    /// The one with the certificate that is shown to the other side.
    fn certificate(contents: &Self::Contents) -> Option<&PemFile>;

    /// Makes a configuration, if they fit each other.
    fn config(contents: &Self::Contents) -> Result<Self::Config, TlsError>;
}

/// A configuration with the files that it follows.
pub(super) struct Rotating<F: Files> {
    files: F,
    in_use: RwLock<InUse<F>>,
}

struct InUse<F: Files> {
    contents: F::Contents,
    config: Arc<F::Config>,
}

impl<F: Files> Rotating<F> {
    pub(super) fn read(files: F) -> Result<Self, TlsError> {
        let contents = files.read()?;
        let config = Arc::new(F::config(&contents)?);
        let in_use = RwLock::new(InUse { contents, config });
        Ok(Self { files, in_use })
    }

    pub(super) fn files(&self) -> &F {
        &self.files
    }

    /// The one for a new connection.
    pub(super) fn config(&self) -> Arc<F::Config> {
        let in_use = self.in_use.read().unwrap_or_else(PoisonError::into_inner);
        in_use.config.clone()
    }

    /// Says in the metrics when the certificate in use ends.
    fn tell_end(&self) {
        let in_use = self.in_use.read().unwrap_or_else(PoisonError::into_inner);
        let certificate = F::certificate(&in_use.contents);
        if let Some((file, end)) = certificate.and_then(|file| Some((file.file(), file.end()?))) {
            metrics::observe_certificate(file, end);
        }
    }

    /// Follows the files until it is dropped.
    pub(super) async fn follow(self: Arc<Self>) -> Result<(), JoinError> {
        let mut watch = Watch::new(self);
        loop {
            watch.rotating.tell_end();
            tokio::time::sleep(LOOK_EVERY).await;
            watch = tokio::task::spawn_blocking(|| {
                watch.look();
                watch
            })
            .await?;
        }
    }
}

/// What was in the files, or why they cannot be read.
type Seen<F> = Result<<F as Files>::Contents, String>;

/// Compares the files with what they held before.
pub(super) struct Watch<F: Files> {
    rotating: Arc<Rotating<F>>,
    /// At the last look.
    last: Seen<F>,
    /// What was put to use or reported last.
    settled: Seen<F>,
}

/// The outcome of a look.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// The files are as they were.
    Same,
    /// They have just changed and may not be complete yet.
    Changing,
    /// What they hold is in use from now on.
    Used,
    /// What they hold cannot be used; the configuration in use stays.
    Kept,
}

impl<F: Files> Watch<F> {
    pub(super) fn new(rotating: Arc<Rotating<F>>) -> Self {
        let in_use = rotating
            .in_use
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let contents = in_use.contents.clone();
        drop(in_use);
        Self {
            rotating,
            last: Ok(contents.clone()),
            settled: Ok(contents),
        }
    }

    /// May block on a slow file system.
    pub(super) fn look(&mut self) -> Look {
        let seen = self.rotating.files.read();
        let seen = seen.map_err(|error| with_causes(&error));
        if seen != self.last {
            self.last = seen;
            return Look::Changing;
        }
        if seen == self.settled {
            return Look::Same;
        }
        self.settled = seen.clone();
        let used = seen.and_then(|contents| self.put_to_use(contents));
        let files = self.rotating.files.paths();
        match used {
            Ok(()) => {
                info!(?files, "files for TLS read again and in use");
                Look::Used
            }
            Err(reason) => {
                warn!(
                    ?files,
                    reason, "files for TLS cannot be used, those in use stay"
                );
                Look::Kept
            }
        }
    }

    fn put_to_use(&self, contents: F::Contents) -> Result<(), String> {
        let config = F::config(&contents).map_err(|error| with_causes(&error))?;
        let config = Arc::new(config);
        let in_use = self.rotating.in_use.write();
        *in_use.unwrap_or_else(PoisonError::into_inner) = InUse { contents, config };
        Ok(())
    }
}
