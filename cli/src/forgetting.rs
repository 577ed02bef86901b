//! Tells the gateway which ledgers are no longer needed: those of sessions whose
//! record is stored. Not at once, because a second worker may still be playing a
//! session that the first one just finished, and must find its decisions.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use agon_coordinator::OnStored;
use agon_proto::v1::ForgetSessionRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_worker::Transport;
use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// Twelve default leases: whoever lost one has long been told at a renewal.
const AFTER: Duration = Duration::from_secs(120);

/// Sessions named in one request.
const BATCH: usize = 500;

/// The hook for a coordinator. What is left over when the tasks shut down is
/// forgotten then: no worker of this process plays any more.
pub fn forget_at(gateway: Transport, tasks: &Tasks) -> OnStored {
    let (sender, stored) = mpsc::unbounded_channel();
    let forgetting = Forgetting {
        client: AgentGatewayServiceClient::new(gateway),
        stored,
        waiting: VecDeque::new(),
    };
    let shutdown = tasks.shutdown_token();
    tasks.spawn(TaskKind::WORK, "forget ledgers", forgetting.run(shutdown));
    Arc::new(move |session| {
        // Nobody listens any more: the ledger stays, which costs space only.
        let _ = sender.send(session.to_string());
        std::future::ready(()).boxed()
    })
}

struct Forgetting {
    client: AgentGatewayServiceClient<Transport>,
    stored: mpsc::UnboundedReceiver<String>,
    /// Sessions and when they are due, oldest first.
    waiting: VecDeque<(Instant, String)>,
}

impl Forgetting {
    async fn run(mut self, shutdown: CancellationToken) {
        loop {
            let due = self
                .waiting
                .front()
                .map_or_else(|| Instant::now() + AFTER, |(due, _)| *due);
            tokio::select! {
                () = shutdown.cancelled() => break,
                Some(session) = self.stored.recv() => {
                    self.waiting.push_back((Instant::now() + AFTER, session));
                }
                () = tokio::time::sleep_until(due) => self.forget(Instant::now()).await,
            }
        }
        while let Ok(session) = self.stored.try_recv() {
            self.waiting.push_back((Instant::now(), session));
        }
        self.forget(Instant::now() + AFTER).await;
    }

    /// Forgets what is due by then.
    async fn forget(&mut self, by: Instant) {
        loop {
            let due = self
                .waiting
                .iter()
                .take(BATCH)
                .take_while(|(due, _)| *due <= by)
                .count();
            if due == 0 {
                return;
            }
            let session_ids = self
                .waiting
                .drain(..due)
                .map(|(_, session)| session)
                .collect();
            let request = ForgetSessionRequest { session_ids };
            if let Err(refusal) = self.client.forget_session(request).await {
                // They stay in the store and cost space only.
                warn!(
                    reason = refusal.message(),
                    "the gateway did not forget {due} ledgers"
                );
            }
        }
    }
}
