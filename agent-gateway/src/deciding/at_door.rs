//! A decision that no provider makes: the question is published at a door and
//! waits for whoever is behind it. There is no quota and no price; it waits as
//! long as a caller does, and until then it may be given up. With a stand-in its
//! answer is handed in at the door, too, when time is up: the first one stands.
//! Called by `deciding.rs` for models of the kind `door`.

use std::time::Duration;

use agon_service_kit::tasks::with_causes;

use super::{Answer, Decider, Question};
use crate::decide_error::DecideError;
use crate::decision::{Decision, Usage};
use crate::door_store::{DoorAnswer, OpenAsk, StandIn, SubmitOutcome, SubmittedAnswer};
use crate::store_error::StoreError;

/// Somebody who answers has said all there is to say.
const FINISH_REASON: &str = "stop";

/// Nobody has in time, and a stand-in answered; agents know this word.
const TIME_IS_UP: &str = "deadline";

/// A question that was put before, by a gateway that is gone, is looked at so soon: it may have
/// waited for long enough.
const FIRST_LOOK: Duration = Duration::from_millis(100);

/// Between tries to hand a stand-in's answer in.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

impl Decider {
    /// Asks at a door, which is known as this model, and records what is answered.
    pub(super) async fn fill_at_door(
        &self,
        question: &Question,
        door: String,
        model: String,
    ) -> Result<Answer, DecideError> {
        let (caller, request) = (&question.caller, &question.request);
        let ask = OpenAsk {
            door,
            address: question.address.clone(),
            digest: question.digest.clone(),
            team: caller.team.clone(),
            experiment_id: caller.experiment_id.clone(),
            purpose: caller.purpose.clone(),
            messages: request.messages.clone(),
            reply_format: request.reply_format.clone(),
            stand_in: caller.stand_in.as_deref().cloned(),
            seen: caller.seen.as_deref().map(str::to_owned),
        };
        let answered = self.unpaid(question, self.wait_at_door(&ask)).await;
        let answer = match answered.and_then(|waited| Ok(waited?)) {
            Ok(answer) => answer,
            // Who answered just then was told that the answer stands.
            Err(error) => match self.doors.leave(&ask).await {
                Ok(Some(answer)) => answer,
                left => {
                    tell(&ask, left);
                    return Err(error);
                }
            },
        };
        let filled = self.record_answer(question, model, answer).await;
        if filled.is_ok() {
            tell(&ask, self.doors.done(&ask).await);
        }
        filled
    }

    /// Waits for an answer, and sees to it that there is one when time is up.
    async fn wait_at_door(&self, ask: &OpenAsk) -> Result<DoorAnswer, StoreError> {
        let mut asked = std::pin::pin!(self.doors.ask(ask));
        if let Some(stand_in) = &ask.stand_in {
            tokio::select! {
                biased;
                answer = &mut asked => return answer,
                () = self.hand_in_when_late(ask, stand_in) => {}
            }
        }
        asked.await
    }

    /// Resolves once the stand-in's answer, or one that was first, stands. How long the question
    /// has waited the door knows, which several replicas may share.
    async fn hand_in_when_late(&self, ask: &OpenAsk, stand_in: &StandIn) {
        let mut pause = stand_in.after.min(FIRST_LOOK);
        loop {
            tokio::time::sleep(pause).await;
            pause = match self.waiting(ask).await {
                Ok(Some(waiting)) if waiting < stand_in.after => stand_in.after - waiting,
                Ok(Some(_)) => match self.doors.answer(&late(ask, stand_in)).await {
                    Ok(SubmitOutcome::Stands | SubmitOutcome::AnsweredDifferently) => return,
                    // It has expired meanwhile, and is published again.
                    Ok(SubmitOutcome::NobodyAsks | SubmitOutcome::OtherRequest(_)) => FIRST_LOOK,
                    Err(error) => complain(ask, &error),
                },
                // It is not published yet, or was answered a moment ago.
                Ok(None) => FIRST_LOOK,
                Err(error) => complain(ask, &error),
            };
        }
    }

    async fn waiting(&self, ask: &OpenAsk) -> Result<Option<Duration>, StoreError> {
        let listing = self.doors.list(&ask.door).await?;
        let mut open = listing.asks.into_iter();
        let ours = open.find(|open| open.ask.address == ask.address);
        Ok(ours.map(|open| open.waiting))
    }

    async fn record_answer(
        &self,
        question: &Question,
        model: String,
        answer: DoorAnswer,
    ) -> Result<Answer, DecideError> {
        let decision = Decision {
            request_digest: question.digest.clone(),
            reply: answer.reply,
            answered_by: answer.answered_by,
            finish_reason: if answer.in_time {
                FINISH_REASON.to_owned()
            } else {
                TIME_IS_UP.to_owned()
            },
            usage: Usage::default(),
            simulated: false,
            model,
            // Nothing, but for models that were asked before it in vain.
            cost: question.paid.sum(),
            from_content_cache: false,
            reasoning: None,
            applied: None,
            logprobs: None,
        };
        let standing = self.record(question, decision).await?;
        let used = standing.usage;
        self.stands(question, standing, used)
    }
}

/// What the stand-in says.
fn late(ask: &OpenAsk, stand_in: &StandIn) -> SubmittedAnswer {
    SubmittedAnswer {
        door: ask.door.clone(),
        address: ask.address.clone(),
        digest: ask.digest.clone(),
        team: None,
        answer: DoorAnswer {
            reply: stand_in.reply.clone(),
            answered_by: format!("{} for {}", stand_in.name, ask.door),
            in_time: false,
        },
    }
}

fn tell<T>(ask: &OpenAsk, left: Result<T, StoreError>) {
    if let Err(error) = left {
        let address = &ask.address;
        tracing::warn!(%address, error = %with_causes(&error), "ask not taken from its door");
    }
}

/// The question goes on waiting meanwhile; says when to try again.
fn complain(ask: &OpenAsk, error: &StoreError) -> Duration {
    let address = &ask.address;
    tracing::warn!(%address, error = %with_causes(error), "a stand-in waits for its door");
    LOOK_AGAIN
}
