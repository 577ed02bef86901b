//! The signals that a process listens for: SIGINT and SIGTERM ask it to stop, SIGHUP to look at its
//! configuration again. What is done about them is the caller's business.

use std::future::Future;

#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tracing::warn;

/// Completes at the first SIGINT or SIGTERM from now on (Ctrl-C alone where there are no signals),
/// naming it. Listens from the call on, not only once it is awaited. Within a runtime only.
pub fn shutdown_signal() -> impl Future<Output = &'static str> + Send {
    #[cfg(unix)]
    let (interrupt, terminate) = (
        received(SignalKind::interrupt()),
        received(SignalKind::terminate()),
    );
    #[cfg(not(unix))]
    let (interrupt, terminate) = (tokio::signal::ctrl_c(), std::future::pending::<()>());
    async {
        tokio::select! {
            _ = interrupt => "SIGINT",
            _ = terminate => "SIGTERM",
        }
    }
}

/// SIGHUP, which ends a process that does not listen for it.
pub struct Hangups {
    #[cfg(unix)]
    listener: Option<Signal>,
}

impl Hangups {
    /// Listens from now on; the process outlives the signal also when this is dropped. Within a
    /// runtime only.
    pub fn listen() -> Self {
        Self {
            #[cfg(unix)]
            listener: listen(SignalKind::hangup()),
        }
    }

    /// Completes at the next; never where there are no signals.
    pub async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(listener) = &mut self.listener
            && listener.recv().await.is_some()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
fn received(kind: SignalKind) -> impl Future<Output = ()> + Send {
    let listener = listen(kind);
    async {
        match listener {
            Some(mut listener) => {
                listener.recv().await;
            }
            None => std::future::pending().await,
        }
    }
}

#[cfg(unix)]
fn listen(kind: SignalKind) -> Option<Signal> {
    let listener = signal(kind);
    if let Err(fault) = &listener {
        warn!(%fault, ?kind, "cannot listen for a signal");
    }
    listener.ok()
}
