//! Hot reload: watches the configuration file and every file that it names, and
//! puts what they say to use without dropping a call. What is half written,
//! empty or faulty is not used; the configuration in use stays, and the fault is
//! told in the log once, in the status and in a metric. Started by `gateway.rs`.

mod files;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use agon_outlets::InLine as _;
use agon_service_kit::config::MOST_BYTES;
use agon_service_kit::files::read_whole;
use agon_service_kit::tasks::with_causes;
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::config::{ConfigError, GatewayConfig};
use crate::deciding::Decider;
use crate::metrics;
use crate::routes::AdoptError;

use files::FileStamps;

/// Between two looks at the files. A change is used when two looks in a row saw
/// the same, so within two of these and the time of reading.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Why a configuration on disk is not in use.
#[derive(Debug, thiserror::Error)]
pub enum ReloadError {
    /// It is not as a configuration should be.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// It holds nothing, as a file does that is being written.
    #[error("{file} is empty")]
    Empty {
        /// Its path.
        file: String,
    },
    /// It cannot be put in the place of the one in use.
    #[error(transparent)]
    Adopt(#[from] AdoptError),
}

/// Exchanges the configuration in use.
pub(crate) struct Reloads {
    decider: Arc<Decider>,
    fault: Mutex<String>,
    asked: Notify,
}

impl Reloads {
    /// For the gateway of this decider.
    pub fn new(decider: Arc<Decider>) -> Self {
        Self {
            decider,
            fault: Mutex::default(),
            asked: Notify::new(),
        }
    }

    /// What is wrong with the configuration on disk; empty when it is in use.
    pub fn fault(&self) -> String {
        self.fault.lock().clone()
    }

    pub fn adopt(&self, config: GatewayConfig) -> Result<Vec<String>, ReloadError> {
        Ok(self.decider.routes.adopt(config)?)
    }

    /// See `Gateway::follow`.
    pub async fn follow(self: Arc<Self>, file: PathBuf) {
        let follower = ConfigWatch {
            reloads: self,
            in_use: Vec::new(),
            file,
        };
        follower.run().await;
    }

    /// Lets the followed file be read again now.
    pub fn ask(&self) {
        self.asked.notify_one();
    }
}

struct ConfigWatch {
    reloads: Arc<Reloads>,
    file: PathBuf,
    /// The files that the configuration on disk names beside itself.
    in_use: Vec<PathBuf>,
}

impl ConfigWatch {
    async fn run(mut self) {
        let reloads = Arc::clone(&self.reloads);
        self.in_use = files::named_in(&self.reloads.decider.routes.config());
        // Whatever was written since the start is read once the files rest.
        let (mut used, mut last) = (FileStamps::default(), FileStamps::default());
        loop {
            let asked = tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => false,
                () = reloads.asked.notified() => true,
            };
            let now = self.look().await;
            let rests = now == last;
            last = now;
            if asked || (rests && last != used) {
                // What is written while it is read is seen at the next look; so
                // are files that are named now and were not before.
                used = last.clone();
                self.read(asked).await;
            }
        }
    }

    async fn look(&self) -> FileStamps {
        let mut files = self.in_use.clone();
        files.push(self.file.clone());
        let look = tokio::task::spawn_blocking(move || files::look(&files));
        look.await.unwrap_or_default()
    }

    async fn read(&mut self, asked: bool) {
        let (reloads, file) = (Arc::clone(&self.reloads), self.file.clone());
        let in_use = files::named_in(&self.reloads.decider.routes.config());
        let read = tokio::task::spawn_blocking(move || read(&reloads, &file));
        let (named, outcome) = match read.await {
            Ok(read) => read,
            // Nothing was exchanged: a panic can only come from reading.
            Err(fault) => (Vec::new(), Err(fault.to_string())),
        };
        self.in_use = in_use;
        self.in_use.extend(named);
        self.report(outcome, asked);
    }

    fn report(&self, outcome: Result<Vec<String>, String>, asked: bool) {
        let file = self.file.in_line();
        let mut fault = self.reloads.fault.lock();
        match outcome {
            Ok(changed) => {
                let was_faulty = !std::mem::take(&mut *fault).is_empty();
                if !changed.is_empty() {
                    metrics::count_reload("used");
                    let changed = changed.join("; ");
                    tracing::info!(%file, changed, "configuration read again and in use");
                } else if asked || was_faulty {
                    metrics::count_reload("unchanged");
                    tracing::info!(%file, "configuration read again, nothing changed");
                }
                metrics::set_configuration_faulty(false);
            }
            Err(reason) => {
                metrics::count_reload("faulty");
                metrics::set_configuration_faulty(true);
                if asked || *fault != reason {
                    tracing::error!(
                        %file, reason,
                        "configuration cannot be used, the one in use stays"
                    );
                }
                *fault = reason;
            }
        }
    }
}

/// The files that the configuration names, as far as it can be read, and what
/// became of it.
fn read(reloads: &Reloads, file: &Path) -> (Vec<PathBuf>, Result<Vec<String>, String>) {
    let config = match load(file, &reloads.decider.routes.config()) {
        Ok(config) => config,
        Err(error) => return (Vec::new(), Err(with_causes(&error))),
    };
    let named = files::named_in(&config);
    let adopted = reloads.adopt(config);
    (named, adopted.map_err(|error| with_causes(&error)))
}

fn load(file: &Path, in_use: &GatewayConfig) -> Result<GatewayConfig, ReloadError> {
    let empty = read_whole(file, MOST_BYTES).is_ok_and(|bytes| bytes.trim_ascii().is_empty());
    // One that was empty before is not being written.
    if empty && !in_use.is_of_empty_file() {
        let file = file.in_line().to_string();
        return Err(ReloadError::Empty { file });
    }
    Ok(GatewayConfig::load(file)?)
}
