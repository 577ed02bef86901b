//! Questions that an agent puts to its model for itself (plans, beliefs, profiles)
//! and puts again, with what was wrong, until the reply can be used or the tries
//! are spent. Games know nothing of them: an unusable reply here is no foul.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::agent::AgentError;
use crate::memory::Later;
use crate::mind::{Message, Mind, MindError, ModelSettings, Reply, ReplyFormat, Thought};
use crate::quotation;

/// A question.
pub struct Question<'a> {
    /// What it is for; recorded with every try.
    pub purpose: &'static str,
    /// Which model, and how it samples.
    pub settings: Arc<ModelSettings>,
    /// Makes the conversation that puts it, or puts it again.
    pub put: Box<Put<'a>>,
    /// The form that the reply should have, if any.
    pub format: Option<ReplyFormat>,
    /// What a simulated model says to it.
    pub simulated_reply: Option<String>,
}

/// Makes the conversation of a question, with what was said to it already: within the bound
/// of whoever asks.
pub type Put<'a> = dyn Fn(Option<&Later>) -> Result<Vec<Message>, MindError> + Send + Sync + 'a;

/// What a question came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Answered<T> {
    /// What was read; none when every try failed.
    pub found: Option<T>,
    /// Calls that were made.
    pub tries: u32,
    /// Why each failed try failed, in order.
    pub problems: Vec<String>,
}

/// Puts a question until `read` succeeds, `tries` times at most; at least once.
/// `again` words what is said to an unusable reply.
///
/// # Errors
/// The model could not be called, or a template does not render.
pub async fn ask_until<T: Send>(
    mind: &dyn Mind,
    question: Question<'_>,
    tries: u32,
    read: &mut (dyn FnMut(&Reply) -> Result<T, String> + Send),
    again: &(dyn Fn(&str) -> Result<String, AgentError> + Sync),
) -> Result<Answered<T>, MindError> {
    let mut read = |_: usize, reply: &Reply| read(reply);
    let again = |_: usize, problem: &str| again(problem);
    let mut answered = ask_all_until(mind, vec![question], tries, &mut read, &again).await?;
    Ok(answered.pop().unwrap_or(Answered {
        found: None,
        tries: 0,
        problems: Vec::new(),
    }))
}

/// Puts several questions side by side, and those that failed again side by side.
/// Calls take their places in the order of the questions, whoever is faster.
///
/// # Errors
/// As [`ask_until`].
pub async fn ask_all_until<T: Send>(
    mind: &dyn Mind,
    questions: Vec<Question<'_>>,
    tries: u32,
    read: &mut (dyn FnMut(usize, &Reply) -> Result<T, String> + Send),
    again: &(dyn Fn(usize, &str) -> Result<String, AgentError> + Sync),
) -> Result<Vec<Answered<T>>, MindError> {
    let mut answered: Vec<Answered<T>> = Vec::with_capacity(questions.len());
    answered.resize_with(questions.len(), || Answered {
        found: None,
        tries: 0,
        problems: Vec::new(),
    });
    let mut later: Vec<Option<Later>> = vec![None; questions.len()];
    let mut open: Vec<usize> = (0..questions.len()).collect();
    let tries = tries.max(1);
    for attempt in 1..=tries {
        let thoughts = open.iter().map(|at| {
            let question = &questions[*at];
            let messages = (question.put)(later[*at].as_ref())?;
            let (settings, format) = (Arc::clone(&question.settings), question.format.clone());
            Ok(Thought {
                simulated_reply: question.simulated_reply.clone(),
                ..Thought::new(question.purpose, settings, messages, format)
            })
        });
        let thoughts = thoughts.collect::<Result<Vec<Thought>, MindError>>()?;
        // Collected first: every call has its index before any is awaited.
        let calls: Vec<_> = thoughts.into_iter().map(|one| mind.think(one)).collect();
        let replies = join_all(calls).await;
        let mut failed = Vec::new();
        for (at, reply) in open.into_iter().zip(replies) {
            let reply = reply?;
            answered[at].tries += 1;
            match read(at, &reply) {
                Ok(found) => answered[at].found = Some(found),
                Err(problem) => {
                    // Nobody hears what would be said to the last reply.
                    if attempt < tries {
                        let told = quotation::problem(&problem);
                        let said = again(at, &told)?;
                        later[at] = Some(Later::new(&reply.text, usize::MAX, &said));
                    }
                    answered[at].problems.push(problem);
                    failed.push(at);
                }
            }
        }
        open = failed;
        if open.is_empty() {
            break;
        }
    }
    Ok(answered)
}

#[cfg(test)]
mod tests;
