//! Spans reach a real OTLP collector, joined by the trace context that crossed a request, and
//! none is lost at the end of the process. Alone in its file: telemetry is one per process.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_service_kit::server::{self, Listener};
use agon_service_kit::tasks::Tasks;
use agon_service_kit::telemetry::{self, SessionIds, TelemetryError, TelemetryOptions};
use opentelemetry_proto::tonic::collector::trace::v1::trace_service_server::{
    TraceService, TraceServiceServer,
};
use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use opentelemetry_proto::tonic::trace::v1::Span;
use tonic::metadata::MetadataMap;
use tonic::service::Routes;
use tonic::{Request, Response, Status};

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
        let resources = request.into_inner().resource_spans;
        let scopes = resources
            .into_iter()
            .flat_map(|resource| resource.scope_spans);
        self.spans
            .lock()
            .unwrap()
            .extend(scopes.flat_map(|scope| scope.spans));
        Ok(Response::new(ExportTraceServiceResponse::default()))
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_trace_crosses_a_request_and_arrives_before_the_end() {
    let collector = Collector::default();
    let tasks = Tasks::new();
    let listener = Listener::bind("127.0.0.1:0").await.unwrap();
    let options = TelemetryOptions {
        otlp_endpoint: Some(format!("http://{}", listener.local_addr())),
        log_filter: "off".into(),
        ..TelemetryOptions::default()
    };
    server::serve(
        &tasks,
        "collector",
        listener,
        Routes::new(TraceServiceServer::new(collector.clone())),
    );
    let guard = telemetry::init(&options).unwrap();
    assert!(matches!(
        telemetry::init(&options),
        Err(TelemetryError::AlreadySetUp)
    ));

    let ids = SessionIds {
        experiment_id: "e1",
        session_id: "s1",
        game: "guessing",
    };
    let mut metadata = MetadataMap::new();
    ids.session_span()
        .in_scope(|| telemetry::inject_metadata(&mut metadata));
    let received = ids.decision_span(3, 7);
    telemetry::set_parent_from_metadata(&received, &metadata);
    received.in_scope(|| {});
    drop(received);
    guard.shutdown().await;

    let spans = collector.spans.lock().unwrap().clone();
    let named = |name: &str| {
        spans
            .iter()
            .find(|span| span.name == name)
            .cloned()
            .unwrap()
    };
    let (session, decision) = (named("session"), named("decision"));
    assert_eq!(decision.trace_id, session.trace_id);
    assert_eq!(decision.parent_span_id, session.span_id);
    let keys: Vec<_> = decision
        .attributes
        .iter()
        .map(|pair| pair.key.as_str())
        .collect();
    for key in ["experiment_id", "session_id", "game", "seat", "decision"] {
        assert!(keys.contains(&key), "{key} is missing from {keys:?}");
    }
    tasks.shutdown(Duration::from_secs(5)).await.unwrap();
}
