//! How our HTTP servers serve: what `axum::serve` does, within limits of connections and with
//! time-outs for heads and bodies. It knows no routes. Called by the metrics endpoint and by the
//! gateway's HTTP door.

use std::io;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, BodyDataStream};
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use futures_util::{StreamExt as _, stream};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tracing::debug;

use crate::server::{
    KEEP_ALIVE_EVERY, KEEP_ALIVE_PATIENCE, LARGEST_HEADERS_BYTES, Listener, MOST_STREAMS,
};
use crate::tasks::{TaskKind, Tasks};

/// Time for a request's body. The largest that the door takes needs a second of a slow line.
const BODY_WITHIN: Duration = Duration::from_secs(120);

/// Serves until `shutdown`, then lets running requests end. Each connection is a task of the
/// `kind`.
pub async fn serve(
    tasks: Tasks,
    name: &'static str,
    kind: TaskKind,
    listener: Listener,
    router: Router,
    shutdown: CancellationToken,
) {
    let head_within = listener.limits().head_within;
    let mut connections = listener.into_connections(name);
    let service = TowerToHyperService::new(router.layer(from_fn(read_in_time)));
    let mut builder = Builder::new(TokioExecutor::new());
    builder
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(head_within);
    builder
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE_EVERY)
        .keep_alive_timeout(KEEP_ALIVE_PATIENCE)
        .max_concurrent_streams(MOST_STREAMS)
        .max_header_list_size(LARGEST_HEADERS_BYTES);
    let running = GracefulShutdown::new();
    while let Some(connection) = shutdown.run_until_cancelled(connections.accept()).await {
        let serving = builder.serve_connection(TokioIo::new(connection), service.clone());
        let serving = running.watch(serving.into_owned());
        tasks.spawn(kind, name, async move {
            if let Err(fault) = serving.await {
                // Callers come and go; what is wrong with one is no fault of the server.
                debug!(fault, "a connection ended");
            }
        });
    }
    // Nobody else gets in.
    drop(connections);
    running.shutdown().await;
}

/// A body that does not come to its end in time ends with a fault.
async fn read_in_time(request: Request, next: Next) -> Response {
    let deadline = Instant::now() + BODY_WITHIN;
    let request = request.map(|body| {
        let parts = stream::unfold(body.into_data_stream(), move |body| part(body, deadline));
        Body::from_stream(parts)
    });
    next.run(request).await
}

type Part = Result<axum::body::Bytes, axum::BoxError>;

async fn part(mut body: BodyDataStream, deadline: Instant) -> Option<(Part, BodyDataStream)> {
    let part = match tokio::time::timeout_at(deadline, body.next()).await {
        Ok(part) => part?.map_err(axum::BoxError::from),
        Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
    };
    Some((part, body))
}
