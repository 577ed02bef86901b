//! What plans are told of agents, which the coordinator does not know. Used by `agon plan`
//! and by the progress of runs.

use agon_agents::own_calls;
use agon_coordinator::experiment::{AgentPlan, Range, Table};
use agon_engine::PlayerSpec;

/// What a player's agent does at a table; nothing but answering, for one that does not exist.
pub fn agent_plan(player: &PlayerSpec, table: &Table) -> AgentPlan {
    let Some((agent, calls)) = own_calls(player) else {
        return AgentPlan::default();
    };
    let (expected, most) = calls.in_game(&agon_agents::Table {
        asks: table.asks,
        usual_asks: table.usual_asks,
        seats: table.seats,
        items: table.items,
        rounds: table.rounds,
    });
    AgentPlan {
        own_calls: Range { expected, most },
        own_calls_reason: calls.reason,
        reasons: agent.reasons || player.settings.get("explain") == Some(&true.into()),
        own_prompts: agent.own_prompts,
    }
}

#[cfg(test)]
mod tests {
    use agon_engine::PlayerKind;
    use agon_engine::spec::Settings;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn who_explains_its_answers_writes_long_ones() {
        let reasons = |settings: Value| {
            let settings: Settings = serde_json::from_value(settings).unwrap();
            let player = PlayerSpec {
                name: "alex".to_owned(),
                kind: PlayerKind::Model,
                settings,
            };
            agent_plan(&player, &Table::default()).reasons
        };
        assert!(!reasons(json!({ "model": "m" })));
        assert!(reasons(json!({ "model": "m", "explain": true })));
        assert!(!reasons(json!({ "model": "m", "explain": false })));
        assert!(reasons(
            json!({ "model": "m", "agent": "chain_of_thought" })
        ));
    }
}
