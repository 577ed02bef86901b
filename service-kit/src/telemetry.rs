//! Logs on stderr and spans to OpenTelemetry, set up once per process, and the W3C trace context
//! that joins the spans of all services into one trace. It decides nothing about what is logged;
//! the names of the ids that spans carry are here so that every service spells them alike.
//! Called by every binary role at start, and by every client and server around a call.

mod outlets;

use std::str::FromStr;
use std::time::Duration;

use opentelemetry::propagation::{Extractor, Injector, TextMapPropagator as _};
use opentelemetry::trace::{TraceContextExt as _, TracerProvider as _};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::SdkTracerProvider;
use serde::{Deserialize, Serialize};
use tonic::metadata::{KeyRef, MetadataKey, MetadataMap, MetadataValue};
use tracing::Span;
use tracing::level_filters::LevelFilter;
use tracing_opentelemetry::OpenTelemetrySpanExt as _;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::debug_fn;
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Registry, fmt};

use crate::secrets;

/// The header that carries the trace, by the W3C recommendation.
const TRACEPARENT: &str = "traceparent";

/// Only our own spans are exported: those of the transport below would trace the export itself.
const OUR_TARGETS: &str = "agon";

/// How long the end of the process waits for the collector to take the last spans.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(3);

/// What an operator chooses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TelemetryOptions {
    /// What is logged, in the syntax of `RUST_LOG`, such as `info,agon_worker=debug`.
    pub log_filter: String,
    /// How a log line looks.
    pub log_format: LogFormat,
    /// Where spans go over OTLP gRPC, such as `http://collector:4317`; nowhere when unset.
    pub otlp_endpoint: Option<String>,
    /// The service name in traces, such as `agon-worker`.
    pub service_name: String,
}

impl Default for TelemetryOptions {
    fn default() -> Self {
        Self {
            log_filter: "info".to_owned(),
            log_format: LogFormat::Text,
            otlp_endpoint: None,
            service_name: "agon".to_owned(),
        }
    }
}

/// How a log line looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people; coloured on a terminal.
    #[default]
    Text,
    /// One JSON object per line, with the fields of the spans around it.
    Json,
}

impl FromStr for LogFormat {
    type Err = TelemetryError;

    fn from_str(text: &str) -> Result<Self, TelemetryError> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            other => Err(TelemetryError::LogFormat(other.to_owned())),
        }
    }
}

/// Why telemetry cannot start.
#[derive(Debug, thiserror::Error)]
pub enum TelemetryError {
    /// Neither of the two formats.
    #[error("log format must be `text` or `json`, not `{0}`")]
    LogFormat(String),
    /// The filter does not parse.
    #[error(
        "log filter `{filter}` is not understood; write it as `info` or `warn,agon_worker=debug`"
    )]
    LogFilter {
        /// As given.
        filter: String,
        /// Where it fails.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// It may be anything, a token too.
    #[error("the address of a collector of traces begins with http:// or https://")]
    NoOtlpAddress,
    /// The exporter refuses the endpoint.
    #[error("spans cannot be sent to `{endpoint}`")]
    OtlpEndpoint {
        /// As given.
        endpoint: String,
        /// The exporter's reason.
        #[source]
        source: opentelemetry_otlp::ExporterBuildError,
    },
    /// Telemetry is one per process.
    #[error("telemetry is already set up in this process")]
    AlreadySetUp,
}

/// Installs logs and, when an endpoint is given, the export of spans, for the whole process.
/// With an endpoint it must be called inside the tokio runtime that will carry the export.
pub fn init(options: &TelemetryOptions) -> Result<TelemetryGuard, TelemetryError> {
    let filter =
        EnvFilter::try_new(&options.log_filter).map_err(|source| TelemetryError::LogFilter {
            filter: options.log_filter.clone(),
            source,
        })?;
    let provider = options
        .otlp_endpoint
        .as_deref()
        .map(|endpoint| span_export(endpoint, &options.service_name))
        .transpose()?;
    let export = provider.as_ref().map(|provider| {
        tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("agon"))
            .with_filter(Targets::new().with_target(OUR_TARGETS, LevelFilter::DEBUG))
    });
    let stderr = fmt::layer::<Registry>().with_writer(outlets::CleanStderr::default);
    let logs = match options.log_format {
        LogFormat::Text => {
            let colours = std::io::IsTerminal::is_terminal(&std::io::stderr());
            let fields = debug_fn(outlets::write_field).delimited(" ");
            stderr
                .with_ansi(colours)
                .fmt_fields(fields)
                .with_filter(filter)
                .boxed()
        }
        LogFormat::Json => stderr
            .json()
            .flatten_event(true)
            .with_filter(filter)
            .boxed(),
    };
    tracing_subscriber::registry()
        .with(logs)
        .with(export)
        .try_init()
        .map_err(|_| TelemetryError::AlreadySetUp)?;
    Ok(TelemetryGuard { provider })
}

fn span_export(endpoint: &str, service: &str) -> Result<SdkTracerProvider, TelemetryError> {
    if !["http://", "https://"]
        .iter()
        .any(|scheme| endpoint.starts_with(scheme))
    {
        return Err(TelemetryError::NoOtlpAddress);
    }
    let shown = secrets::keep_address(endpoint);
    let exporter = SpanExporter::builder()
        .with_tonic()
        .with_endpoint(endpoint)
        .with_timeout(FLUSH_TIMEOUT)
        .build()
        .map_err(|source| TelemetryError::OtlpEndpoint {
            endpoint: shown,
            source,
        })?;
    let resource = Resource::builder()
        .with_service_name(service.to_owned())
        .build();
    Ok(SdkTracerProvider::builder()
        .with_batch_exporter(outlets::CleanSpans(exporter))
        .with_resource(resource)
        .build())
}

/// Sends the last spans when it is dropped or shut down; keep it until the end of `main`.
#[derive(Debug)]
#[must_use = "spans still in memory are lost when the guard is dropped at once"]
pub struct TelemetryGuard {
    provider: Option<SdkTracerProvider>,
}

impl TelemetryGuard {
    /// Sends what is left without blocking the runtime, which the export itself needs.
    pub async fn shutdown(mut self) {
        let Some(provider) = self.provider.take() else {
            return;
        };
        let flushed = tokio::task::spawn_blocking(move || flush(&provider)).await;
        if let Err(fault) = flushed {
            eprintln!("the last spans were not sent: {fault}");
        }
    }
}

impl Drop for TelemetryGuard {
    fn drop(&mut self) {
        if let Some(provider) = &self.provider {
            flush(provider);
        }
    }
}

fn flush(provider: &SdkTracerProvider) {
    if let Err(fault) = provider.shutdown_with_timeout(FLUSH_TIMEOUT) {
        // Telemetry is going down, so the log may be gone already.
        eprintln!("the last spans were not sent: {fault}");
    }
}

/// The ids of a session as its spans carry them.
#[derive(Debug, Clone, Copy)]
pub struct SessionIds<'a> {
    /// The experiment.
    pub experiment_id: &'a str,
    /// The session.
    pub session_id: &'a str,
    /// The game's name in the registry.
    pub game: &'a str,
}

impl SessionIds<'_> {
    /// The span around one try to play the session.
    pub fn session_span(&self) -> Span {
        let Self {
            experiment_id,
            session_id,
            game,
        } = *self;
        tracing::info_span!("session", experiment_id, session_id, game)
    }

    /// The span around one decision: `seat` and `decision` (its index) are its address.
    pub fn decision_span(&self, seat: u32, decision: u64) -> Span {
        let Self {
            experiment_id,
            session_id,
            game,
        } = *self;
        tracing::info_span!("decision", experiment_id, session_id, game, seat, decision)
    }
}

/// The current span as a `traceparent` value; `None` when nothing is exported.
pub fn current_traceparent() -> Option<String> {
    let mut slot = Slot(None);
    inject(&mut slot);
    slot.0
}

/// Puts the current span into the metadata of a gRPC request.
pub fn inject_metadata(metadata: &mut MetadataMap) {
    inject(&mut MetadataCarrier(metadata));
}

/// Puts the current span into the headers of an HTTP request.
pub fn inject_headers(headers: &mut http::HeaderMap) {
    inject(&mut HeaderCarrier(headers));
}

/// Makes the sender's span, if the metadata names one, the parent of `span`. Call it before the
/// span is entered.
pub fn set_parent_from_metadata(span: &Span, metadata: &MetadataMap) {
    adopt(span, &MetadataReader(metadata));
}

/// Makes the span that `traceparent` names the parent of `span`. Call it before the span is
/// entered. Text that is no traceparent changes nothing.
pub fn set_parent(span: &Span, traceparent: &str) {
    adopt(span, &TextReader(traceparent));
}

fn inject(carrier: &mut dyn Injector) {
    TraceContextPropagator::new().inject_context(&Span::current().context(), carrier);
}

fn adopt(span: &Span, carrier: &dyn Extractor) {
    // An empty starting context: whatever this thread is busy with is not the sender.
    let none = opentelemetry::Context::new();
    let context = TraceContextPropagator::new().extract_with_context(&none, carrier);
    if context.span().span_context().is_valid() {
        // Fails only when spans are not exported or the span is disabled; then nobody looks.
        let _ = span.set_parent(context);
    }
}

struct Slot(Option<String>);

impl Injector for Slot {
    fn set(&mut self, key: &str, value: String) {
        if key == TRACEPARENT {
            self.0 = Some(value);
        }
    }
}

struct MetadataCarrier<'a>(&'a mut MetadataMap);

impl Injector for MetadataCarrier<'_> {
    fn set(&mut self, key: &str, value: String) {
        if value.is_empty() {
            return;
        }
        if let (Ok(key), Ok(value)) = (
            MetadataKey::from_bytes(key.as_bytes()),
            MetadataValue::try_from(value),
        ) {
            self.0.insert(key, value);
        }
    }
}

struct HeaderCarrier<'a>(&'a mut http::HeaderMap);

impl Injector for HeaderCarrier<'_> {
    fn set(&mut self, key: &str, value: String) {
        if value.is_empty() {
            return;
        }
        if let (Ok(key), Ok(value)) = (
            http::HeaderName::try_from(key),
            http::HeaderValue::try_from(value),
        ) {
            self.0.insert(key, value);
        }
    }
}

struct MetadataReader<'a>(&'a MetadataMap);

impl Extractor for MetadataReader<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        let ascii = |key| match key {
            KeyRef::Ascii(key) => Some(key.as_str()),
            KeyRef::Binary(_) => None,
        };
        self.0.keys().filter_map(ascii).collect()
    }
}

struct TextReader<'a>(&'a str);

impl Extractor for TextReader<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == TRACEPARENT).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_format_is_one_of_two_words() {
        assert_eq!("json".parse::<LogFormat>().unwrap(), LogFormat::Json);
        let error = "xml".parse::<LogFormat>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "log format must be `text` or `json`, not `xml`"
        );
    }

    #[test]
    fn bad_filter_is_an_error_that_names_it() {
        let options = TelemetryOptions {
            log_filter: "a=b=c".into(),
            ..Default::default()
        };
        assert!(init(&options).unwrap_err().to_string().contains("`a=b=c`"));
    }

    #[test]
    fn context_crosses_metadata_headers_and_text() {
        let provider = SdkTracerProvider::builder().build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("agon"));
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let ids = SessionIds {
                experiment_id: "e",
                session_id: "s",
                game: "g",
            };
            let (text, metadata) = ids.session_span().in_scope(|| {
                let mut metadata = MetadataMap::new();
                inject_metadata(&mut metadata);
                let mut headers = http::HeaderMap::new();
                inject_headers(&mut headers);
                let text = current_traceparent().unwrap();
                assert_eq!(headers[TRACEPARENT], text.as_str());
                (text, metadata)
            });
            let trace_id = &text[3..35];
            for span in [ids.decision_span(0, 0), ids.decision_span(0, 1)] {
                let before = span.context().span().span_context().trace_id().to_string();
                assert_ne!(before, trace_id);
            }
            let (by_text, by_metadata) = (ids.decision_span(1, 0), ids.decision_span(1, 1));
            set_parent(&by_text, &text);
            set_parent_from_metadata(&by_metadata, &metadata);
            for span in [by_text, by_metadata] {
                let inside = span.in_scope(|| current_traceparent().unwrap());
                assert_eq!(&inside[3..35], trace_id);
                assert_ne!(inside, text, "a span of its own in the same trace");
            }
        });
    }

    #[test]
    fn without_export_nothing_is_injected_and_nonsense_is_no_parent() {
        assert_eq!(current_traceparent(), None);
        let mut metadata = MetadataMap::new();
        inject_metadata(&mut metadata);
        assert!(metadata.is_empty());
        set_parent(&Span::none(), "00-zz-not-a-trace");
    }
}
