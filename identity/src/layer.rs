//! The gate as a layer before gRPC services: refuses, tells handlers who asks, ends streams whose
//! token is over, and writes down who changed what.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Router;
use axum::body::{Body, Bytes};
use futures_util::future::{Either, ready};
use http::{HeaderMap, Request, Response};
use http_body::Frame;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::service::Routes;
use tonic::{Code, Status};
use tower::{Layer, Service};

use crate::audit::AuditSubject;
use crate::gate::{Admitted, Gate, Refusal, Shown};
use crate::holder::Holder;
use crate::view::KnownHolder;

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
    S: Service<Request<Body>, Response = Response<Body>> + Clone + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = Response<Body>;
    type Error = S::Error;
    type Future = Either<S::Future, Boxed<S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let call = request.uri().path();
        // No request from elsewhere has extensions of ours.
        let known = request.extensions().get::<KnownHolder>();
        let shows_a_token = known.is_none();
        let admitted = match known {
            Some(known) => self.gate.admit_known(call, known.clone()),
            None => {
                let shown = Shown::of(request.headers(), request.uri());
                self.gate.admit(call, shown)
            }
        };
        match admitted {
            Ok(admitted) => self.pass(request, admitted),
            Err(Refusal::UnknownToken | Refusal::StoreAway) if shows_a_token => {
                let mut own = self.clone();
                // The one that is ready is used.
                std::mem::swap(self, &mut own);
                Either::Right(Box::pin(async move {
                    let shown = Shown::of(request.headers(), request.uri());
                    match own.gate.admit_soon(request.uri().path(), shown).await {
                        Ok(admitted) => own.pass(request, admitted).await,
                        Err(refusal) => Ok(refusal.to_status().into_http()),
                    }
                }))
            }
            Err(refusal) => {
                self.gate.count(&refusal);
                let refused = refusal.to_status().into_http();
                Either::Right(Box::pin(ready(Ok(refused))))
            }
        }
    }
}

impl<S> GatedService<S>
where
    S: Service<Request<Body>, Response = Response<Body>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
{
    /// Hands a request on. What is read of it ends with its token; only what streams or is written
    /// down costs more than that.
    fn pass(
        &mut self,
        mut request: Request<Body>,
        admitted: Admitted,
    ) -> Either<S::Future, Boxed<S::Error>> {
        let Admitted {
            holder,
            rule,
            ended,
        } = admitted;
        request.extensions_mut().insert(holder.clone());
        if !holder.is_anybody() {
            let ended = ended.clone();
            request = request.map(|body| Body::new(UntilEnded::new(body, ended, None)));
        }
        let streams = rule.is_some_and(|rule| rule.streams) && !holder.is_anybody();
        let noted = rule.is_some_and(|rule| rule.audited).then(|| Noted {
            gate: self.gate.clone(),
            call: request.uri().path().to_owned(),
            holder,
            answered: false,
        });
        let answer = self.inner.call(request);
        if !streams && noted.is_none() {
            return Either::Left(answer);
        }
        Either::Right(Box::pin(async move {
            let answer = answer.await?;
            if let Some(noted) = noted {
                noted.answered(&answer);
            }
            if !streams {
                return Ok(answer);
            }
            let last_words = Some(Refusal::Ended.to_status());
            Ok(answer.map(|body| Body::new(UntilEnded::new(body, ended, last_words))))
        }))
    }
}

/// A call that is to be written down, also when its caller hangs up before it is answered.
struct Noted {
    gate: Gate,
    call: String,
    holder: Holder,
    answered: bool,
}

impl Noted {
    fn answered(mut self, answer: &Response<Body>) {
        self.answered = true;
        let subject = answer.extensions().get::<AuditSubject>();
        let subject = subject.map_or("", |subject| &subject.0);
        let outcome = outcome(answer);
        self.gate.note(&self.call, &self.holder, subject, &outcome);
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        if !self.answered {
            let outcome = "the caller hung up";
            self.gate.note(&self.call, &self.holder, "", outcome);
        }
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

/// A body that ends when its token does.
struct UntilEnded {
    /// Absent once it has ended.
    body: Option<Body>,
    ended: Pin<Box<WaitForCancellationFutureOwned>>,
    /// What the other side is told then. A request just ends.
    last_words: Option<Status>,
}

impl UntilEnded {
    fn new(body: Body, ended: CancellationToken, last_words: Option<Status>) -> Self {
        Self {
            body: Some(body),
            ended: Box::pin(ended.cancelled_owned()),
            last_words,
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
        if self.body.is_some() && self.ended.as_mut().poll(context).is_ready() {
            self.body = None;
            let last_words = self.last_words.take();
            return Poll::Ready(last_words.map(|status| Ok(Frame::trailers(trailers(&status)))));
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

fn trailers(status: &Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    // Its text is plain, so it can be written.
    let _ = status.add_header(&mut trailers);
    trailers
}

#[cfg(test)]
mod tests;
