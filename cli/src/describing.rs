//! Asks a gateway where the answers of models come from, for a coordinator that takes
//! experiments in. Made by the roles that run one.

use std::sync::Arc;

use agon_coordinator::DescribeModels;
use agon_proto::v1::DescribeModelsRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_worker::Transport;
use futures_util::FutureExt as _;

/// The hook for a coordinator.
pub fn describe_at(gateway: Transport) -> DescribeModels {
    let client = AgentGatewayServiceClient::new(gateway);
    Arc::new(move |models| {
        let mut client = client.clone();
        async move {
            let request = DescribeModelsRequest { models };
            let described = client.describe_models(request).await?;
            Ok(described.into_inner().origins)
        }
        .boxed()
    })
}
