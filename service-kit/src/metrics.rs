//! The Prometheus recorder of the process and the small HTTP server that shows it, with a health
//! page beside it. It holds no metric names: each crate lists its own in its `metrics.rs` as
//! [`Metric`]s and describes them at start. Called by every binary role.

use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use tokio::sync::watch;

use crate::http;
pub use crate::metric::{Metric, MetricKind};
use crate::secrets;
use crate::server::Listener;
use crate::tasks::{TaskKind, Tasks};

/// Bounds of the histogram buckets in seconds: from a Redis round trip to a slow model's answer.
const SECONDS_BUCKETS: [f64; 16] = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
    120.0,
];

/// Histograms collect single values until upkeep sorts them into buckets.
const UPKEEP_EVERY: Duration = Duration::from_secs(5);

static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();

/// The metrics cannot be collected.
#[derive(Debug, thiserror::Error)]
#[error("another metrics recorder is already installed in this process")]
pub struct RecorderTaken;

/// Installs the process's recorder; further calls change nothing.
pub fn install() -> Result<(), RecorderTaken> {
    // Two first callers at once: the second must wait, not fail.
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _one_at_a_time = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    if RECORDER.get().is_some() {
        return Ok(());
    }
    let recorder = PrometheusBuilder::new()
        .set_buckets(&SECONDS_BUCKETS)
        .and_then(PrometheusBuilder::install_recorder)
        .map_err(|_| RecorderTaken)?;
    RECORDER.get_or_init(|| recorder);
    Ok(())
}

/// Gives the listed metrics their help texts. Call it after [`install`].
pub fn describe(listed: &[Metric]) {
    for Metric { name, kind, help } in listed {
        match kind {
            MetricKind::Counter => metrics::describe_counter!(*name, *help),
            MetricKind::Gauge => metrics::describe_gauge!(*name, *help),
            MetricKind::Histogram => metrics::describe_histogram!(*name, *help),
        }
    }
}

/// Everything measured so far in Prometheus text format; empty before [`install`].
pub fn render() -> String {
    let rendered = RECORDER.get().map(PrometheusHandle::render);
    secrets::without(&rendered.unwrap_or_default()).into_owned()
}

/// Serves `/metrics` on the listener until shutdown, and for probes that speak HTTP `/healthz`, while
/// the process lives, and `/readyz`, while it is `ready`. Call it after [`install`].
pub fn serve(tasks: &Tasks, listener: Listener, ready: watch::Receiver<bool>) {
    let text = [(CONTENT_TYPE, "text/plain; version=0.0.4")];
    let router = Router::new()
        .route("/metrics", get(move || async move { (text, render()) }))
        .route("/healthz", get(|| async { "ok\n" }))
        .route(
            "/readyz",
            get(move || async move { readiness(*ready.borrow()) }),
        );
    // Nobody waits for a scrape, so all these tasks may be dropped at shutdown.
    let kind = TaskKind::UPKEEP;
    let name = "metrics server";
    let shutdown = tasks.shutdown_token();
    let served = http::serve(tasks.clone(), name, kind, listener, router, shutdown);
    tasks.spawn(kind, name, served);
    tasks.spawn(TaskKind::UPKEEP, "metrics upkeep", async {
        let mut clock = tokio::time::interval(UPKEEP_EVERY);
        while let Some(recorder) = RECORDER.get() {
            clock.tick().await;
            recorder.run_upkeep();
        }
    });
}

fn readiness(is_ready: bool) -> (StatusCode, &'static str) {
    match is_ready {
        true => (StatusCode::OK, "ok\n"),
        false => (StatusCode::SERVICE_UNAVAILABLE, "not ready\n"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    const CALLS: Metric = Metric::counter("agon_kit_calls_total", "calls made by this test");
    const SECONDS: Metric = Metric::histogram("agon_kit_call_seconds", "time of those calls");

    async fn get_page(port: u16, path: &str) -> String {
        let mut stream = tokio::net::TcpStream::connect(("127.0.0.1", port))
            .await
            .unwrap();
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn described_metrics_are_served_and_health_answers() {
        install().unwrap();
        install().unwrap();
        describe(&[CALLS, SECONDS]);
        metrics::counter!(CALLS.name, "kind" => "a").increment(3);
        metrics::histogram!(SECONDS.name).record(0.002);
        let tasks = Tasks::new();
        let listener = Listener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().port();
        let (ready, is_ready) = watch::channel(false);
        serve(&tasks, listener, is_ready);
        let page = get_page(port, "/metrics").await;
        assert!(
            page.contains("# HELP agon_kit_calls_total calls made by this test"),
            "{page}"
        );
        assert!(
            page.contains("agon_kit_calls_total{kind=\"a\"} 3"),
            "{page}"
        );
        assert!(
            page.contains("agon_kit_call_seconds_bucket{le=\"0.0025\"} 1"),
            "{page}"
        );
        let begins = "HTTP/1.1 503 ";
        assert!(get_page(port, "/readyz").await.starts_with(begins));
        ready.send_replace(true);
        for page in ["/healthz", "/readyz"] {
            assert!(get_page(port, page).await.ends_with("\r\n\r\nok\n"));
        }
        tasks.shutdown(Duration::from_secs(5)).await.unwrap();
        assert!(
            tokio::net::TcpStream::connect(("127.0.0.1", port))
                .await
                .is_err()
        );
    }
}
