//! What was said to an ask that is put again: the reply, and what is said to that. It comes
//! behind the ask, as far as a conversation has room for it. Used by conversations and by
//! agents that word their own calls.

use super::LETTERS_PER_TOKEN;
use crate::mind::{Message, Role};
use crate::quotation::{ending, shown};

/// Less than so much of a reply, in letters, says nothing of it.
const SHORTEST_REPLY: usize = 40;

/// A reply to an ask, and what is said to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Later {
    reply: Message,
    said: Message,
}

impl Later {
    /// What is said to a reply, of which so many letters are shown again at most: its end.
    pub fn new(reply: &str, most_letters: usize, said: &str) -> Self {
        Self {
            reply: Message::new(Role::Assistant, shown(reply, most_letters)),
            said: Message::new(Role::User, said),
        }
    }

    /// How long it is, in tokens.
    pub fn tokens(&self) -> usize {
        self.reply.tokens() + self.said.tokens()
    }

    /// A conversation that ends with an ask, with this behind it. Where that is longer than
    /// the bound, less of the reply is shown; in the end nothing, and what is said to it
    /// stands below the ask.
    pub fn behind(&self, mut asked: Vec<Message>, bound: usize) -> Vec<Message> {
        let taken = asked.iter().map(Message::tokens).sum::<usize>() + self.said.tokens();
        let letters = bound
            .saturating_sub(taken)
            .saturating_mul(LETTERS_PER_TOKEN);
        let reply = ending(&self.reply.content, letters);
        if reply.len() == self.reply.content.len() || letters >= SHORTEST_REPLY {
            asked.push(Message::new(Role::Assistant, reply));
            asked.push(self.said.clone());
        } else if let Some(ask) = asked.last_mut() {
            *ask = Message::new(ask.role, format!("{}\n{}", ask.content, self.said.content));
        }
        asked
    }
}
