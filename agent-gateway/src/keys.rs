//! Keys: the pool of one provider with the state of each key. A value lives in a wrapper that cannot be printed and
//! leaves it only as a request header. Called by `config.rs`, `deciding.rs`
//! and `status.rs`.

mod entry;
mod quarantine;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_service_kit::secret_source::SecretSourceError;
use parking_lot::Mutex;
use secrecy::{ExposeSecret, SecretString};

pub use entry::{KeyEntry, KeyForm};
pub use quarantine::Quarantine;

/// Why a key could not be read.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// It is not where it is said to be, or it cannot be a key.
    #[error(transparent)]
    Source(#[from] SecretSourceError),
    /// It is no service account.
    #[error(
        "{key_source} holds no service account of Google's (JSON with a private_key and a token_uri)"
    )]
    NoAccount {
        /// Where it was found.
        key_source: String,
    },
    /// The same key is found elsewhere, under another account.
    #[error("the key in {key_source} is the key in {other}, which belongs to another account")]
    OfTwoAccounts {
        /// Where it was found.
        key_source: String,
        /// Where it was found before.
        other: String,
    },
}

/// The keys of one provider.
#[derive(Debug)]
pub struct KeyPool {
    /// The provider's name in the configuration.
    pub provider: String,
    keys: Vec<Arc<PooledKey>>,
}

impl KeyPool {
    /// A pool of the keys that can be read, and what is wrong with the others.
    /// Without any source the pool has one nameless key that is never sent,
    /// so that limits and holds work for keyless servers too.
    pub fn read(provider: &str, entries: &[KeyEntry]) -> (Self, Vec<KeyError>) {
        let mut keys: Vec<Arc<PooledKey>> = Vec::new();
        let mut errors = Vec::new();
        if entries.is_empty() {
            keys.push(Arc::new(PooledKey::new(
                provider,
                "no key".to_owned(),
                None,
                None,
            )));
        }
        for entry in entries {
            match entry.read() {
                Ok(secret) => {
                    let (source, account) = (entry.source.to_string(), entry.account.clone());
                    let key = PooledKey::new(provider, source, account, Some(secret));
                    // The same key under two names has one quota, not two.
                    match keys.iter().find(|known| known.id == key.id) {
                        None => keys.push(Arc::new(key)),
                        Some(known) if known.account != key.account => {
                            errors.push(KeyError::OfTwoAccounts {
                                key_source: key.source,
                                other: known.source.clone(),
                            });
                        }
                        Some(_) => {}
                    }
                }
                Err(error) => errors.push(error),
            }
        }
        (
            Self {
                provider: provider.to_owned(),
                keys,
            },
            errors,
        )
    }

    /// These keys, each with the past that it has in another pool: its numbers
    /// and its quarantine. A key that is not in there has none.
    pub fn with_past_of(self, before: &KeyPool) -> Self {
        let keys = self.keys.iter().map(|key| {
            let known = before.keys.iter().find(|known| known.id == key.id);
            known.map_or_else(
                || Arc::clone(key),
                |known| Arc::new(key.with_past_of(known)),
            )
        });
        Self {
            keys: keys.collect(),
            provider: self.provider,
        }
    }

    /// All keys, in the order of the configuration.
    pub fn keys(&self) -> &[Arc<PooledKey>] {
        &self.keys
    }
}

/// Names a key, or an account with all its keys, among all replicas without giving it away: a keyed
/// hash.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(Arc<str>);

impl KeyId {
    fn of(context: &str, provider: &str, named: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key(context);
        hasher
            .update(provider.as_bytes())
            .update(&[0])
            .update(named.as_bytes());
        Self::from(&hasher.finalize().to_hex()[..16])
    }

    /// An id as it stands in the store.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for KeyId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// One key with its state in this replica.
#[derive(Debug)]
pub struct PooledKey {
    /// Where it was found, as shown to people.
    pub source: String,
    /// Names it without giving it away.
    pub id: KeyId,
    /// The account that it belongs to, where the configuration names one.
    pub account: Option<String>,
    /// Under which its limits, holds and health are kept: the account's, or its own.
    pub counted_as: KeyId,
    /// Numbers for the status.
    pub counters: Arc<KeyCounters>,
    secret: Option<SecretString>,
    quarantine: Arc<Mutex<Option<Quarantine>>>,
}

impl PooledKey {
    fn new(
        provider: &str,
        source: String,
        account: Option<String>,
        secret: Option<SecretString>,
    ) -> Self {
        let value = secret.as_ref().map_or("", |secret| secret.expose_secret());
        let id = KeyId::of("agon agent-gateway key id 1", provider, value);
        let counted_as = account.as_ref().map_or_else(
            || id.clone(),
            |account| KeyId::of("agon agent-gateway account id 1", provider, account),
        );
        Self {
            source,
            id,
            account,
            counted_as,
            counters: Arc::default(),
            secret,
            quarantine: Arc::default(),
        }
    }

    /// The same key as it is found now: what happened to it stays with it.
    fn with_past_of(&self, known: &PooledKey) -> Self {
        Self {
            source: self.source.clone(),
            id: self.id.clone(),
            account: self.account.clone(),
            counted_as: self.counted_as.clone(),
            counters: Arc::clone(&known.counters),
            secret: self.secret.clone(),
            quarantine: Arc::clone(&known.quarantine),
        }
    }

    /// The value, absent for keyless servers.
    pub fn secret(&self) -> Option<&SecretString> {
        self.secret.as_ref()
    }

    /// Takes the key out of use: it was refused as dead or wrong. It is tried again after pauses.
    pub fn put_in_quarantine(&self, reason: &str, pauses: &[Duration]) {
        let now = Instant::now();
        let mut quarantine = self.quarantine.lock();
        match &mut *quarantine {
            Some(quarantine) => quarantine.refused(reason, pauses, now),
            None => {
                tracing::warn!(key_source = %self.source, %reason, "key taken out of use");
                *quarantine = Some(Quarantine::begin(reason, pauses, now));
            }
        }
    }

    /// Why the key is out of use and when it is tried again, if it is.
    pub fn quarantine(&self) -> Option<Quarantine> {
        self.quarantine.lock().clone()
    }

    /// It is in use, or may be tried now.
    pub fn may_be_called(&self, now: Instant) -> bool {
        let quarantine = self.quarantine.lock();
        quarantine.as_ref().is_none_or(|out| out.is_due(now))
    }

    /// A call is about to use it: always when it is in use; one call after each pause when it
    /// is not.
    pub fn take_turn(&self, pauses: &[Duration], now: Instant) -> bool {
        let mut quarantine = self.quarantine.lock();
        let Some(quarantine) = &mut *quarantine else {
            return true;
        };
        let is_probed = quarantine.probe(pauses, now);
        if is_probed {
            tracing::info!(key_source = %self.source, "key out of use is tried again");
        }
        is_probed
    }

    /// Puts the key to use again: a call was answered with it, or a person says so. Says
    /// whether it was out of use.
    pub fn revive(&self) -> bool {
        let was_out = self.quarantine.lock().take().is_some();
        if was_out {
            tracing::info!(key_source = %self.source, "key is in use again");
        }
        was_out
    }
}

/// What happened with a key since this gateway started.
#[derive(Debug, Default)]
pub struct KeyCounters {
    in_flight: AtomicU64,
    calls: AtomicU64,
    errors: Mutex<Errors>,
}

/// What went wrong with a key, and what the provider said last; holds no key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Errors {
    /// Calls that the provider refused for lack of quota or because of the key.
    pub refused: u64,
    /// Calls that failed for any other reason.
    pub failed: u64,
    /// How often, by kind.
    pub by_kind: BTreeMap<&'static str, u64>,
    /// The last complaint.
    pub last: String,
}

impl KeyCounters {
    /// A call leaves; the guard counts it as in flight.
    pub fn begin(&self) -> InFlight<'_> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        InFlight(&self.in_flight)
    }

    /// The provider refused for lack of quota or because of the key.
    pub fn count_refused(&self, kind: &'static str, reason: &str) {
        self.errors.lock().note(kind, reason).refused += 1;
    }

    /// The call failed for any other reason.
    pub fn count_failed(&self, kind: &'static str, reason: &str) {
        self.errors.lock().note(kind, reason).failed += 1;
    }

    /// The provider said what cannot be, in a reply that is used all the same.
    pub fn note_error(&self, kind: &'static str, reason: &str) {
        self.errors.lock().note(kind, reason);
    }

    /// What went wrong so far.
    pub fn errors(&self) -> Errors {
        self.errors.lock().clone()
    }

    /// In flight, calls.
    pub fn read(&self) -> [u64; 2] {
        [&self.in_flight, &self.calls].map(|counter| counter.load(Ordering::Relaxed))
    }
}

impl Errors {
    fn note(&mut self, kind: &'static str, reason: &str) -> &mut Self {
        *self.by_kind.entry(kind).or_default() += 1;
        reason.clone_into(&mut self.last);
        self
    }
}

/// Counts down when the call is over, however it ends.
#[derive(Debug)]
pub struct InFlight<'a>(&'a AtomicU64);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use agon_service_kit::secret_source::SecretSource;

    use super::*;

    fn file_with(text: &str) -> (tempfile::TempDir, SecretSource) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, text).unwrap();
        (folder, SecretSource::File(path))
    }

    #[test]
    fn key_never_shows_in_debug_output() {
        let (_folder, source) = file_with("sk-very-secret\n");
        let (pool, errors) = KeyPool::read("p", &[source.into()]);
        assert!(errors.is_empty());
        assert_eq!(
            pool.keys()[0].secret().unwrap().expose_secret(),
            "sk-very-secret"
        );
        assert!(!format!("{pool:?} {:#?}", pool.keys()).contains("very"));
    }

    #[test]
    fn one_key_under_two_names_is_one_key() {
        let (_one, first) = file_with("sk-1");
        let (_two, second) = file_with(" sk-1 ");
        let (pool, _) = KeyPool::read("p", &[first.into(), second.into()]);
        assert_eq!(pool.keys().len(), 1);
    }

    #[test]
    fn keys_of_an_account_are_counted_together_and_others_by_themselves() {
        let of = |account: Option<&str>, key: &str| {
            let entry = KeyEntry {
                source: SecretSource::Env(String::new()),
                account: account.map(str::to_owned),
                form: KeyForm::default(),
            };
            let (source, secret) = (entry.source.to_string(), SecretString::from(key.to_owned()));
            PooledKey::new("p", source, entry.account, Some(secret))
        };
        let [one, other] = [of(Some("lab"), "sk-1"), of(Some("lab"), "sk-2")];
        assert_ne!(one.id, other.id);
        assert_eq!(one.counted_as, other.counted_as);
        let alone = of(None, "sk-1");
        assert_eq!((&alone.counted_as, &alone.id), (&alone.id, &one.id));
        assert_ne!(of(Some("sk-1"), "sk-1").counted_as, alone.counted_as);
    }

    #[test]
    fn key_under_two_accounts_is_told_with_both_places() {
        let (_one, first) = file_with("sk-1");
        let (_two, second) = file_with("sk-1");
        let entry = |source: &SecretSource, account: &str| KeyEntry {
            source: source.clone(),
            account: Some(account.to_owned()),
            form: KeyForm::default(),
        };
        let (pool, errors) = KeyPool::read("p", &[entry(&first, "a"), entry(&second, "b")]);
        assert_eq!((pool.keys().len(), errors.len()), (1, 1));
        let told = errors[0].to_string();
        assert!(told.contains(&second.to_string()), "{told}");
        assert!(told.contains(&format!("is the key in {first}")), "{told}");
    }

    #[test]
    fn key_that_stays_keeps_its_past_and_a_new_one_has_none() {
        let (_one, first) = file_with("sk-1");
        let (_two, second) = file_with("sk-2");
        let (before, _) = KeyPool::read("p", &[first.clone().into()]);
        before.keys()[0].put_in_quarantine("401", &[]);
        let call = before.keys()[0].counters.begin();
        let (after, _) = KeyPool::read("p", &[second.into(), first.clone().into()]);
        let after = after.with_past_of(&before);
        assert_eq!(after.keys()[0].quarantine(), None);
        assert_eq!(after.keys()[0].counters.read(), [0; 2]);
        let out = after.keys()[1].quarantine().unwrap();
        assert_eq!(out.reason, "401");
        drop(call);
        assert_eq!(after.keys()[1].counters.read(), [0, 1]);
        let SecretSource::File(path) = &first else {
            unreachable!("the source is a file");
        };
        std::fs::write(path, "sk-3").unwrap();
        let replaced = KeyPool::read("p", &[first.into()]).0.with_past_of(&after);
        assert_eq!(replaced.keys()[0].quarantine(), None);
        assert_eq!(replaced.keys()[0].counters.read(), [0; 2]);
    }

    #[test]
    fn unreadable_keys_say_where_they_were_looked_for() {
        let sources = [
            SecretSource::Env("AGON_TEST_NO_SUCH_KEY".into()).into(),
            file_with("").1.into(),
        ];
        let (pool, errors) = KeyPool::read("p", &sources);
        assert!(pool.keys().is_empty());
        assert!(
            errors[0]
                .to_string()
                .contains("AGON_TEST_NO_SUCH_KEY is not set")
        );
        assert!(errors[1].to_string().contains("file "));
    }
}
