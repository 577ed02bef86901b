//! How each team stands: its weight, who waits, what it got and what it was
//! refused. Teams that are configured are there from the start, others once they
//! have asked. Called by `service.rs` and `gauges.rs`.

use std::collections::BTreeMap;
use std::time::Duration;

use agon_proto::v1::TeamStatus;
use agon_service_kit::clock::millis;

use crate::budgets::store::BudgetScope;
use crate::deciding::Decider;

/// All teams, in order of name.
pub(crate) fn of(decider: &Decider) -> Vec<TeamStatus> {
    let config = decider.routes.config();
    let mut teams: BTreeMap<String, TeamStatus> = BTreeMap::new();
    for team in config.teams() {
        teams.entry(team.name.clone()).or_default();
    }
    for (name, numbers) in decider.tallies.teams() {
        let team = teams.entry(name.to_string()).or_default();
        team.in_flight = numbers.in_flight;
        team.decided = numbers.decided;
        team.refused_by_provider = numbers.refused;
    }
    for (name, (calls, longest)) in waiting(decider) {
        let team = teams.entry(name).or_default();
        team.waiting = calls;
        team.longest_wait_ms = millis(longest);
    }
    let described = teams.into_iter().map(|(name, team)| {
        let terms = config.team(&name);
        TeamStatus {
            weight: terms.weight,
            budget_nanodollars: terms.budget.map(|budget| budget.0),
            team: name,
            ..team
        }
    });
    described.collect()
}

/// All teams with what they spent and what is held for their calls. A budget store that
/// is away is no reason to show nothing.
pub(crate) async fn with_money(decider: &Decider) -> Vec<TeamStatus> {
    let mut teams = of(decider);
    let config = decider.routes.config();
    let standings = decider
        .budgets
        .standings(config.team_budgets())
        .await
        .unwrap_or_default();
    for standing in standings {
        let BudgetScope::Team(name) = &standing.scope else {
            continue;
        };
        if let Some(team) = teams.iter_mut().find(|team| team.team == *name) {
            team.spent_nanodollars = standing.spent.0;
            team.reserved_nanodollars = standing.reserved.0;
        }
    }
    teams
}

/// Who waits over all lanes: calls, and the longest wait.
fn waiting(decider: &Decider) -> BTreeMap<String, (u64, Duration)> {
    let mut waiting: BTreeMap<String, (u64, Duration)> = BTreeMap::new();
    for lane in decider.routes.lanes() {
        for (team, calls, longest) in lane.line.waiting() {
            let sum = waiting.entry(team.to_string()).or_default();
            *sum = (sum.0 + calls, sum.1.max(longest));
        }
    }
    waiting
}
