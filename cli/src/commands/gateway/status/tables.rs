//! The status for people: teams as a table, then each key with its limits. No
//! line is longer than 80 columns; what comes from outside is cut. Called by
//! `status.rs`.

use std::collections::BTreeMap;

use agon_proto::v1::{GetGatewayStatusResponse, KeyStatus, LearntRefusal, LimitStatus, TeamStatus};
use agon_report::grouped;

/// Narrow enough for any terminal.
const WIDTH: usize = 80;

/// Of the widest column that holds a name.
const NAME_WIDTH: usize = 14;

/// A dollar is so many billionths.
const NANODOLLARS: f64 = 1e9;

/// The whole status.
pub(super) fn of(status: &GetGatewayStatusResponse) -> String {
    let mut lines = vec![format!(
        "decided {}, {} more from the ledger, {} waiting, {} at providers, {}",
        grouped(status.decided),
        grouped(status.answered_from_ledger),
        grouped(status.waiting_for_quota),
        grouped(status.in_flight),
        dollars(status.cost_nanodollars),
    )];
    if !status.configuration_fault.is_empty() {
        lines.push("the configuration on disk is NOT in use:".to_owned());
        let parts = wrapped(&status.configuration_fault, WIDTH - 2);
        lines.extend(parts.iter().map(|part| format!("  {part}")));
    }
    if !status.teams.is_empty() {
        lines.push(String::new());
        lines.extend(teams(&status.teams));
    }
    for rows in by_key(&status.keys).values() {
        lines.push(String::new());
        lines.extend(key(rows));
    }
    if !status.learnt.is_empty() {
        lines.push(String::new());
        lines.push("left out because the provider refused it:".to_owned());
        lines.extend(status.learnt.iter().flat_map(learnt));
    }
    let lines: Vec<String> = lines
        .iter()
        .map(|line| cut(line.trim_end(), WIDTH))
        .collect();
    lines.join("\n")
}

fn learnt(learnt: &LearntRefusal) -> Vec<String> {
    let (provider, model) = (&learnt.provider, &learnt.provider_model);
    let left = seconds(learnt.expires_in_ms);
    let mut lines = vec![format!(
        "  {} of {provider}/{model}, for {left} more",
        learnt.parameter
    )];
    let reason = wrapped(&learnt.reason, WIDTH - 4);
    lines.extend(reason.iter().map(|part| format!("    {part}")));
    lines
}

fn teams(teams: &[TeamStatus]) -> Vec<String> {
    let row = |cells: [&str; 8]| {
        let [
            team,
            weight,
            waiting,
            longest,
            calling,
            decided,
            refused,
            spent,
        ] = cells;
        let team = cut(team, NAME_WIDTH);
        format!(
            "{team:<NAME_WIDTH$} {weight:>6} {waiting:>8} {longest:>8} {calling:>8} {decided:>9} {refused:>8} {spent:>11}"
        )
    };
    let mut rows = vec![row([
        "team", "weight", "waiting", "longest", "calling", "decided", "refused", "spent",
    ])];
    for team in teams {
        rows.push(row([
            &team.team,
            &team.weight.to_string(),
            &grouped(team.waiting),
            &seconds(team.longest_wait_ms),
            &grouped(team.in_flight),
            &grouped(team.decided),
            &grouped(team.refused_by_provider),
            &dollars(team.spent_nanodollars),
        ]));
        if let Some(budget) = team.budget_nanodollars {
            rows.push(format!(
                "  of its budget of {}: {} spent, {} reserved for calls under way",
                dollars(budget),
                dollars(team.spent_nanodollars),
                dollars(team.reserved_nanodollars)
            ));
        }
    }
    rows
}

/// One key's rows: the key over all models first, then each model.
fn by_key(keys: &[KeyStatus]) -> BTreeMap<(&str, &str), Vec<&KeyStatus>> {
    let mut grouped: BTreeMap<_, Vec<&KeyStatus>> = BTreeMap::new();
    for key in keys {
        let rows = grouped.entry((key.provider.as_str(), key.source.as_str()));
        rows.or_default().push(key);
    }
    grouped
}

fn key(rows: &[&KeyStatus]) -> Vec<String> {
    let mut lines = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        if place == 0 {
            lines.push(match row.source.as_str() {
                "no key" => format!("{}: no key", row.provider),
                // Where keys come from is for those who run the gateway.
                "" => row.provider.clone(),
                source => format!("{}: key from {source}", row.provider),
            });
            if !row.account.is_empty() {
                lines.push(format!("  shares the limits of account {}", row.account));
            }
        }
        let over_all = row.model.is_empty();
        let indent = if over_all {
            lines.push(format!(
                "  {} calling, {} calls, {} refused, {} failed",
                grouped(row.in_flight),
                grouped(row.calls),
                grouped(row.refused_by_provider),
                grouped(row.failed)
            ));
            "  "
        } else {
            lines.push(format!("  model {}: {}", cut(&row.model, 40), state(row)));
            "    "
        };
        if over_all && !row.quarantine_reason.is_empty() {
            lines.push(format!("{indent}OUT OF USE: {}", row.quarantine_reason));
            let soon = match row.next_probe_ms {
                0 => "with the next call".to_owned(),
                wait => format!("in {}", seconds(wait)),
            };
            lines.push(format!(
                "{indent}next try {soon}; `agon gateway revive` puts it back at once"
            ));
        }
        lines.extend(row.limits.iter().map(|limit| self::limit(indent, limit)));
        if !row.errors.is_empty() {
            let kinds: BTreeMap<_, _> = row.errors.iter().collect();
            let kinds = kinds.iter().map(|(kind, count)| format!("{kind} {count}"));
            let kinds: Vec<String> = kinds.collect();
            lines.push(format!("{indent}errors: {}", kinds.join(", ")));
        }
        if !row.last_error.is_empty() {
            lines.push(format!("{indent}last error: {}", row.last_error));
        }
    }
    lines
}

fn state(row: &KeyStatus) -> String {
    let mut words = Vec::new();
    if row.held_for_ms > 0 {
        words.push(format!("held for {}", seconds(row.held_for_ms)));
    }
    if !row.circuit.is_empty() {
        words.push(format!("circuit {}", row.circuit));
    }
    if words.is_empty() {
        words.push("ready".to_owned());
    }
    if row.adaptive_places > 0 {
        words.push(format!("{} places", row.adaptive_places));
    }
    words.join(", ")
}

fn limit(indent: &str, limit: &LimitStatus) -> String {
    let share = match limit.limit {
        0 => String::new(),
        most => format!("{} %", (limit.used * 100 + most / 2) / most),
    };
    let lowered = if limit.lowered_by_provider {
        "  lowered by provider"
    } else {
        ""
    };
    format!(
        "{indent}{:<17} {:>11} of {:>11} {share:>6}{lowered}",
        limit.name,
        grouped(limit.used),
        grouped(limit.limit)
    )
}

fn seconds(milliseconds: u64) -> String {
    match milliseconds {
        0 => "-".to_owned(),
        short if short < 100_000 => format!("{:.1} s", short as f64 / 1_000.0),
        long => format!("{} min", long / 60_000),
    }
}

fn dollars(nanodollars: u64) -> String {
    let dollars = nanodollars as f64 / NANODOLLARS;
    if nanodollars == 0 {
        "$0".to_owned()
    } else if dollars < 1.0 {
        format!("${dollars:.6}")
    } else {
        format!("${dollars:.2}")
    }
}

/// At most so many characters, with a sign that there were more.
fn cut(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let kept: String = text.chars().take(most.saturating_sub(1)).collect();
    format!("{kept}…")
}

fn wrapped(text: &str, most: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > most {
            lines.push(std::mem::take(&mut line));
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines
}

#[cfg(test)]
mod tests;
