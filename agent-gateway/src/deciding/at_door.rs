//! A decision that no provider makes: the question is published at a door and
//! waits for whoever is behind it. There is no quota, no price and no time-out;
//! it waits as long as a caller does, and until then it may be given up. Called
//! by `deciding.rs` for models of the kind `door`.

use agon_service_kit::tasks::with_causes;

use super::{Answer, Decider, Outcome, Question, recording};
use crate::decide_error::DecideError;
use crate::decision::{Decision, Usage};
use crate::doors::{DoorAnswer, OpenAsk};
use crate::flights::Passengers;

/// Somebody who answers has said all there is to say.
const FINISH_REASON: &str = "stop";

impl Decider {
    /// Asks at a door, which is known as this model, and records what is answered.
    pub(super) async fn fill_at_door(
        &self,
        question: &Question,
        door: String,
        model: String,
        passengers: &Passengers<Outcome>,
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
        };
        let answered = self.unpaid(passengers, self.doors.ask(&ask)).await;
        let filled = match answered {
            Ok(Ok(answer)) => self.record_answer(question, model, answer).await,
            Ok(Err(error)) => Err(error.into()),
            Err(error) => Err(error),
        };
        if let Err(error) = self.doors.leave(&ask, filled.is_ok()).await {
            let address = &ask.address;
            tracing::warn!(%address, error = %with_causes(&error), "ask not taken from its door");
        }
        filled
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
            finish_reason: FINISH_REASON.to_owned(),
            usage: Usage::default(),
            simulated: false,
            model,
            // Nothing, but for models that were asked before it in vain.
            cost: question.paid.sum(),
            from_content_cache: false,
        };
        let standing = recording::record(
            self.ledger.as_ref(),
            &question.address,
            &decision,
            &self.stopping,
            &self.unrecorded,
        );
        self.stands(question, standing.await?)
    }
}
