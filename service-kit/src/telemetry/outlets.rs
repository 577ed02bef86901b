//! What leaves by the log and by exported spans, cleaned on its way: secrets are taken out of both,
//! and what would speak to a terminal or forge a line of the log is escaped. Decides nothing about
//! what is logged. Called by `telemetry.rs`.

use std::fmt::{self, Debug, Write as _};
use std::io::{self, Write};
use std::time::Duration;

use agon_outlets::line;
use opentelemetry::trace::Status;
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SpanData, SpanExporter};
use tracing::field::Field;
use tracing_subscriber::fmt::format::Writer;

use crate::secrets;

/// Where log lines go: each comes as one piece, and leaves without secrets.
#[derive(Debug, Default)]
pub(super) struct CleanStderr;

impl Write for CleanStderr {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stderr()
            .lock()
            .write_all(&secrets::without_in_bytes(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// A field of a log line for people: no value can end the line or speak to the terminal.
pub(super) fn write_field(out: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    let mut text = String::new();
    write!(text, "{value:?}")?;
    let text = line(&text);
    match field.name() {
        "message" => write!(out, "{text}"),
        name => write!(out, "{}={text}", name.trim_start_matches("r#")),
    }
}

/// Spans on their way to a collector, without secrets.
#[derive(Debug)]
pub(super) struct CleanSpans<E>(pub(super) E);

impl<E: SpanExporter> SpanExporter for CleanSpans<E> {
    fn export(&self, mut batch: Vec<SpanData>) -> impl Future<Output = OTelSdkResult> + Send {
        batch.iter_mut().for_each(clean);
        self.0.export(batch)
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.0.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.0.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.0.set_resource(resource);
    }
}

fn clean(span: &mut SpanData) {
    span.attributes.iter_mut().for_each(clean_attribute);
    for event in &mut span.events.events {
        event.name = secrets::without(&event.name).into_owned().into();
        event.attributes.iter_mut().for_each(clean_attribute);
    }
    if let Status::Error { description } = &mut span.status {
        *description = secrets::without(description).into_owned().into();
    }
}

fn clean_attribute(attribute: &mut KeyValue) {
    let clean = |text: &StringValue| secrets::without(text.as_str()).into_owned().into();
    match &mut attribute.value {
        Value::String(text) => *text = clean(text),
        Value::Array(Array::String(texts)) => {
            texts.iter_mut().for_each(|text| *text = clean(text));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use opentelemetry::trace::{Span as _, Tracer as _, TracerProvider as _};
    use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider};
    use tracing_subscriber::field::MakeExt as _;
    use tracing_subscriber::fmt::format::debug_fn;
    use tracing_subscriber::layer::SubscriberExt as _;

    use super::*;

    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);

    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_value_forges_a_line_of_the_log() {
        let page = Page::default();
        let written = page.clone();
        let layer = tracing_subscriber::fmt::layer()
            .with_ansi(false)
            .without_time()
            .fmt_fields(debug_fn(write_field).delimited(" "))
            .with_writer(move || written.clone());
        let subscriber = tracing_subscriber::registry().with(layer);
        tracing::subscriber::with_default(subscriber, || {
            let evil = "x\n2026 ERROR forged\u{1b}[2J\u{202e}";
            let span = tracing::info_span!("session", game = evil);
            let _entered = span.enter();
            tracing::info!(reason = %evil, name = evil, count = 3, "hello {evil}");
        });
        let text = String::from_utf8(page.0.lock().unwrap().clone()).unwrap();
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(
            !text.contains('\u{1b}') && !text.contains('\u{202e}'),
            "{text}"
        );
        assert!(
            text.contains("hello x\\n2026") && text.contains("count=3"),
            "{text}"
        );
        assert!(
            text.contains("reason=x\\n") && text.contains("name=\"x\\n"),
            "{text}"
        );
        assert!(text.contains("game="), "{text}");
    }

    #[test]
    fn no_span_carries_a_secret_out() {
        let secret = "span-secret-e81f";
        secrets::keep(secret);
        let exported = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(CleanSpans(exported.clone()))
            .build();
        let mut span = provider.tracer("t").start("call");
        span.set_attribute(KeyValue::new("a", format!("is {secret}")));
        let list = Array::String(vec![secret.into(), "fine".into()]);
        span.set_attribute(KeyValue::new("b", Value::Array(list)));
        span.add_event(format!("said {secret}"), vec![KeyValue::new("c", secret)]);
        span.set_status(Status::error(format!("failed with {secret}")));
        span.end();
        let spans = exported.get_finished_spans().unwrap();
        let told = format!("{spans:?}");
        assert!(!told.contains(secret), "{told}");
        assert_eq!(told.matches(secrets::INSTEAD).count(), 5, "{told}");
        assert!(told.contains("fine"), "{told}");
    }
}
