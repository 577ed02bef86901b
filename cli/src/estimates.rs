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
        reasons: agent.reasons,
        own_prompts: agent.own_prompts,
    }
}
