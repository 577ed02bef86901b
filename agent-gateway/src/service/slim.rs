//! The gateway's service with a slim way to a decision. Thousands of callers wait
//! in `Decide`, and the server that tonic generates keeps some 3 KB for each of
//! them, mostly room for what is over: the request's head and body. Here reading,
//! waiting and writing follow each other in the same room. All other calls, and
//! what `Decide` means, stay where they are. Built by `gateway.rs`.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use agon_proto::v1::agent_gateway_service_server::AgentGatewayServiceServer;
use agon_proto::v1::{DecideRequest, DecideResponse};
use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use futures_util::FutureExt as _;
use futures_util::future::Either;
use tonic::body::Body;
use tonic::codec::{Codec as _, EncodeBody, SingleMessageCompressionOverride, Streaming};
use tonic::codegen::{self, BoxFuture, Service, StdError, http};
use tonic::metadata::{GRPC_CONTENT_TYPE, MetadataMap};
use tonic::server::NamedService;
use tonic::{Request, Status};
use tonic_prost::ProstCodec;

use super::GatewayService;

/// The call in which thousands wait.
const DECIDE: &str = "/agon.v1.AgentGatewayService/Decide";

type Generated = AgentGatewayServiceServer<GatewayService>;

/// Serves a gateway, on a socket or for a client in the same process.
#[derive(Clone)]
pub struct SlimService {
    gateway: Arc<GatewayService>,
    generated: Generated,
}

impl SlimService {
    pub(crate) fn new(gateway: GatewayService) -> Self {
        let gateway = Arc::new(gateway);
        let generated = Generated::from_arc(Arc::clone(&gateway))
            .max_decoding_message_size(LARGEST_MESSAGE_BYTES)
            .max_encoding_message_size(LARGEST_MESSAGE_BYTES);
        Self { gateway, generated }
    }
}

impl NamedService for SlimService {
    const NAME: &'static str = Generated::NAME;
}

impl<B> Service<http::Request<B>> for SlimService
where
    B: codegen::Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Self::Error>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        if request.uri().path() == DECIDE && !is_compressed(&request) {
            Box::pin(decide(Arc::clone(&self.gateway), request))
        } else {
            self.generated.call(request)
        }
    }
}

/// Nobody here compresses; the generated service knows what to answer.
fn is_compressed<B>(request: &http::Request<B>) -> bool {
    let encoding = request.headers().get("grpc-encoding");
    encoding.is_some_and(|encoding| encoding != "identity")
}

fn decide<B>(
    gateway: Arc<GatewayService>,
    request: http::Request<B>,
) -> impl Future<Output = Result<http::Response<Body>, Infallible>> + Send
where
    B: codegen::Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    let (head, body) = request.into_parts();
    let metadata = MetadataMap::from_headers(head.headers);
    let decided = Box::pin(read(body)).then(move |read| {
        let begun = read.and_then(|wire| {
            let mut request = Request::new(wire);
            *request.metadata_mut() = metadata;
            gateway.begin(request)
        });
        match begun {
            Ok(decision) => Either::Left(decision),
            Err(refusal) => Either::Right(std::future::ready(Err(refusal))),
        }
    });
    decided.map(|decided| {
        Ok(match decided {
            Ok(answer) => write(answer.into_inner()),
            Err(status) => status.into_http(),
        })
    })
}

/// The one message of the request.
async fn read<B>(body: B) -> Result<DecideRequest, Status>
where
    B: codegen::Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    let decoder = codec().decoder();
    let mut messages = Streaming::new_request(decoder, body, None, Some(LARGEST_MESSAGE_BYTES));
    let message = messages.message().await?;
    message.ok_or_else(|| Status::internal("the request has no message"))
}

fn write(answer: DecideResponse) -> http::Response<Body> {
    let body = EncodeBody::new_server(
        codec().encoder(),
        tokio_stream::once(Ok(answer)),
        None,
        SingleMessageCompressionOverride::default(),
        Some(LARGEST_MESSAGE_BYTES),
    );
    let mut response = http::Response::new(Body::new(body));
    let headers = response.headers_mut();
    headers.insert(http::header::CONTENT_TYPE, GRPC_CONTENT_TYPE);
    response
}

fn codec() -> ProstCodec<DecideResponse, DecideRequest> {
    ProstCodec::default()
}
