//! Tells the gateway which ledgers are no longer needed: those of sessions whose
//! record is stored. At once: the gateway keeps them readable for a while, for
//! whoever still plays such a session. Made for a coordinator by the roles that
//! run one; loses nothing but space when it cannot get through.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use agon_coordinator::OnStored;
use agon_proto::v1::ForgetSessionRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_service_kit::backoff::{Delays, Retry, retry};
use agon_service_kit::tasks::{TaskKind, Tasks};
use agon_worker::Transport;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tracing::warn;

type Client = AgentGatewayServiceClient<Transport>;

/// Sessions named in one request; they gather while the one before is answered.
const BATCH: usize = 500;

/// Sessions that wait while the gateway is away: a megabyte, and at a thousand
/// sessions a minute longer than it takes to restart anything.
const WAITING: usize = 16_384;

/// The hook for a coordinator. What is left over when the tasks shut down is
/// sent then, once.
pub fn forget_at(gateway: Transport, tasks: &Tasks) -> OnStored {
    let (sender, stored) = mpsc::channel(WAITING);
    let client = AgentGatewayServiceClient::new(gateway);
    let shutdown = tasks.shutdown_token();
    tasks.spawn(
        TaskKind::WORK,
        "forget ledgers",
        run(client, stored, shutdown),
    );
    let overflows = AtomicBool::new(false);
    Arc::new(move |sessions| {
        let is_full = |session: &String| {
            let sent = sender.try_send(session.clone());
            matches!(sent, Err(mpsc::error::TrySendError::Full(_)))
        };
        let full = sessions.iter().any(is_full);
        if full && !overflows.swap(true, Ordering::Relaxed) {
            warn!("the gateway is away for long: some ledgers are not deleted when done");
        }
    })
}

async fn run(client: Client, mut stored: mpsc::Receiver<String>, shutdown: CancellationToken) {
    let mut batch = Vec::new();
    while let Some(1..) = shutdown
        .run_until_cancelled(stored.recv_many(&mut batch, BATCH))
        .await
    {
        let sent = shutdown.run_until_cancelled(send(&client, &batch)).await;
        if sent.is_none() {
            break;
        }
        batch.clear();
    }
    stored.close();
    loop {
        stored.recv_many(&mut batch, BATCH).await;
        if batch.is_empty() {
            return;
        }
        if let Err(refusal) = send_once(&client, &batch).await {
            let (reason, ledgers) = (refusal.message(), batch.len() + stored.len());
            warn!(
                reason,
                ledgers, "ledgers not forgotten, they cost space only"
            );
            return;
        }
        batch.clear();
    }
}

/// Tries until the gateway has understood.
async fn send(client: &Client, sessions: &[String]) {
    let told = AtomicBool::new(false);
    // Without a deadline only success ends it.
    let _ = retry(Delays::default(), None, || async {
        let refusal = match send_once(client, sessions).await {
            Ok(()) => return Ok(()),
            Err(refusal) => refusal,
        };
        if !told.swap(true, Ordering::Relaxed) {
            let reason = refusal.message();
            warn!(reason, "the gateway forgets no ledgers now, trying again");
        }
        Err(Retry::Again(refusal))
    })
    .await;
}

async fn send_once(client: &Client, sessions: &[String]) -> Result<(), Status> {
    let session_ids = sessions.to_vec();
    let request = ForgetSessionRequest { session_ids };
    client.clone().forget_session(request).await.map(drop)
}

#[cfg(test)]
mod tests;
