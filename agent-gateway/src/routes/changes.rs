//! What differs between two configurations, in a few words each, for the one
//! line that the log gets. Names things, never their secrets. Called by
//! `adopting.rs`.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::catalogue::{ProviderConfig, ResolvedModel};
use crate::config::GatewayConfig;
use crate::keys::KeyPool;

/// Differences of what the file says.
pub(super) fn of_config(before: &GatewayConfig, after: &GatewayConfig) -> Vec<String> {
    let mut changed = Vec::new();
    let names: BTreeSet<&str> = before
        .provider_names()
        .chain(after.provider_names())
        .collect();
    for name in names {
        let pair = (before.provider(name), after.provider(name));
        changed.extend(of_pair(&format!("provider {name}"), pair, |old, new| {
            of_provider(old, new)
        }));
    }
    let names: BTreeSet<&str> = before.model_names().chain(after.model_names()).collect();
    for name in names {
        let of = |config: &GatewayConfig| {
            let listed = config.model_names().any(|listed| listed == name);
            let resolved = listed.then(|| config.resolve_without_keys(name).ok());
            resolved.flatten()
        };
        let (old, new) = (of(before), of(after));
        let pair = (old.as_ref(), new.as_ref());
        changed.extend(of_pair(&format!("model {name}"), pair, of_model));
    }
    let teams = |config: &GatewayConfig| -> BTreeSet<String> {
        config.teams().map(|team| team.name.clone()).collect()
    };
    let (old_teams, new_teams) = (teams(before), teams(after));
    for name in old_teams.union(&new_teams) {
        let of = |config: &GatewayConfig, names: &BTreeSet<String>| {
            names.contains(name).then(|| config.team(name))
        };
        let (old, new) = (of(before, &old_teams), of(after, &new_teams));
        let pair = (old.as_ref(), new.as_ref());
        changed.extend(of_pair(&format!("team {name}"), pair, |old, new| {
            differs(old == new, "terms")
        }));
    }
    let same = [
        ("patience", before.patience() == after.patience()),
        ("prices", before.has_prices_of(after)),
        (
            "content_cache_for",
            before.content_cache_for() == after.content_cache_for(),
        ),
    ];
    changed.extend(
        same.iter()
            .filter(|(_, same)| !same)
            .map(|(what, _)| (*what).to_owned()),
    );
    changed
}

/// Differences of the keys that were found.
pub(super) fn of_keys(before: &KeyPool, after: &KeyPool) -> Option<String> {
    let ids = |pool: &KeyPool| -> BTreeSet<_> {
        let keys = pool.keys();
        keys.iter().map(|key| key.id.clone()).collect()
    };
    let (old, new) = (ids(before), ids(after));
    let (came, left) = (new.difference(&old).count(), old.difference(&new).count());
    let provider = &before.provider;
    (came + left > 0).then(|| format!("keys of {provider}: {came} came, {left} left"))
}

fn of_pair<T>(
    what: &str,
    pair: (Option<&T>, Option<&T>),
    differences: impl Fn(&T, &T) -> Vec<&'static str>,
) -> Option<String> {
    match pair {
        (None, Some(_)) => Some(format!("{what} added")),
        (Some(_), None) => Some(format!("{what} removed")),
        (Some(old), Some(new)) => {
            let differences = differences(old, new);
            (!differences.is_empty()).then(|| format!("{what}: {}", differences.join(", ")))
        }
        (None, None) => None,
    }
}

fn of_provider(old: &Arc<ProviderConfig>, new: &Arc<ProviderConfig>) -> Vec<&'static str> {
    let mut changed = differs(old.keys == new.keys, "keys");
    changed.extend(differs(old.limits == new.limits, "limits"));
    changed.extend(differs(
        (&old.base_url, old.kind) == (&new.base_url, new.kind),
        "address",
    ));
    if changed.is_empty() && old != new {
        changed.push("settings");
    }
    changed
}

/// What a model's provider is like is told with the provider.
fn of_model(old: &ResolvedModel, new: &ResolvedModel) -> Vec<&'static str> {
    let mut changed = differs(old.provider.name == new.provider.name, "provider");
    changed.extend(differs(old.limits == new.limits, "limits"));
    changed.extend(differs(old.prices == new.prices, "price"));
    let others = |model: &ResolvedModel| ResolvedModel {
        provider: Arc::clone(&old.provider),
        limits: old.limits,
        prices: old.prices.clone(),
        ..model.clone()
    };
    changed.extend(differs(others(old) == others(new), "settings"));
    changed
}

fn differs(same: bool, what: &'static str) -> Vec<&'static str> {
    if same { Vec::new() } else { vec![what] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> GatewayConfig {
        GatewayConfig::parse("test.toml", text).unwrap()
    }

    #[test]
    fn each_difference_is_named_and_nothing_else() {
        let before = config(
            "[providers.lab]\nbase_url = 'http://a/v1'\nlimits = { requests_per_minute = 60 }\n\
             [models.m]\nprovider = 'lab'\n[models.n]\nprovider = 'lab'\n\
             [teams.red]\nweight = 3\n",
        );
        assert_eq!(of_config(&before, &before), Vec::<String>::new());
        let after = config(
            "[providers.lab]\nbase_url = 'http://a/v1'\nlimits = { requests_per_minute = 90 }\n\
             timeout = '9s'\n\
             [models.m]\nprovider = 'lab'\nmax_output_tokens = 9\n[models.o]\nprovider = 'lab'\n\
             [teams.red]\nweight = 1\n[gateway]\npatience = '1s'\n",
        );
        let expected = [
            "provider lab: limits",
            "model m: settings",
            "model n removed",
            "model o added",
            "team red: terms",
            "patience",
        ];
        assert_eq!(of_config(&before, &after), expected);
    }
}
