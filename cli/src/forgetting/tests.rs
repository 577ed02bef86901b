//! Forgetting against a gateway of our own that refuses at first and notes what
//! it is told.

use std::sync::Mutex;
use std::time::Duration;

use agon_proto::v1::agent_gateway_service_server::{
    AgentGatewayService, AgentGatewayServiceServer,
};
use agon_proto::v1::{
    AnswerAtDoorRequest, AnswerAtDoorResponse, DecideRequest, DecideResponse,
    DescribeModelsRequest, DescribeModelsResponse, ForgetLearntRequest, ForgetLearntResponse,
    ForgetSessionResponse, GetGatewayStatusRequest, GetGatewayStatusResponse, ListCostsRequest,
    ListCostsResponse, ListDecisionsRequest, ListDecisionsResponse, ReviveKeysRequest,
    ReviveKeysResponse, WatchDoorRequest, WatchDoorResponse,
};
use agon_worker::transport;
use tokio::sync::watch;
use tonic::{Request, Response};

use super::*;

/// Refuses so many times, then notes every session.
struct Gateway {
    refusals: Mutex<u32>,
    told: watch::Sender<Vec<String>>,
}

#[tonic::async_trait]
impl AgentGatewayService for Gateway {
    async fn forget_session(
        &self,
        request: Request<ForgetSessionRequest>,
    ) -> Result<Response<ForgetSessionResponse>, Status> {
        let mut refusals = self.refusals.lock().unwrap();
        if *refusals > 0 {
            *refusals -= 1;
            return Err(Status::unavailable("not yet"));
        }
        let sessions = request.into_inner().session_ids;
        assert!(sessions.len() <= 2 * BATCH);
        self.told.send_modify(|told| told.extend(sessions));
        Ok(Response::new(ForgetSessionResponse {}))
    }

    async fn decide(&self, _: Request<DecideRequest>) -> Result<Response<DecideResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn describe_models(
        &self,
        _: Request<DescribeModelsRequest>,
    ) -> Result<Response<DescribeModelsResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn list_decisions(
        &self,
        _: Request<ListDecisionsRequest>,
    ) -> Result<Response<ListDecisionsResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn get_gateway_status(
        &self,
        _: Request<GetGatewayStatusRequest>,
    ) -> Result<Response<GetGatewayStatusResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn forget_learnt(
        &self,
        _: Request<ForgetLearntRequest>,
    ) -> Result<Response<ForgetLearntResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn revive_keys(
        &self,
        _: Request<ReviveKeysRequest>,
    ) -> Result<Response<ReviveKeysResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn list_costs(
        &self,
        _: Request<ListCostsRequest>,
    ) -> Result<Response<ListCostsResponse>, Status> {
        Err(Status::unimplemented(""))
    }

    type WatchDoorStream = tonic::codegen::BoxStream<WatchDoorResponse>;

    async fn watch_door(
        &self,
        _: Request<WatchDoorRequest>,
    ) -> Result<Response<Self::WatchDoorStream>, Status> {
        Err(Status::unimplemented(""))
    }

    async fn answer_at_door(
        &self,
        _: Request<AnswerAtDoorRequest>,
    ) -> Result<Response<AnswerAtDoorResponse>, Status> {
        Err(Status::unimplemented(""))
    }
}

/// A hook to a gateway that refuses so often, and what the gateway is told.
fn forgetting(refusals: u32) -> (Tasks, OnStored, watch::Receiver<Vec<String>>) {
    let (told, heard) = watch::channel(Vec::new());
    let refusals = Mutex::new(refusals);
    let gateway = AgentGatewayServiceServer::new(Gateway { refusals, told });
    let tasks = Tasks::new();
    let hook = forget_at(transport::into_service(gateway), &tasks);
    (tasks, hook, heard)
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("s{number}")).collect()
}

#[tokio::test]
async fn gateway_is_told_at_once_and_again_until_it_understands() {
    let (_tasks, hook, mut heard) = forgetting(2);
    let sessions = names(BATCH + 1);
    for session in &sessions {
        hook(std::slice::from_ref(session));
    }
    let all = heard.wait_for(|told| told.len() == sessions.len()).await;
    assert_eq!(*all.unwrap(), sessions);
}

#[tokio::test]
async fn what_is_left_at_shutdown_is_still_sent() {
    let (tasks, hook, heard) = forgetting(0);
    let sessions = names(2 * BATCH + 1);
    for session in &sessions {
        // Nothing has been sent yet: this runtime has one thread.
        hook(std::slice::from_ref(session));
    }
    tasks.shutdown(Duration::from_secs(20)).await.unwrap();
    assert_eq!(*heard.borrow(), sessions);
}
