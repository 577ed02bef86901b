//! One call for equal questions that a team asks at the same time in this replica:
//! the first asks, the others wait for what it learns. Nobody waits for another
//! team's call, which may have to wait for long. Knows no stores and makes
//! no calls. Called by `deciding/caching.rs`.

use std::collections::HashMap;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::watch;

use super::ContentKey;
use crate::decision::Decision;

/// What a leader has learnt: absent as long as it asks.
type SharedAnswer = Option<Option<Arc<Decision>>>;

/// A team and its question.
type SharedKey = (String, ContentKey);

/// Questions that are being asked.
#[derive(Default)]
pub struct Sharing {
    leaders: Mutex<HashMap<SharedKey, watch::Receiver<SharedAnswer>>>,
}

/// Where a question stands among its equals.
pub enum Joined {
    /// It is the first.
    Leader(Leader),
    /// Another one is being asked.
    Follower(Follower),
}

impl Sharing {
    /// Takes the lead, or follows who has it.
    pub fn join(self: &Arc<Self>, team: &str, key: &ContentKey) -> Joined {
        let key = (team.to_owned(), key.clone());
        let mut leaders = self.leaders.lock();
        if let Some(learnt) = leaders.get(&key) {
            return Joined::Follower(Follower(learnt.clone()));
        }
        let (learnt, receiver) = watch::channel(None);
        leaders.insert(key.clone(), receiver);
        Joined::Leader(Leader {
            sharing: Arc::clone(self),
            key,
            learnt,
        })
    }
}

/// The one that asks. Dropped without a word (nobody waits for it any more) it
/// leaves the lead to the next.
pub struct Leader {
    sharing: Arc<Sharing>,
    key: SharedKey,
    learnt: watch::Sender<SharedAnswer>,
}

impl Leader {
    /// Tells the others: an answer fit for all of them, or that each has to ask
    /// for itself.
    pub fn share(self, decision: Option<Arc<Decision>>) {
        self.learnt.send_replace(Some(decision));
    }
}

impl Drop for Leader {
    fn drop(&mut self) {
        self.sharing.leaders.lock().remove(&self.key);
    }
}

/// One that waits.
pub struct Follower(watch::Receiver<SharedAnswer>);

/// What a follower hears.
#[derive(Debug, PartialEq)]
pub enum FollowerResult {
    Answer(Arc<Decision>),
    /// There is none to share.
    Nothing,
    /// The leader has gone without a word; join again.
    LeaderGone,
}

impl Follower {
    /// Waits for the leader.
    pub async fn result(mut self) -> FollowerResult {
        let learnt = self.0.wait_for(Option::is_some).await;
        match learnt.as_deref() {
            Ok(Some(Some(decision))) => FollowerResult::Answer(Arc::clone(decision)),
            Ok(_) => FollowerResult::Nothing,
            Err(_) => FollowerResult::LeaderGone,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::{RequestDigest, Usage};

    fn key() -> ContentKey {
        ContentKey("k".to_owned())
    }

    fn decision() -> Arc<Decision> {
        Arc::new(Decision {
            request_digest: RequestDigest::from("d".to_owned()),
            reply: "yes".to_owned(),
            answered_by: String::new(),
            finish_reason: "stop".to_owned(),
            usage: Usage::default(),
            simulated: false,
            model: "m".to_owned(),
            cost: None,
            from_content_cache: false,
            reasoning: None,
            applied: None,
            logprobs: None,
        })
    }

    fn lead(sharing: &Arc<Sharing>) -> Leader {
        match sharing.join("red", &key()) {
            Joined::Leader(leader) => leader,
            Joined::Follower(_) => panic!("somebody else leads"),
        }
    }

    fn follow(sharing: &Arc<Sharing>) -> Follower {
        match sharing.join("red", &key()) {
            Joined::Follower(follower) => follower,
            Joined::Leader(_) => panic!("nobody leads"),
        }
    }

    #[tokio::test]
    async fn followers_hear_what_the_leader_tells() {
        let sharing = Arc::new(Sharing::default());
        let leader = lead(&sharing);
        let followers = [follow(&sharing), follow(&sharing)];
        leader.share(Some(decision()));
        for follower in followers {
            assert_eq!(follower.result().await, FollowerResult::Answer(decision()));
        }
        let leader = lead(&sharing);
        let follower = follow(&sharing);
        leader.share(None);
        assert_eq!(follower.result().await, FollowerResult::Nothing);
    }

    #[tokio::test]
    async fn lead_goes_on_when_the_leader_is_gone() {
        let sharing = Arc::new(Sharing::default());
        let leader = lead(&sharing);
        let follower = follow(&sharing);
        drop(leader);
        assert_eq!(follower.result().await, FollowerResult::LeaderGone);
        drop(lead(&sharing));
    }

    #[test]
    fn nobody_waits_for_another_team() {
        let sharing = Arc::new(Sharing::default());
        let _red = lead(&sharing);
        assert!(matches!(sharing.join("blue", &key()), Joined::Leader(_)));
    }
}
