//! A worker as the coordinator sees it: a stream, and what is said over it. Plays no games: it
//! answers with whatever record a test hands it, which [`record`] makes up. Called by the tests of
//! the services.

use std::collections::VecDeque;
use std::io::Write as _;
use std::time::Duration;

use agon_coordinator::CoordinatorServices;
use agon_coordinator::experiment_service::Experiments;
use agon_coordinator::session_lease_service::SessionLeases;
use agon_proto::v1::experiment_service_client::ExperimentServiceClient;
use agon_proto::v1::experiment_service_server::ExperimentServiceServer;
use agon_proto::v1::session_lease_service_client::SessionLeaseServiceClient;
use agon_proto::v1::session_lease_service_server::SessionLeaseServiceServer;
use agon_proto::v1::session_outcome::Outcome;
use agon_proto::v1::work_sessions_request::Message as Say;
use agon_proto::v1::work_sessions_response::Message as Hear;
use agon_proto::v1::{
    Capability, FailedSession, FailureKind, FinishedSession, HandIn, Heartbeat, Lease, LeaseRef,
    RegisterWorker, RegisteredWorker, SessionOutcome, SettledSession, Settlement,
    WorkSessionsRequest, WorkSessionsResponse,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

/// Longer than anything takes; after that the test should say so.
const PATIENCE: Duration = Duration::from_secs(30);

/// The services called in this process, without a socket.
pub type Leases = SessionLeaseServiceClient<SessionLeaseServiceServer<SessionLeases>>;
pub type Commands = ExperimentServiceClient<ExperimentServiceServer<Experiments>>;

pub fn leases(services: &CoordinatorServices) -> Leases {
    SessionLeaseServiceClient::new(services.session_leases.clone())
}

pub fn commands(services: &CoordinatorServices) -> Commands {
    ExperimentServiceClient::new(services.experiments.clone())
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

/// A record as workers write it: the parts of its spec, if it is one, stand in the order of the
/// program's own type.
pub fn line(record: &serde_json::Value) -> String {
    let mut record = record.clone();
    let spec = record["spec"].take();
    let own: Result<agon_engine::SessionSpec, _> = serde_json::from_value(spec.clone());
    let spec = own.map_or_else(
        |_| spec.to_string(),
        |own| serde_json::to_string(&own).unwrap(),
    );
    record["spec"] = "the spec".into();
    record.to_string().replacen("\"the spec\"", &spec, 1)
}

/// A line as workers hand it in: with its line break, as one gzip member.
pub fn packed(line: impl AsRef<[u8]>) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(line.as_ref()).unwrap();
    encoder.write_all(b"\n").unwrap();
    encoder.finish().unwrap()
}

/// A worker that can play what the tests submit.
pub fn introduction(name: &str, places: u32) -> RegisterWorker {
    let one = |name: &str, versions: std::ops::Range<u32>| Capability {
        name: name.to_owned(),
        versions: versions.map(|version| version.to_string()).collect(),
    };
    RegisterWorker {
        worker_id: name.to_owned(),
        incarnation: 1,
        version: "1".to_owned(),
        places,
        capabilities: vec![
            one("records", 0..100),
            one("rules of guess_two_thirds", 0..100),
        ],
        held: Vec::new(),
    }
}

pub struct Worker {
    say: mpsc::Sender<WorkSessionsRequest>,
    hear: Streaming<WorkSessionsResponse>,
    /// Granted while something else was waited for.
    granted: VecDeque<Vec<Lease>>,
    /// Settled beyond the one that was waited for.
    settled: VecDeque<SettledSession>,
}

impl Worker {
    /// Connects and registers.
    pub async fn connect(services: &CoordinatorServices, name: &str, places: u32) -> Self {
        Self::register(services, introduction(name, places)).await.0
    }

    /// The same; also the answer.
    pub async fn register(
        services: &CoordinatorServices,
        register: RegisterWorker,
    ) -> (Self, RegisteredWorker) {
        let mut worker = Self::silent(services, Say::Register(register)).await;
        match worker.hear().await.unwrap() {
            Some(Hear::Registered(registered)) => (worker, registered),
            other => panic!("expected to be registered, heard {other:?}"),
        }
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
            granted: VecDeque::new(),
            settled: VecDeque::new(),
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
        if let Some(granted) = self.granted.pop_front() {
            return granted;
        }
        loop {
            match self.hear().await.unwrap() {
                Some(Hear::Granted(granted)) => return granted.leases,
                Some(Hear::Heard(_)) => {}
                other => panic!("expected leases, heard {other:?}"),
            }
        }
    }

    /// Says that it is there, again and again, as long as its stream is open.
    pub fn beat_every(&self, pause: Duration) {
        let say = self.say.clone();
        tokio::spawn(async move {
            for number in 1.. {
                let beat = Heartbeat {
                    number,
                    progressed: Vec::new(),
                };
                let message = Some(Say::Heartbeat(beat));
                if say.send(WorkSessionsRequest { message }).await.is_err() {
                    return;
                }
                tokio::time::sleep(pause).await;
            }
        });
    }

    /// So many sessions, in as many batches as they come in.
    pub async fn take(&mut self, sessions: usize) -> Vec<Lease> {
        let mut all = Vec::new();
        while all.len() < sessions {
            all.extend(self.granted().await);
        }
        all
    }

    /// Leases that are revoked next.
    pub async fn revoked(&mut self) -> Vec<LeaseRef> {
        loop {
            match self.hear().await.unwrap() {
                Some(Hear::Revoked(revoked)) => return revoked.leases,
                Some(Hear::Granted(granted)) => self.granted.push_back(granted.leases),
                Some(Hear::Heard(_)) => {}
                other => panic!("expected a revocation, heard {other:?}"),
            }
        }
    }

    /// Hands in a record of the session.
    pub async fn complete(&mut self, lease: &Lease) -> Settlement {
        let record = packed(line(&record(lease)));
        self.hand_in(lease.lease.as_ref().unwrap(), record, packed("{}"))
            .await
    }

    /// Hands in anything.
    pub async fn hand_in(
        &mut self,
        lease: &LeaseRef,
        record: Vec<u8>,
        telemetry: Vec<u8>,
    ) -> Settlement {
        let finished = FinishedSession {
            record: record.into(),
            telemetry: telemetry.into(),
        };
        self.told(lease, Outcome::Finished(finished)).await
    }

    pub async fn fail(&mut self, lease: &LeaseRef, kind: FailureKind, reason: &str) -> Settlement {
        let failed = FailedSession {
            kind: kind.into(),
            reason: reason.to_owned(),
        };
        self.told(lease, Outcome::Failed(failed)).await
    }

    async fn told(&mut self, lease: &LeaseRef, outcome: Outcome) -> Settlement {
        let outcomes = vec![SessionOutcome {
            lease: Some(lease.clone()),
            outcome: Some(outcome),
        }];
        self.say(Say::HandIn(HandIn { outcomes })).await;
        self.settled().await
    }

    async fn settled(&mut self) -> Settlement {
        while self.settled.is_empty() {
            match self.hear().await.unwrap() {
                Some(Hear::Settled(settled)) => self.settled.extend(settled.sessions),
                Some(Hear::Granted(granted)) => self.granted.push_back(granted.leases),
                Some(Hear::Revoked(_) | Hear::Heard(_)) => {}
                other => panic!("expected a settlement, heard {other:?}"),
            }
        }
        self.settled.pop_front().unwrap().settlement()
    }
}
