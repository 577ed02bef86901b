//! Asks a gateway where the answers of models come from, for a coordinator that takes
//! experiments in. Made by the roles that run one.

use std::sync::Arc;

use agon_coordinator::DescribeModels;
use agon_proto::v1::DescribeModelsRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_service_kit::status::{ErrorClass, to_status};
use agon_worker::Transport;
use futures_util::FutureExt as _;
use tonic::Status;

/// The hook for a coordinator.
pub fn describe_at(gateway: Transport) -> DescribeModels {
    let client = AgentGatewayServiceClient::new(gateway);
    Arc::new(move |models| {
        let mut client = client.clone();
        async move {
            let request = DescribeModelsRequest { models };
            let described = client
                .describe_models(request)
                .await
                .map_err(of_coordinator)?;
            Ok(described.into_inner().origins)
        }
        .boxed()
    })
}

/// A refusal of the coordinator's own token, told from one of the caller's: that one was accepted, and
/// another would not help.
fn of_coordinator(refusal: Status) -> Status {
    match ErrorClass::of(&refusal) {
        ErrorClass::Unauthenticated | ErrorClass::Forbidden => to_status(
            ErrorClass::Conflict,
            format!(
                "the gateway does not let the coordinator in ({}): start the coordinator with a token \
                 of its own, `agon token create --scope coordinator`, in AGON_TOKEN_FILE",
                refusal.message()
            ),
        ),
        _ => refusal,
    }
}

#[cfg(test)]
mod tests {
    use tonic::Code;

    use super::*;

    #[test]
    fn token_of_the_coordinator_is_told_from_that_of_who_asks() {
        for refusal in [
            Status::unauthenticated("no token"),
            Status::permission_denied("not yours"),
        ] {
            let told = of_coordinator(refusal);
            assert_eq!(told.code(), Code::FailedPrecondition);
            assert!(
                told.message().contains("let the coordinator in (no"),
                "{told}"
            );
            assert!(told.message().contains("--scope coordinator"), "{told}");
        }
        let other = of_coordinator(Status::not_found("no model \"x\""));
        assert_eq!(
            (other.code(), other.message()),
            (Code::NotFound, "no model \"x\"")
        );
    }
}
