//! Says where the answers of each model come from, or which built-in player stands where `--model` would
//! put one. Called when an experiment was handed in.

use agon_agent_gateway::catalogue::ProviderKind;
use agon_engine::spec::SIMULATED_ENDPOINT;
use agon_proto::v1::ModelOrigin;

use crate::experiment_arguments::{CheckedExperiment, SUBJECT};
use crate::output;

/// One line for each model; without any, one for the player that plays in the place of one.
pub fn tell(checked: &CheckedExperiment, origins: &[ModelOrigin]) {
    origins.iter().for_each(tell_one);
    if let Some(rule) = stand_in(checked) {
        output::tell(&format!(
            "player {SUBJECT} plays the built-in strategy {rule}; --model NAME puts a model in its place"
        ));
    }
}

/// The strategy of the rule player in the place that a file keeps for a model, if no model plays.
fn stand_in(checked: &CheckedExperiment) -> Option<&str> {
    let document = &checked.document;
    let is_kept = checked.models.is_empty() && !document.model.is_empty();
    let subject = document.players.get(SUBJECT).filter(|_| is_kept)?;
    subject.get("strategy")?.as_str()
}

fn tell_one(origin: &ModelOrigin) {
    let (model, name, endpoint) = (&origin.model, &origin.provider_model, &origin.endpoint);
    output::tell(&match endpoint.as_str() {
        SIMULATED_ENDPOINT => format!("model {model}: simulated in this process"),
        _ if origin.provider_kind == ProviderKind::Door.name() => {
            format!("model {model}: answered at the door {name}")
        }
        endpoint if name == model => format!("model {model}: asked at {endpoint}"),
        endpoint => format!("model {model}: asked as {name} at {endpoint}"),
    });
}
