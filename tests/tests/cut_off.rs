//! A worker that is cut off stops what it plays when its leases run out, also while it waits for a
//! coordinator that takes its connection and says nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_coordinator::experiment::{ExperimentFile, expand};
use agon_proto::v1::session_lease_service_server::{
    SessionLeaseService, SessionLeaseServiceServer,
};
use agon_proto::v1::work_sessions_response::Message;
use agon_proto::v1::{
    GetPromptBundleRequest, GetPromptBundleResponse, GrantedLeases, Lease, LeaseRef,
    RegisteredWorker, WorkSessionsRequest, WorkSessionsResponse,
};
use agon_service_kit::server::channel;
use agon_service_kit::tasks::Tasks;
use agon_tests::fake_gateway::FakeGateway;
use agon_tests::waiting::until;
use agon_worker::{WorkerOptions, transport};
use tokio::sync::Notify;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Response, Status, Streaming};

/// Less than a worker waits for a coordinator that says nothing.
const LEASE_MS: u64 = 1_000;

const EXPERIMENT: &str = r#"
name = "cut-off"
[players.subject]
kind = "model"
model = "any"
[[games]]
game = "divide_dollar"
params = { rounds = 1 }
seats = [{ player = "subject", count = 2 }]
"#;

/// Grants one session over its first stream, which ends when it is told; says nothing over others.
struct Coordinator {
    spec: String,
    session: String,
    streams: AtomicUsize,
    end: Arc<Notify>,
    /// Streams over which it has been silent to the end.
    silent: Arc<AtomicUsize>,
}

/// Counts a silent stream that its worker gave up.
struct Silence(Arc<AtomicUsize>);

impl Drop for Silence {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tonic::async_trait]
impl SessionLeaseService for Coordinator {
    type WorkSessionsStream = ReceiverStream<Result<WorkSessionsResponse, Status>>;

    async fn work_sessions(
        &self,
        _: Request<Streaming<WorkSessionsRequest>>,
    ) -> Result<Response<Self::WorkSessionsStream>, Status> {
        if self.streams.fetch_add(1, Ordering::SeqCst) > 0 {
            let _silence = Silence(Arc::clone(&self.silent));
            return std::future::pending().await;
        }
        let (outbox, outgoing) = tokio::sync::mpsc::channel(2);
        let lease = Lease {
            lease: Some(LeaseRef {
                session_id: self.session.clone(),
                token: "a lease".into(),
            }),
            spec: self.spec.clone().into(),
            experiment_id: "cut-off".to_owned(),
            ..Lease::default()
        };
        let registered = Message::Registered(RegisteredWorker {
            lease_ms: LEASE_MS,
            lost: Vec::new(),
        });
        let granted = Message::Granted(GrantedLeases {
            leases: vec![lease],
        });
        for message in [registered, granted] {
            let message = Some(message);
            let _ = outbox.send(Ok(WorkSessionsResponse { message })).await;
        }
        let end = Arc::clone(&self.end);
        tokio::spawn(async move {
            end.notified().await;
            drop(outbox);
        });
        Ok(Response::new(ReceiverStream::new(outgoing)))
    }

    async fn get_prompt_bundle(
        &self,
        _: Request<GetPromptBundleRequest>,
    ) -> Result<Response<GetPromptBundleResponse>, Status> {
        Err(Status::not_found("none"))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn worker_that_is_cut_off_stops_its_calls_while_a_coordinator_says_nothing() {
    let gateway = tokio::task::spawn_blocking(FakeGateway::silent)
        .await
        .unwrap();
    let file = ExperimentFile::parse("cut-off.toml", EXPERIMENT).unwrap();
    let document = file.check().unwrap();
    let spec = expand(&document)
        .unwrap()
        .into_sessions()
        .next()
        .unwrap()
        .spec;
    let (end, silent) = (Arc::new(Notify::new()), Arc::new(AtomicUsize::new(0)));
    let (id, json) = spec.identified();
    let coordinator = SessionLeaseServiceServer::new(Coordinator {
        spec: json,
        session: id.to_string(),
        streams: AtomicUsize::new(0),
        end: Arc::clone(&end),
        silent: Arc::clone(&silent),
    });
    let tasks = Tasks::new();
    let options = WorkerOptions {
        worker_id: "w".to_owned(),
        incarnation: 1,
        places: 1,
        games: Default::default(),
    };
    let coordinators = vec![transport::into_service(coordinator)];
    let to_gateway = transport::over(channel(&gateway.url()).unwrap());
    agon_worker::start(&tasks, coordinators, to_gateway, &options);
    until("both seats wait for an answer", || {
        gateway.waiting().calls == 2
    });
    end.notify_one();
    until("the calls are given up", || gateway.waiting().calls == 0);
    assert_eq!(
        silent.load(Ordering::SeqCst),
        0,
        "not after the coordinator was given up"
    );
    tokio::task::spawn_blocking(move || drop(gateway))
        .await
        .unwrap();
}
