//! How the service stands in its surroundings: over a socket, under its spans,
//! with messages larger than gRPC allows by itself.

use std::sync::Arc;
use std::time::Duration;

use agon_agent_gateway::providers::Scripted;
use agon_proto::v1::agent_gateway_service_client::AgentGatewayServiceClient;
use agon_proto::v1::{ForgetSessionRequest, ListDecisionsRequest};
use agon_service_kit::server::LARGEST_MESSAGE_BYTES;
use agon_service_kit::server::{Listener, channel, serve};
use agon_service_kit::tasks::Tasks;
use tonic::Code;
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
async fn forgetting_many_sessions_is_bounded_and_decisions_come_in_between() {
    let (gateway, _folder) = embedded(config(""), Arc::new(Scripted::echo())).await;
    let client = client(&gateway);
    let forget = |sessions: usize, length: usize| {
        let id = |number| format!("{number:0length$}");
        let session_ids = (0..sessions).map(id).collect();
        let mut client = client.clone();
        async move {
            let request = ForgetSessionRequest { session_ids };
            client.forget_session(request).await.map(drop)
        }
    };
    for (sessions, length) in [(10_001, 32), (1_000_000, 32), (1, 1_025)] {
        let refused = forget(sessions, length).await.unwrap_err();
        assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
    }
    let mut deciding = client.clone();
    let (forgotten, decided) =
        tokio::join!(forget(10_000, 32), deciding.decide(request("s", 0, "hi")));
    forgotten.unwrap();
    decided.unwrap();
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
