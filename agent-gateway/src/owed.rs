//! What the store is still owed when it was away at the moment it should have
//! been told: that an attempt is over, that a claim is given back. Without it a
//! place stays taken for minutes and an address blocked for seconds after the
//! store's return. Tried again until it is done or makes no difference any more.
//! Called by `deciding.rs` and `admission/line.rs`.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use agon_service_kit::backoff::{DelayPolicy, Delays};
use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};

/// Quick enough that service is normal soon after the store's return; after an
/// hour every claim and attempt has expired by itself.
const DELAYS: DelayPolicy = DelayPolicy {
    initial: Duration::from_millis(50),
    factor: 2.0,
    cap: Duration::from_secs(1),
    jitter: 0.3,
    give_up_after: Some(Duration::from_secs(3_600)),
};

/// Does what is owed. Cheap to clone.
#[derive(Clone)]
pub struct Owed {
    tasks: Tasks,
    complaint: Arc<Complaint>,
}

impl Owed {
    /// Nothing is owed yet.
    pub fn new(tasks: Tasks) -> Self {
        Self {
            tasks,
            complaint: Arc::default(),
        }
    }

    /// Tries until it works; `what` words it for the log ("attempt not settled").
    pub fn again<F, Fut, E>(&self, what: &'static str, mut attempt: F)
    where
        F: FnMut() -> Fut + Send + 'static,
        Fut: Future<Output = Result<(), E>> + Send,
        E: std::error::Error + Send + 'static,
    {
        let complaint = Arc::clone(&self.complaint);
        self.tasks.spawn(TaskKind::UPKEEP, "owed", async move {
            let mut delays = Delays::new(DELAYS);
            while let Some(delay) = delays.next_delay() {
                tokio::time::sleep(delay).await;
                let Err(error) = attempt().await else { return };
                if let Some(failures) = complaint.note() {
                    let error = with_causes(&error);
                    tracing::warn!(error, failures, "{what} yet, trying again");
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn what_fails_is_done_in_the_end_and_once() {
        let (tasks, tries) = (Tasks::new(), Arc::new(AtomicU32::new(0)));
        let owed = Owed::new(tasks.clone());
        let counted = Arc::clone(&tries);
        owed.again("nothing done", move || {
            let tried = counted.fetch_add(1, Ordering::Relaxed);
            std::future::ready(if tried < 3 {
                Err(std::fmt::Error)
            } else {
                Ok(())
            })
        });
        while !tasks.status().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(tries.load(Ordering::Relaxed), 4);
    }
}
