//! Questions that an agent puts to its model for itself (plans, beliefs, predictions)
//! and puts again, with what was wrong, until the reply can be used or the tries
//! are spent. Games know nothing of them: an unusable reply here is no foul.

use futures_util::future::join_all;

use crate::memory::Later;
use crate::mind::{Mind, MindError, Reply, Thought};
use crate::notes::Source;
use crate::quotation;

/// Questions that are put side by side, by their place.
pub trait Questions: Send {
    /// What is read from a reply.
    type Found: Send;

    /// How many there are.
    fn count(&self) -> usize;

    /// The call that puts a question, with what was said to it already.
    fn thought(&mut self, at: usize, later: Option<Later>) -> Result<Thought, MindError>;

    /// Reads a reply.
    ///
    /// # Errors
    /// What is wrong with it, and what would be right.
    fn read(&mut self, at: usize, reply: &Reply) -> Result<Self::Found, String>;

    /// What is said to a reply that cannot be used.
    fn again(&mut self, at: usize, reply: &Reply, problem: &str) -> Result<Later, MindError>;
}

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

impl<T> Answered<T> {
    /// Where what the agent goes on with comes from.
    pub fn source(&self) -> Source {
        match self.found {
            Some(_) => Source::Model,
            None => Source::Kept,
        }
    }
}

/// Puts questions until their replies can be read, `tries` times each at most and at least
/// once: those that failed again side by side. Calls take their places in the order of the
/// questions, whoever is faster.
pub async fn ask_until<Q: Questions>(
    mind: &dyn Mind,
    mut questions: Q,
    tries: u32,
) -> Result<Vec<Answered<Q::Found>>, MindError> {
    let mut answered: Vec<Answered<Q::Found>> = Vec::new();
    answered.resize_with(questions.count(), || Answered {
        found: None,
        tries: 0,
        problems: Vec::new(),
    });
    let mut open: Vec<(usize, Option<Later>)> = (0..answered.len()).map(|at| (at, None)).collect();
    for left in (0..tries.max(1)).rev() {
        let mut thoughts = Vec::with_capacity(open.len());
        for (at, later) in &mut open {
            thoughts.push(questions.thought(*at, later.take())?);
        }
        // Collected first: every call has its index before any is awaited.
        let calls: Vec<_> = thoughts.into_iter().map(|one| mind.think(one)).collect();
        let replies = join_all(calls).await;
        let mut failed = Vec::new();
        for ((at, _), reply) in open.into_iter().zip(replies) {
            let reply = reply?;
            answered[at].tries += 1;
            match questions.read(at, &reply) {
                Ok(found) => answered[at].found = Some(found),
                Err(problem) => {
                    // Nobody hears what would be said to the last reply.
                    let told = (left > 0).then(|| quotation::problem(&problem));
                    let later = told.map(|told| questions.again(at, &reply, &told));
                    failed.push((at, later.transpose()?));
                    answered[at].problems.push(problem);
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
