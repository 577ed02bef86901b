//! One trace runs from the experiment over session and decision to the provider
//! call, across separate processes, and carries the ids of the session.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use agon_tests::binary::Role;
use agon_tests::cluster::{Cluster, Flags};
use agon_tests::model_server::ModelServer;
use agon_tests::runs;
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

/// A collector that keeps what it is sent.
#[derive(Clone, Default)]
struct Collector {
    spans: Arc<Mutex<Vec<Span>>>,
}

#[tonic::async_trait]
impl TraceService for Collector {
    async fn export(
        &self,
        request: Request<ExportTraceServiceRequest>,
    ) -> Result<Response<ExportTraceServiceResponse>, Status> {
        let resources = request.into_inner().resource_spans.into_iter();
        let scopes = resources.flat_map(|resource| resource.scope_spans);
        self.spans
            .lock()
            .unwrap()
            .extend(scopes.flat_map(|scope| scope.spans));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

impl Collector {
    async fn start(tasks: &Tasks) -> (Self, String) {
        let collector = Self::default();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = format!("http://{}", listener.local_addr());
        let routes = Routes::new(TraceServiceServer::new(collector.clone()));
        server::serve(tasks, "collector", listener, routes);
        (collector, endpoint)
    }

    fn spans(&self) -> Vec<Span> {
        self.spans.lock().unwrap().clone()
    }
}

fn attribute(span: &Span, name: &str) -> Option<String> {
    let found = span
        .attributes
        .iter()
        .find(|attribute| attribute.key == name)?;
    Some(match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => text.clone(),
        Value::IntValue(number) => number.to_string(),
        other => format!("{other:?}"),
    })
}

/// Names of a span's ancestors, nearest first.
fn ancestors<'a>(span: &Span, by_id: &'a BTreeMap<Vec<u8>, Span>) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut parent = by_id.get(&span.parent_span_id);
    while let Some(span) = parent {
        names.push(span.name.as_str());
        parent = by_id.get(&span.parent_span_id);
    }
    names
}

/// Every provider call hangs under its decision, its session and the experiment.
fn check(spans: &[Span], calls: u64) {
    let by_id: BTreeMap<Vec<u8>, Span> = spans
        .iter()
        .map(|span| (span.span_id.clone(), span.clone()))
        .collect();
    let provider_calls: Vec<&Span> = spans
        .iter()
        .filter(|span| span.name == "provider_call")
        .collect();
    assert_eq!(provider_calls.len() as u64, calls);
    for call in &provider_calls {
        let above = ancestors(call, &by_id);
        assert_eq!(above.first(), Some(&"decision"), "{above:?}");
        assert!(
            above.contains(&"session") && above.last() == Some(&"experiment"),
            "{above:?}"
        );
    }
    let traces: std::collections::BTreeSet<&Vec<u8>> =
        provider_calls.iter().map(|call| &call.trace_id).collect();
    assert_eq!(traces.len(), 1);
    let decision = spans.iter().find(|span| span.name == "decision").unwrap();
    for name in ["experiment_id", "session_id", "seat", "decision"] {
        assert!(
            attribute(decision, name).is_some(),
            "no {name} in {:?}",
            decision.attributes
        );
    }
    let session = spans.iter().find(|span| span.name == "session").unwrap();
    assert_eq!(attribute(session, "game").as_deref(), Some("divide_dollar"));
}

const EXPERIMENT: &str = r#"
name = "traced"
[players.subject]
kind = "model"
model = "any"
[[games]]
game = "divide_dollar"
params = { rounds = 2 }
seats = [{ player = "subject", count = 3 }]
"#;

/// What the experiment asks.
const CALLS: u64 = 2 * 3;

#[tokio::test(flavor = "multi_thread")]
async fn one_process_sends_one_trace() {
    let tasks = Tasks::new();
    let (collector, endpoint) = Collector::start(&tasks).await;
    let ended = tokio::task::spawn_blocking(move || {
        let folder = tempfile::tempdir().unwrap();
        let models = ModelServer::start(&[]);
        let experiment = runs::write(folder.path(), EXPERIMENT);
        let data = folder.path().join("data").display().to_string();
        let base_url = models.base_url();
        let flags = [
            "--base-url",
            &base_url,
            "--data",
            &data,
            "--otlp",
            &endpoint,
        ];
        runs::run_into(&experiment, &folder.path().join("out"), &flags)
    });
    let _ = ended.await.unwrap().expect_code(0);
    check(&collector.spans(), CALLS);
}

#[tokio::test(flavor = "multi_thread")]
async fn separate_processes_send_one_trace() {
    let tasks = Tasks::new();
    let (collector, endpoint) = Collector::start(&tasks).await;
    let ran = tokio::task::spawn_blocking(move || {
        let folder = tempfile::tempdir().unwrap();
        let models = ModelServer::start(&[]);
        let all = ["--otlp", endpoint.as_str()];
        let flags = Flags {
            all: &all,
            ..Flags::default()
        };
        let mut cluster = Cluster::start_with(folder.path(), None, &models, 1, flags);
        let experiment = runs::write(folder.path(), EXPERIMENT);
        let url = cluster.coordinator_url();
        let flags = ["--coordinator", &url, "--otlp", &endpoint];
        let _ = runs::run_into(&experiment, &folder.path().join("out"), &flags).expect_code(0);
        // Spans are flushed when a role ends in order.
        let roles: [&mut Role; 3] = {
            let [worker] = &mut cluster.workers[..] else {
                panic!("one worker")
            };
            [worker, &mut cluster.gateway, &mut cluster.coordinator]
        };
        for role in roles {
            assert_eq!(role.terminate().0.code(), Some(0));
        }
    });
    ran.await.unwrap();
    check(&collector.spans(), CALLS);
}
