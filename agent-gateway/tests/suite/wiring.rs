//! How the service stands in its surroundings: over a socket, under its spans,
//! with messages larger than gRPC allows by itself.

use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::providers::Scripted;
use agon_proto::v1::ListDecisionsRequest;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use agon_service_kit::server::{Listener, channel, serve};
use agon_service_kit::tasks::Tasks;
use tonic::service::Routes;

use crate::support::{capture_log, client, config, embedded, request};

#[tokio::test]
async fn service_answers_over_a_socket_and_lists_more_than_tonic_allows_by_itself() {
    let (gateway, _folder) = embedded(config(""), Arc::new(Scripted::echo())).await;
    let tasks = Tasks::new();
    let listener = Listener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}", listener.local_addr());
    serve(&tasks, "gateway", listener, Routes::new(gateway.service()));

    let mut client = AgentGatewayServiceClient::new(channel(&uri).unwrap())
        .max_decoding_message_size(LARGEST_MESSAGE_BYTES);
    let long = "x".repeat(1_000_000);
    for index in 0..6 {
        client.decide(request("s", index, &long)).await.unwrap();
    }
    let list = ListDecisionsRequest {
        session_id: "s".to_owned(),
    };
    let listed = client.list_decisions(list).await.unwrap().into_inner();
    assert_eq!(listed.decisions.len(), 6);
    tasks.shutdown(Duration::from_secs(5)).await.unwrap();
}

#[tokio::test]
async fn provider_call_is_a_child_of_its_decision() {
    let (log, _guard) = capture_log();
    let (gateway, _folder) = embedded(config(""), Arc::new(Scripted::echo())).await;
    client(&gateway)
        .decide(request("s", 3, "hi"))
        .await
        .unwrap();
    let text = log.text();
    let call = text
        .lines()
        .find(|line| line.contains("provider_call{"))
        .unwrap();
    for part in [
        "decision{experiment_id=\"e\" session_id=\"s\" seat=0 decision=3",
        ":provider_call{provider=\"p\" model=m key_source=no key}",
    ] {
        assert!(call.contains(part), "{call}");
    }
    assert!(call.find("decision{") < call.find("provider_call{"));
}
