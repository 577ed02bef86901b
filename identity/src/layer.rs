//! The gate as a layer before gRPC services: refuses, tells handlers who asks, ends streams whose
//! token is over, and writes down who changed what.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use futures_util::future::{Either, Ready, ready};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::service::Routes;
use tonic::{Code, Status};
use tower::{Layer, Service};

use crate::audit::{AuditEntry, AuditSubject};
use crate::gate::{Admitted, Gate, Refusal};

/// The services behind a gate.
pub fn behind(gate: Gate, routes: Routes) -> Routes {
    let router: Router = routes.into_axum_router().layer(GateLayer(gate));
    router.into()
}

#[derive(Clone)]
struct GateLayer(Gate);

impl<S> Layer<S> for GateLayer {
    type Service = GatedService<S>;

    fn layer(&self, inner: S) -> Self::Service {
        let gate = self.0.clone();
        GatedService { inner, gate }
    }
}

#[derive(Clone)]
struct GatedService<S> {
    inner: S,
    gate: Gate,
}

type Answer<E> = Result<Response<Body>, E>;
type Boxed<E> = Pin<Box<dyn Future<Output = Answer<E>> + Send>>;

impl<S> Service<Request<Body>> for GatedService<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, Either<Ready<Answer<S::Error>>, Boxed<S::Error>>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let call = request.uri().path();
        let admitted = match self.gate.admit(call, request.headers()) {
            Ok(admitted) => admitted,
            Err(refusal) => {
                let refused = refusal.to_status().into_http();
                return Either::Right(Either::Left(ready(Ok(refused))));
            }
        };
        let call = call.trim_start_matches('/').to_owned();
        let Admitted {
            holder,
            rule,
            ended,
        } = admitted;
        request.extensions_mut().insert(holder.clone());
        let streams = rule.is_some_and(|rule| rule.streams) && !holder.is_anybody();
        if !streams && !rule.is_some_and(|rule| rule.audited) {
            return Either::Left(self.inner.call(request));
        }
        if streams {
            let ended = ended.clone();
            request = request.map(|body| Body::new(UntilEnded::new(body, ended, AtEnd::Fault)));
        }
        let gate = rule
            .is_some_and(|rule| rule.audited)
            .then(|| self.gate.clone());
        let answer = self.inner.call(request);
        Either::Right(Either::Right(Box::pin(async move {
            let answer = answer.await?;
            if let Some(gate) = gate {
                let subject = answer.extensions().get::<AuditSubject>();
                let subject = subject.map_or("", |subject| &subject.0);
                let outcome = outcome(&answer);
                let entry = AuditEntry::new(gate.door(), &call, &holder, subject, &outcome);
                gate.identities().auditor().note(entry);
            }
            Ok(match streams {
                true => answer.map(|body| Body::new(UntilEnded::new(body, ended, AtEnd::Status))),
                false => answer,
            })
        })))
    }
}

/// `ok`, or the name of the code. A unary call that fails says so in the headers.
fn outcome(answer: &Response<Body>) -> String {
    let status = Status::from_header_map(answer.headers());
    match status.map_or(Code::Ok, |status| status.code()) {
        Code::Ok => "ok".to_owned(),
        code => format!("{code:?}"),
    }
}

/// What follows when a token is over.
#[derive(Clone, Copy)]
enum AtEnd {
    /// The other side is told by a status.
    Status,
    /// The reader of a request meets a fault.
    Fault,
}

/// A body that ends when its token does.
struct UntilEnded {
    /// Absent once it has ended.
    body: Option<Body>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    at_end: AtEnd,
}

impl UntilEnded {
    fn new(body: Body, ended: CancellationToken, at_end: AtEnd) -> Self {
        Self {
            body: Some(body),
            ended: Box::pin(ended.cancelled_owned()),
            at_end,
        }
    }
}

impl http_body::Body for UntilEnded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.body.is_none() {
            return Poll::Ready(None);
        }
        if self.ended.as_mut().poll(context).is_ready() {
            self.body = None;
            return Poll::Ready(Some(match self.at_end {
                AtEnd::Fault => Err(axum::Error::new(io::Error::other(Refusal::Revoked))),
                AtEnd::Status => Ok(Frame::trailers(trailers())),
            }));
        }
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body
            .as_ref()
            .is_none_or(http_body::Body::is_end_stream)
    }
}

fn trailers() -> HeaderMap {
    let mut trailers = HeaderMap::new();
    // Its text is plain, so it can be written.
    let _ = Refusal::Revoked.to_status().add_header(&mut trailers);
    trailers
}
