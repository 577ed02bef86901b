//! Which scopes the gateway's calls take, over gRPC and over HTTP. A call that is not here is refused
//! wherever there are tokens. Used by whoever opens the doors.

use agon_identity::gate::{Rule, Rules};
use agon_identity::scope::Scope::{Admin, Coordinator, Play, Read, Submit, Worker};

/// The gRPC service.
pub const RULES: Rules = &[
    ("/agon.v1.AgentGatewayService/Decide", Rule::of(&[Worker])),
    (
        "/agon.v1.AgentGatewayService/DescribeModels",
        Rule::of(&[Coordinator]),
    ),
    (
        "/agon.v1.AgentGatewayService/ForgetSession",
        Rule::of(&[Coordinator]),
    ),
    (
        "/agon.v1.AgentGatewayService/ListDecisions",
        Rule::of(&[Admin]),
    ),
    (
        "/agon.v1.AgentGatewayService/ListCosts",
        Rule::of(&[Read, Coordinator, Admin]),
    ),
    (
        "/agon.v1.AgentGatewayService/GetGatewayStatus",
        Rule::of(&[Read, Admin]),
    ),
    (
        "/agon.v1.AgentGatewayService/WatchDoor",
        Rule::of(&[Play]).streaming(),
    ),
    (
        "/agon.v1.AgentGatewayService/AnswerAtDoor",
        Rule::of(&[Play]),
    ),
    (
        "/agon.v1.AgentGatewayService/ForgetLearnt",
        Rule::of(&[Admin]).audited(),
    ),
    (
        "/agon.v1.AgentGatewayService/ReviveKeys",
        Rule::of(&[Admin]).audited(),
    ),
];

/// The HTTP door, by route.
pub const HTTP_RULES: Rules = &[
    ("/v1/chat/completions", Rule::of(&[Submit])),
    ("/v1/models", Rule::of(&[Read, Play])),
    ("/v1/models/{*id}", Rule::of(&[Read, Play])),
    ("/v1/doors/{name}/asks", Rule::of(&[Play])),
    ("/v1/doors/{name}/answers", Rule::of(&[Play])),
];
