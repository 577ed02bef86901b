//! Teams and tokens as a service knows them: read from the store and from a file, looked at again
//! several times a second, so that what was revoked is over within a second everywhere. Calls never
//! wait for the store; tokens of a store that has not answered for long are not believed.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_service_kit::clock::unix_ms;
use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::{TaskKind, Tasks, with_causes};
use parking_lot::RwLock;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::audit::Auditor;
use crate::document::{IdentityDocument, TeamRecord, TokenRecord, TokenState};
use crate::gate::Refusal;
use crate::holder::Holder;
use crate::identity_file::{self, IdentityFileError};
use crate::sign_in::SignIn;
use crate::store::{IdentityStore, StoreResult, Version};
use crate::token::TokenDigest;

/// Between two looks at store and file.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// Nobody waits longer for a look at a store that hangs.
const LOOKED_WITHIN: Duration = Duration::from_secs(1);

/// A store that has not answered for so long may know of tokens that are revoked.
const BELIEVED_FOR: Duration = Duration::from_secs(10);

/// A service starts without its store after this.
const FIRST_LOOK_WITHIN: Duration = Duration::from_secs(2);

/// What a service knows of teams and tokens. Cheap to clone.
#[derive(Clone)]
pub struct Identities {
    shared: Arc<Shared>,
}

struct Shared {
    store: Option<Arc<dyn IdentityStore>>,
    file: Option<PathBuf>,
    known: RwLock<Known>,
    auditor: Auditor,
    unread: Complaint,
    /// Counts looks at the store.
    looks: watch::Sender<u64>,
}

/// What was read last.
#[derive(Default)]
struct Known {
    tokens: HashMap<TokenDigest, KnownToken>,
    teams: BTreeMap<String, TeamRecord>,
    stored: IdentityDocument,
    version: Option<Version>,
    /// Whether a team or a token was ever there: a store that comes back empty opens nothing.
    was_used: bool,
    /// When the store answered last; absent before it did.
    answered: Option<Instant>,
    in_file: IdentityDocument,
    /// What is wrong with the file now; the log has it.
    file_fault: String,
}

struct KnownToken {
    record: TokenRecord,
    holder: Holder,
    is_stored: bool,
    /// Cancelled once it is not accepted any more.
    ended: CancellationToken,
}

/// Somebody with a token that is accepted. Beside a request inside this process it stands for the token.
#[derive(Debug, Clone)]
pub struct KnownHolder {
    /// Who it is.
    pub holder: Holder,
    /// Cancelled once the token is not accepted any more.
    pub ended: CancellationToken,
    /// Whether the store must have been heard lately for it to be believed.
    pub(crate) is_stored: bool,
}

impl KnownHolder {
    /// Somebody whom this process knows by other means than a token of the store.
    pub fn in_this_process(holder: Holder, ended: CancellationToken) -> Self {
        Self {
            holder,
            ended,
            is_stored: false,
        }
    }

    /// Whether the store must have been heard lately for it to be believed.
    pub fn is_stored(&self) -> bool {
        self.is_stored
    }
}

impl Identities {
    /// Reads the file and, if it answers, the store, and looks at both again until the tasks are shut
    /// down.
    ///
    /// # Errors
    /// The file cannot be used.
    pub async fn open(
        store: Option<Arc<dyn IdentityStore>>,
        file: Option<PathBuf>,
        tasks: &Tasks,
    ) -> Result<Self, IdentityFileError> {
        let in_file = file.as_deref().map(identity_file::read).transpose()?;
        let (auditor, writing) = Auditor::new(store.clone());
        let identities = Self {
            shared: Arc::new(Shared {
                store,
                file,
                known: RwLock::default(),
                auditor,
                unread: Complaint::default(),
                looks: watch::Sender::new(0),
            }),
        };
        identities
            .shared
            .known
            .write()
            .take_file(in_file.unwrap_or_default());
        let first = tokio::time::timeout(FIRST_LOOK_WITHIN, identities.look_at_store());
        if first.await.is_err() {
            warn!("the store of tokens hangs: nobody who needs it is let in before it answers");
        }
        tasks.spawn(TaskKind::UPKEEP, "audit", writing);
        let looking = identities.clone();
        tasks.spawn(TaskKind::UPKEEP, "identities", looking.keep_looking());
        Ok(identities)
    }

    async fn keep_looking(self) {
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.look_at_file().await;
            // One that hangs must not hold up the file and what expires.
            let _ = tokio::time::timeout(LOOKED_WITHIN, self.look_at_store()).await;
            self.shared.known.write().end_tokens();
            self.shared.looks.send_modify(|looks| *looks += 1);
        }
    }

    /// Waits for a look at the store that began after now: a token may be younger than the last.
    pub(crate) async fn next_look(&self) {
        let mut looks = self.shared.looks.subscribe();
        let now = *looks.borrow();
        // The first that ends may have begun before.
        let next = looks.wait_for(|looks| *looks >= now + 2);
        let _ = tokio::time::timeout(LOOKED_WITHIN, next).await;
    }

    /// Writes down who did what.
    pub fn auditor(&self) -> &Auditor {
        &self.shared.auditor
    }

    /// Sessions that a team may have at work at a time, by team; the others may have as many as there
    /// are places.
    pub fn session_limits(&self) -> BTreeMap<String, u32> {
        let known = self.shared.known.read();
        let teams = known.teams.iter();
        teams
            .filter_map(|(name, team)| Some((name.clone(), team.sessions?)))
            .collect()
    }

    /// Where people sign in, if they do.
    pub fn sign_in(&self) -> Option<SignIn> {
        self.shared.known.read().in_file.sign_in.clone()
    }

    /// Who somebody is of whom the provider claims this; `None` when nobody has let them in, or their
    /// team is not there.
    pub fn signed_in(&self, claims: &Value) -> Option<Holder> {
        let known = self.shared.known.read();
        let holder = known.in_file.sign_in.as_ref()?.holder(claims)?;
        let is_there = |team| known.teams.get(team).is_some_and(|team| !team.removed);
        holder.team().is_none_or(is_there).then_some(holder)
    }

    /// Whether there is any token.
    pub fn has_tokens(&self) -> bool {
        !self.shared.known.read().tokens.is_empty()
    }

    /// Whether anybody may come in from this machine: no file is named, and the store has said that
    /// nobody has ever made a team or a token.
    pub(crate) fn is_open(&self) -> bool {
        let shared = &self.shared;
        let nothing_is_stored = match shared.store {
            Some(_) => shared.known.read().was_never_used(),
            None => true,
        };
        shared.file.is_none() && nothing_is_stored
    }

    /// Whether the store is to be heard before anybody is let in or sent away for good.
    pub fn is_waiting_for_store(&self) -> bool {
        self.shared.is_stale(&self.shared.known.read())
    }

    /// Whose token this is.
    pub(crate) fn holder_of(&self, token: &str) -> Result<KnownHolder, Refusal> {
        let known = self.shared.known.read();
        let is_stale = self.shared.is_stale(&known);
        let found = TokenDigest::of(token).and_then(|digest| known.tokens.get(&digest));
        match found {
            None if is_stale => Err(Refusal::StoreAway),
            None => Err(Refusal::UnknownToken),
            Some(token) if token.is_stored && is_stale => Err(Refusal::StoreAway),
            Some(token) => match token.record.state(unix_ms()) {
                TokenState::Expired => Err(Refusal::Expired),
                TokenState::Revoked => Err(Refusal::Revoked),
                TokenState::Valid => Ok(KnownHolder {
                    holder: token.holder.clone(),
                    ended: token.ended.clone(),
                    is_stored: token.is_stored,
                }),
            },
        }
    }

    async fn look_at_store(&self) {
        let Some(store) = &self.shared.store else {
            self.shared.known.write().take_store(None);
            return;
        };
        let known = self.shared.known.read().version.clone();
        let read = store.read(known.as_ref()).await;
        self.take_read(read);
    }

    fn take_read(&self, read: StoreResult<Option<(Version, IdentityDocument)>>) {
        match read {
            Ok(news) => self.shared.known.write().take_store(news),
            Err(error) => {
                if let Some(times) = self.shared.unread.note() {
                    let reason = with_causes(&error);
                    warn!(reason, times, "teams and tokens cannot be read");
                }
            }
        }
    }

    async fn look_at_file(&self) {
        let Some(file) = self.shared.file.clone() else {
            return;
        };
        let read = tokio::task::spawn_blocking(move || identity_file::read(&file)).await;
        let read = read.map_err(|fault| fault.to_string());
        let read = read.and_then(|read| read.map_err(|error| with_causes(&error)));
        let mut known = self.shared.known.write();
        match read {
            Ok(document) => {
                known.file_fault.clear();
                known.take_file(document);
            }
            Err(fault) if fault != known.file_fault => {
                warn!(
                    fault,
                    "the file of teams and tokens cannot be used, what it said before stays"
                );
                known.file_fault = fault;
            }
            Err(_) => {}
        }
    }
}

impl Shared {
    fn is_stale(&self, known: &Known) -> bool {
        let is_recent = known
            .answered
            .is_some_and(|answered| answered.elapsed() < BELIEVED_FOR);
        self.store.is_some() && !is_recent
    }
}

impl Known {
    fn take_file(&mut self, document: IdentityDocument) {
        if document != self.in_file {
            self.in_file = document;
            info!(
                teams = self.in_file.teams.len(),
                tokens = self.in_file.tokens.len(),
                "teams and tokens of the file are in use"
            );
            self.rebuild();
        }
    }

    fn take_store(&mut self, news: Option<(Version, IdentityDocument)>) {
        let is_first = self.answered.replace(Instant::now()).is_none();
        let is_new = news.is_some();
        if let Some((version, document)) = news {
            if version.is_of_nothing() && self.was_used {
                warn!(
                    "the store has come back without its teams and tokens; nobody is let in without \
                     one until this process is started again"
                );
            }
            self.was_used |= !version.is_of_nothing();
            self.version = Some(version);
            self.stored = document;
        }
        if is_new || is_first {
            self.rebuild();
        }
    }

    /// Puts together what store and file say. Tokens that stay keep their holders' streams.
    fn rebuild(&mut self) {
        let mut before = std::mem::take(&mut self.tokens);
        let stored = self.stored.tokens.iter().map(|record| (record, true));
        let in_file = self.in_file.tokens.iter().map(|record| (record, false));
        for (record, is_stored) in stored.chain(in_file) {
            // What is revoked in the store is not accepted because a file names it, too.
            if self.tokens.contains_key(&record.digest) {
                continue;
            }
            let (team, scopes) = (record.team.as_deref(), &record.scopes);
            let holder = Holder::of_token(&record.name, &record.id, team, scopes);
            let same = before.remove(&record.digest);
            let ended = match same {
                Some(known) if known.holder == holder => known.ended,
                Some(changed) => {
                    changed.ended.cancel();
                    CancellationToken::new()
                }
                None => CancellationToken::new(),
            };
            let record = record.clone();
            let token = KnownToken {
                record,
                holder,
                is_stored,
                ended,
            };
            self.tokens.insert(token.record.digest, token);
        }
        for gone in before.into_values() {
            gone.ended.cancel();
        }
        self.teams = self.stored.teams.clone();
        self.teams.extend(self.in_file.teams.clone());
        self.end_tokens();
    }

    /// Ends what tokens opened that are over. One that is valid again, because a clock was wrong or
    /// somebody has lengthened its time, may open something again.
    fn end_tokens(&mut self) {
        let now = unix_ms();
        for token in self.tokens.values_mut() {
            let is_valid = token.record.state(now) == TokenState::Valid;
            match token.ended.is_cancelled() {
                false if !is_valid => token.ended.cancel(),
                true if is_valid => token.ended = CancellationToken::new(),
                _ => {}
            }
        }
    }

    /// Nobody has ever made a team or a token here, and the store has said so.
    fn was_never_used(&self) -> bool {
        !self.was_used && self.version.as_ref().is_some_and(Version::is_of_nothing)
    }
}

#[cfg(test)]
mod tests;
