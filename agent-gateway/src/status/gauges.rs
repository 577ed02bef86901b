//! Brings the gauges up to date every few seconds: what is not counted as it
//! happens but looked up, such as the use of limits and the length of queues.
//! What is there no more is set to 0 once. Run by `gateway.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use agon_proto::v1::KeyStatus;

use super::{keys, teams};
use crate::deciding::Decider;
use crate::metrics::{self, KeyLabels};

/// A scrape every 15 s sees a fresh number; the store hardly notices.
const EVERY: Duration = Duration::from_secs(5);

/// What was shown last.
#[derive(Default)]
pub(crate) struct Gauges {
    teams: BTreeSet<String>,
    limits: BTreeSet<(KeyLabels, String)>,
    keys: BTreeSet<KeyLabels>,
}

impl Gauges {
    /// Refreshes until dropped.
    pub async fn run(mut self, decider: Arc<Decider>) {
        loop {
            tokio::time::sleep(EVERY).await;
            self.show_teams(&decider).await;
            // A store that is away has its own gauge; the others keep their value.
            if let Ok(rows) = keys::of(&decider).await {
                self.show_keys(&rows);
            }
        }
    }

    async fn show_teams(&mut self, decider: &Decider) {
        let mut waiting: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for team in teams::with_money(decider).await {
            if let Some(budget) = team.budget_nanodollars {
                let used = team.spent_nanodollars + team.reserved_nanodollars;
                metrics::set_budget_used(&team.team, used as f64 / budget.max(1) as f64);
            }
            // Teams that share a label are shown together.
            let label = metrics::labels::team(&team.team);
            let sum = waiting.entry(label).or_default();
            *sum = (sum.0 + team.waiting, sum.1.max(team.longest_wait_ms));
        }
        for label in std::mem::take(&mut self.teams) {
            waiting.entry(label).or_default();
        }
        for (label, (calls, longest_ms)) in waiting {
            metrics::set_queue(&label, calls, Duration::from_millis(longest_ms));
            self.teams.insert(label);
        }
    }

    fn show_keys(&mut self, rows: &[KeyStatus]) {
        let (mut limits, mut seen) = (BTreeSet::new(), BTreeSet::new());
        for row in rows {
            let labels = KeyLabels {
                provider: row.provider.clone(),
                key: row.source.clone(),
                model: row.model.clone(),
            };
            for limit in &row.limits {
                let used = limit.used as f64 / limit.limit.max(1) as f64;
                metrics::set_utilisation(&labels, &limit.name, used);
                limits.insert((labels.clone(), limit.name.clone()));
            }
            show_key(&labels, Some(row));
            seen.insert(labels);
        }
        for (labels, limit) in self.limits.difference(&limits) {
            metrics::set_utilisation(labels, limit, 0.0);
        }
        for labels in self.keys.difference(&seen) {
            show_key(labels, None);
        }
        (self.limits, self.keys) = (limits, seen);
    }
}

/// A key that is there no more is neither held nor out of use.
fn show_key(labels: &KeyLabels, row: Option<&KeyStatus>) {
    if labels.model.is_empty() {
        let out = row.is_some_and(|row| !row.quarantine_reason.is_empty());
        metrics::set_out_of_use(&labels.provider, &labels.key, out);
        return;
    }
    let held = Duration::from_millis(row.map_or(0, |row| row.held_for_ms));
    let circuit = match row.map_or("", |row| row.circuit.as_str()) {
        "open" => 1.0,
        "half-open" => 0.5,
        _ => 0.0,
    };
    let places = row.map_or(0, |row| row.adaptive_places);
    metrics::set_lane_key(labels, held, circuit, places);
}
