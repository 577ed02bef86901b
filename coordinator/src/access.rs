//! Which scopes the coordinator's calls take. A call that is not here is refused wherever there are
//! tokens. Used by whoever opens the door.

use agon_identity::gate::{Rule, Rules};
use agon_identity::scope::Scope::{Admin, Read, Submit, Worker};

/// Both services.
pub const RULES: Rules = &[
    (
        "/agon.v1.ExperimentService/SubmitExperiment",
        Rule::of(&[Submit]).audited(),
    ),
    (
        "/agon.v1.ExperimentService/WatchExperiment",
        Rule::of(&[Read, Admin]).streaming(),
    ),
    (
        "/agon.v1.ExperimentService/FetchRecords",
        Rule::of(&[Read, Admin]).streaming(),
    ),
    (
        "/agon.v1.ExperimentService/CancelExperiment",
        Rule::of(&[Submit, Admin]).audited(),
    ),
    (
        "/agon.v1.ExperimentService/PauseExperiment",
        Rule::of(&[Submit, Admin]).audited(),
    ),
    (
        "/agon.v1.ExperimentService/RetrySessions",
        Rule::of(&[Submit, Admin]).audited(),
    ),
    (
        "/agon.v1.ExperimentService/ResumeExperiment",
        Rule::of(&[Submit, Admin]).audited(),
    ),
    (
        "/agon.v1.ExperimentService/ListExperiments",
        Rule::of(&[Read, Admin]),
    ),
    (
        "/agon.v1.ExperimentService/GetExperiment",
        Rule::of(&[Read, Admin]),
    ),
    (
        "/agon.v1.ExperimentService/DeleteExperiment",
        Rule::of(&[Submit, Admin]).audited(),
    ),
    (
        "/agon.v1.SessionLeaseService/WorkSessions",
        Rule::of(&[Worker]).streaming(),
    ),
    (
        "/agon.v1.SessionLeaseService/GetPromptBundle",
        Rule::of(&[Worker, Read, Admin]),
    ),
];
