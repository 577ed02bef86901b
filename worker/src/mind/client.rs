//! The client of the gateway's one call that is waited for long. A hundred thousand of these may wait
//! in one worker, so what a call keeps meanwhile is small: the generated client keeps four kilobytes,
//! mostly room for what it needs once an answer is there.

use agon_proto::v1::{DecideRequest, DecideResponse};
use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use agon_service_kit::telemetry;
use futures_util::stream::{self, BoxStream};
use http::uri::PathAndQuery;
use tonic::client::Grpc;
use tonic::{Request, Status, Streaming};
use tonic_prost::ProstCodec;

use crate::transport::{Transport, TransportError};

/// `AgentGatewayService.Decide`.
const DECIDE: PathAndQuery = PathAndQuery::from_static("/agon.v1.AgentGatewayService/Decide");

/// Asks the gateway for decisions.
#[derive(Clone)]
pub struct GatewayClient(Grpc<Transport>);

impl GatewayClient {
    /// Over this transport.
    pub fn new(transport: Transport) -> Self {
        let client = Grpc::new(transport)
            .max_decoding_message_size(LARGEST_MESSAGE_BYTES)
            .max_encoding_message_size(LARGEST_MESSAGE_BYTES);
        Self(client)
    }

    /// Asks for a decision under the current span, and waits for it.
    ///
    /// # Errors
    /// The gateway refuses, or does not answer.
    pub fn decide(
        &mut self,
        request: DecideRequest,
    ) -> impl Future<Output = Result<DecideResponse, Status>> + Send {
        // Before anything waits: what waits has no room for the request then.
        let message: BoxStream<'static, DecideRequest> = Box::pin(stream::iter([request]));
        let mut request = Request::new(message);
        telemetry::inject_metadata(request.metadata_mut());
        async {
            let ready = self.0.ready().await;
            ready.map_err(|error: TransportError| Status::from_error(error.into()))?;
            let codec = ProstCodec::<DecideRequest, DecideResponse>::default();
            let answer = self.0.streaming(request, DECIDE, codec).await?.into_inner();
            Box::pin(only(answer)).await
        }
    }
}

/// The only message of an answer, read to its end: what comes after it may say that the call failed.
async fn only(mut answer: Streaming<DecideResponse>) -> Result<DecideResponse, Status> {
    let message = answer.message().await?;
    let message = message.ok_or_else(|| Status::internal("an answer without a message"))?;
    answer.trailers().await?;
    Ok(message)
}
