//! Answering from the content cache, for callers who ask for it: look, share one
//! call among equal questions, keep what is fit to be kept. A fault of the cache
//! never fails a decision; the model is asked then. Called by `deciding.rs`.

use std::sync::Arc;

use agon_service_kit::complaint::Complaint;
use agon_service_kit::tasks::with_causes;

use super::{Answer, Decider, Question};
use crate::catalogue::ProviderKind;
use crate::content_cache::sharing::{FollowerResult, Joined, Leader, Sharing};
use crate::content_cache::{self, ContentCache, ContentKey};
use crate::decide_error::DecideError;
use crate::decision::{Decision, Usage};
use crate::store_error::StoreError;

/// The content cache of a gateway, and the calls that equal questions share.
pub struct SharedCache {
    cache: Arc<dyn ContentCache>,
    sharing: Arc<Sharing>,
    complaint: Complaint,
}

/// What the cache has for a question.
pub(super) enum CacheLookup {
    /// Its answer, as a decision of this question.
    Hit(Decision),
    /// Nothing. Whoever asks now keeps the answer, if there is a duty.
    Miss(Option<KeepDuty>),
}

/// To keep the answer and share it with those who wait for it.
pub(super) struct KeepDuty {
    key: ContentKey,
    leader: Option<Leader>,
}

impl SharedCache {
    /// Over this cache.
    pub fn new(cache: Arc<dyn ContentCache>) -> Self {
        Self {
            cache,
            sharing: Arc::default(),
            complaint: Complaint::default(),
        }
    }

    fn complain(&self, error: &StoreError) {
        if let Some(failures) = self.complaint.note() {
            let error = with_causes(error);
            tracing::warn!(
                error,
                failures,
                "content cache does not work, models are asked"
            );
        }
    }
}

impl Decider {
    /// Looks a question up, or waits for its equal that is being asked.
    pub(super) async fn look_up(&self, question: &Question) -> Result<CacheLookup, DecideError> {
        let Some(replicate) = question.caller.replicate else {
            return Ok(CacheLookup::Miss(None));
        };
        // Whoever is behind a door answers for himself, and what is wrong with a
        // model is told when it is asked.
        let Ok(origin) = self.routes.origin(&question.request.model) else {
            return Ok(CacheLookup::Miss(None));
        };
        if origin.provider_kind == ProviderKind::Door.name() {
            return Ok(CacheLookup::Miss(None));
        }
        let key = ContentKey::new(&question.request, &origin, &question.caller.team, replicate);
        loop {
            // Joining comes before looking: what a leader keeps in between
            // would be missed the other way round.
            let joined = self.content_cache.sharing.join(&question.caller.team, &key);
            let leader = match joined {
                Joined::Leader(leader) => leader,
                Joined::Follower(follower) => match self.unpaid(question, follower.result()).await?
                {
                    FollowerResult::Answer(decision) => {
                        return Ok(CacheLookup::Hit(again(&decision, question)));
                    }
                    FollowerResult::Nothing => {
                        let leader = None;
                        return Ok(CacheLookup::Miss(Some(KeepDuty { key, leader })));
                    }
                    FollowerResult::LeaderGone => continue,
                },
            };
            let found = self.content_cache.cache.find(&key).await;
            let found = found.unwrap_or_else(|error| {
                self.content_cache.complain(&error);
                None
            });
            let Some(decision) = found else {
                let leader = Some(leader);
                return Ok(CacheLookup::Miss(Some(KeepDuty { key, leader })));
            };
            let decision = Arc::new(decision);
            leader.share(Some(Arc::clone(&decision)));
            return Ok(CacheLookup::Hit(again(&decision, question)));
        }
    }

    /// Records a cached answer under its new address. It costs nothing now.
    pub(super) async fn record_cached(
        &self,
        question: &Question,
        decision: Decision,
    ) -> Result<Answer, DecideError> {
        let standing = self.record(question, decision).await?;
        self.stands(question, standing, Usage::default())
    }

    /// Keeps an answer that stands recorded, if it is fit.
    pub(super) async fn keep_in_cache(
        &self,
        duty: KeepDuty,
        question: &Question,
        outcome: Result<&Decision, &DecideError>,
    ) {
        let KeepDuty { key, leader } = duty;
        let decision = match outcome {
            Ok(decision) => decision,
            // Whoever waits for the same takes over.
            Err(DecideError::Abandoned | DecideError::Stopping | DecideError::ClaimLost { .. }) => {
                return;
            }
            Err(_) => {
                share(leader, None);
                return;
            }
        };
        if !content_cache::is_fit(&question.request, decision) {
            share(leader, None);
            return;
        }
        let lasts = self.routes.config().content_cache_for();
        if let Err(error) = self.content_cache.cache.keep(&key, decision, lasts).await {
            self.content_cache.complain(&error);
        }
        share(leader, Some(Arc::new(decision.clone())));
    }
}

fn share(leader: Option<Leader>, decision: Option<Arc<Decision>>) {
    if let Some(leader) = leader {
        leader.share(decision);
    }
}

/// The same answer as a decision of another address.
fn again(decision: &Decision, question: &Question) -> Decision {
    Decision {
        request_digest: question.digest.clone(),
        from_content_cache: true,
        ..decision.clone()
    }
}
