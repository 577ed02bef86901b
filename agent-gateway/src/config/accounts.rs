//! What a provider says of the accounts of its keys. Refuses what would count the limits of one
//! account in two places, or a key in two accounts. Called by `config.rs` and `provider.rs`.

use agon_service_kit::secrets::without_what_looks_like_keys;

use crate::catalogue::ProviderConfig;
use crate::keys::KeyEntry;

/// A longer name would fill the status.
const LONGEST_NAME: usize = 40;

/// Whether the entries of one provider make sense together.
pub(super) fn check_entries(entries: &[KeyEntry]) -> Result<(), String> {
    for (place, entry) in entries.iter().enumerate() {
        if let Some(account) = &entry.account {
            let is_name = !account.trim().is_empty()
                && account.chars().count() <= LONGEST_NAME
                && !account.chars().any(char::is_control)
                && without_what_looks_like_keys(account) == *account;
            if !is_name {
                return Err(format!(
                    "account must be a name on one line of at most {LONGEST_NAME} characters, and \
                     no key"
                ));
            }
        }
        let twice = entries[..place]
            .iter()
            .find(|earlier| earlier.source == entry.source && earlier.account != entry.account);
        if let Some(earlier) = twice {
            return Err(format!(
                "the key in {} is named twice, {} and {}: it can share the limits of one account \
                 only",
                entry.source,
                told(earlier),
                told(entry)
            ));
        }
    }
    Ok(())
}

fn told(entry: &KeyEntry) -> String {
    match &entry.account {
        Some(account) => format!("under account {account:?}"),
        None => "without an account".to_owned(),
    }
}

/// Whether two providers of a file name the same key of the same server: its limits are counted by
/// provider, so that the key would have them twice.
pub(super) fn check_keys(provider: &ProviderConfig, other: &ProviderConfig) -> Result<(), String> {
    if (provider.kind, &provider.base_url) != (other.kind, &other.base_url) {
        return Ok(());
    }
    let mut keys = provider.keys.iter();
    let theirs = |key: &&KeyEntry| other.keys.iter().any(|other| other.source == key.source);
    match keys.find(theirs) {
        None => Ok(()),
        Some(key) => Err(format!(
            "the key in {} would have its limits twice: provider {:?} names it too, at the same \
             address; name it under one provider",
            key.source, other.name
        )),
    }
}

/// Whether a provider and another one name the same account of the same server: limits are
/// counted by provider, so that the account would have them twice, or two that contradict.
pub(super) fn check_beside(
    provider: &ProviderConfig,
    other: &ProviderConfig,
) -> Result<(), String> {
    if provider.name == other.name || provider.base_url != other.base_url {
        return Ok(());
    }
    let accounts = provider.keys.iter().filter_map(|key| key.account.as_ref());
    let theirs = |account: &&String| {
        let mut keys = other.keys.iter();
        keys.any(|key| key.account.as_ref() == Some(*account))
    };
    let Some(account) = accounts.into_iter().find(theirs) else {
        return Ok(());
    };
    let problem = match provider.limits == other.limits {
        true => "would have its limits twice",
        false => "has limits that contradict each other",
    };
    Err(format!(
        "account {account:?} {problem}: provider {:?} names it too, at the same address; name all \
         keys of an account under one provider",
        other.name
    ))
}
