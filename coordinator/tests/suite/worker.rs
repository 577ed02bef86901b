//! A worker as the coordinator sees it: a stream, and what is said over it. Plays no games: it
//! answers with whatever record a test hands it, which [`record`] makes up. Called by `services.rs`.

use std::time::Duration;

use agon_coordinator::CoordinatorServices;
use agon_coordinator::experiment_service::Experiments;
use agon_coordinator::session_lease_service::SessionLeases;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::experiment_service_server::ExperimentServiceServer;
use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use agon_proto::v1::session_lease_service_server::SessionLeaseServiceServer;
use agon_proto::v1::work_sessions_request::Message as Say;
use agon_proto::v1::work_sessions_response::Message as Hear;
use agon_proto::v1::{
    CompleteSession, FailSession, FailureKind, FreePlaces, Lease, LeaseRef, RenewLeases,
    Settlement, WorkSessionsRequest, WorkSessionsResponse, WorkerHello,
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

/// Longer than anything takes; after that the test should say so.
const PATIENCE: Duration = Duration::from_secs(20);

/// The services called in this process, without a socket.
pub type Leases = SessionLeaseServiceClient<SessionLeaseServiceServer<SessionLeases>>;
pub type Commands = ExperimentServiceClient<ExperimentServiceServer<Experiments>>;

pub fn leases(services: &CoordinatorServices) -> Leases {
    SessionLeaseServiceClient::new(services.session_leases.clone())
}

pub fn commands(services: &CoordinatorServices) -> Commands {
    ExperimentServiceClient::new(services.experiments.clone())
}

/// Free places, from a worker that does not count what it received.
pub fn places(places: u32) -> FreePlaces {
    FreePlaces {
        places,
        received: None,
    }
}

/// A record of the session that was leased, in which nothing happened.
pub fn record(lease: &Lease) -> serde_json::Value {
    let spec: agon_engine::SessionSpec = serde_json::from_slice(&lease.spec).unwrap();
    let seats = spec.seats.len();
    serde_json::json!({
        "agon_record": 1,
        "session": spec.id(),
        "simulated": false,
        "spec": spec,
        "outcome": {
            "payoffs": vec![0.0; seats],
            "fouls": vec![serde_json::json!({}); seats],
            "forfeits": vec![0; seats],
        },
        "measures": { "scores": {}, "parts": {}, "series": {} },
        "moves": [],
        "events": [],
        "draws": [],
    })
}

pub struct Worker {
    say: mpsc::Sender<WorkSessionsRequest>,
    hear: Streaming<WorkSessionsResponse>,
}

impl Worker {
    /// Connects and says hello, and how many places are free.
    pub async fn connect(services: &CoordinatorServices, name: &str, places: u32) -> Self {
        let hello = Say::Hello(WorkerHello {
            worker_id: name.to_owned(),
            version: "1".to_owned(),
        });
        let mut worker = Self::silent(services, hello).await;
        worker.say(Say::FreePlaces(self::places(places))).await;
        worker
    }

    /// Connects with any first message.
    pub async fn silent(services: &CoordinatorServices, first: Say) -> Self {
        let (say, requests) = mpsc::channel(1024);
        say.send(WorkSessionsRequest {
            message: Some(first),
        })
        .await
        .unwrap();
        let answer = leases(services)
            .work_sessions(ReceiverStream::new(requests))
            .await;
        Self {
            say,
            hear: answer.unwrap().into_inner(),
        }
    }

    pub async fn say(&mut self, message: Say) {
        self.say
            .send(WorkSessionsRequest {
                message: Some(message),
            })
            .await
            .unwrap();
    }

    pub async fn hear(&mut self) -> Result<Option<Hear>, Status> {
        let answer = tokio::time::timeout(PATIENCE, self.hear.message()).await;
        let answer = answer.expect("the coordinator says something")?;
        Ok(answer.and_then(|answer| answer.message))
    }

    /// The next batch of sessions.
    pub async fn granted(&mut self) -> Vec<Lease> {
        match self.hear().await.unwrap() {
            Some(Hear::Granted(granted)) => granted.leases,
            other => panic!("expected leases, heard {other:?}"),
        }
    }

    /// Hands in a record of the session.
    pub async fn complete(&mut self, lease: &Lease) -> Settlement {
        let record = record(lease).to_string();
        self.hand_in(lease.lease.as_ref().unwrap(), record, "{}")
            .await
    }

    /// Hands in anything.
    pub async fn hand_in(
        &mut self,
        lease: &LeaseRef,
        record: impl Into<Vec<u8>>,
        telemetry: &str,
    ) -> Settlement {
        let complete = CompleteSession {
            lease: Some(lease.clone()),
            record: record.into().into(),
            telemetry: telemetry.as_bytes().to_vec().into(),
        };
        self.say(Say::Complete(complete)).await;
        self.settled().await
    }

    pub async fn fail(&mut self, lease: &LeaseRef, kind: FailureKind, reason: &str) -> Settlement {
        let reason = reason.to_owned();
        self.say(Say::Fail(FailSession {
            lease: Some(lease.clone()),
            kind: kind.into(),
            reason,
        }))
        .await;
        self.settled().await
    }

    /// Renews one lease: whether it is kept.
    pub async fn renew(&mut self, lease: &LeaseRef) -> bool {
        self.say(Say::Renew(RenewLeases {
            leases: vec![lease.clone()],
        }))
        .await;
        match self.hear().await.unwrap() {
            Some(Hear::Renewed(renewed)) => renewed.lost.is_empty(),
            other => panic!("expected a renewal, heard {other:?}"),
        }
    }

    async fn settled(&mut self) -> Settlement {
        match self.hear().await.unwrap() {
            Some(Hear::Settled(settled)) => settled.settlement(),
            other => panic!("expected a settlement, heard {other:?}"),
        }
    }
}
