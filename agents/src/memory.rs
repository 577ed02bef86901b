//! What a seat remembers: the conversation with its model, bounded by tokens.
//!
//! Kept are the rules, then per past ask what had been told before it, a short
//! reminder of the ask and the seat's answer, then what was told since. Beyond the
//! bound the oldest exchange goes first; rules and newest message stay. A game may
//! also say how many past rounds are remembered.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::mind::{Message, Role};

/// Letters per token, for estimating; close enough for English with every
/// tokenizer in use.
const LETTERS_PER_TOKEN: usize = 4;

/// A bounded conversation.
#[derive(Debug)]
pub struct Memory {
    bound: usize,
    rules: Option<Message>,
    past: VecDeque<Exchange>,
    past_tokens: usize,
    news: VecDeque<News>,
    history: Option<u32>,
    round: u32,
}

/// Something that was told since the last answer.
#[derive(Debug)]
struct News {
    round: u32,
    text: String,
}

/// An ask of the past and its answer.
#[derive(Debug)]
struct Exchange {
    round: u32,
    told: Message,
    answer: Message,
    tokens: usize,
}

impl Memory {
    /// An empty memory that keeps conversations within a bound.
    pub fn new(bound_tokens: u32) -> Self {
        Self {
            bound: usize::try_from(bound_tokens).unwrap_or(usize::MAX),
            rules: None,
            past: VecDeque::new(),
            past_tokens: 0,
            news: VecDeque::new(),
            history: None,
            round: 0,
        }
    }

    /// Sets the rules: the system message.
    pub fn set_rules(&mut self, text: String) {
        self.rules = Some(message(Role::System, text));
    }

    /// Whether the rules were set.
    pub fn has_rules(&self) -> bool {
        self.rules.is_some()
    }

    /// Sets how many past rounds are remembered; all of them unless it is set.
    pub fn remember_rounds(&mut self, history: u32) {
        self.history = Some(history);
    }

    /// Says which round the following news, asks and answers belong to, and forgets
    /// what lies further back than the game wants remembered.
    pub fn enter_round(&mut self, round: u32) {
        self.round = round;
        let Some(history) = self.history else {
            return;
        };
        let (past_tokens, past) = (&mut self.past_tokens, &mut self.past);
        // An exchange begins with how the round before its own ended.
        past.retain(|exchange| {
            let kept = exchange.round.saturating_add(history) > round;
            if !kept {
                *past_tokens -= exchange.tokens;
            }
            kept
        });
        self.news
            .retain(|news| news.round.saturating_add(history) >= round);
    }

    /// Adds something that happened.
    pub fn add_news(&mut self, text: String) {
        let round = self.round;
        self.news.push_back(News { round, text });
    }

    /// Closes an ask with what is left of it and the seat's own answer. Without
    /// an answer the reminder stands for both.
    pub fn close(&mut self, reminder: String, answer: Option<String>) {
        self.add_news(reminder);
        let Some(answer) = answer else {
            return;
        };
        let told = message(Role::User, joined(&self.news, None));
        self.news.clear();
        let answer = message(Role::Assistant, answer);
        let tokens = tokens(&told) + tokens(&answer);
        self.past_tokens += tokens;
        self.past.push_back(Exchange {
            round: self.round,
            told,
            answer,
            tokens,
        });
    }

    /// The conversation that puts an ask: rules, past, then the news since the
    /// last answer together with the ask, then what followed it (a refused answer
    /// and why). Forgets from the oldest exchange on what the bound has no room
    /// for, then the oldest news.
    pub fn conversation(&mut self, ask: &str, after: Vec<Message>) -> Vec<Message> {
        let after_tokens: usize = after.iter().map(tokens).sum();
        let fixed = self.rules.as_ref().map_or(0, tokens) + after_tokens;
        let mut newest = self.newest(ask);
        while fixed + self.past_tokens + tokens(&newest) > self.bound {
            if let Some(oldest) = self.past.pop_front() {
                self.past_tokens -= oldest.tokens;
            } else if self.news.pop_front().is_some() {
                newest = self.newest(ask);
            } else {
                break;
            }
        }
        let mut messages = Vec::with_capacity(2 + 2 * self.past.len() + after.len());
        messages.extend(self.rules.clone());
        for exchange in &self.past {
            messages.push(exchange.told.clone());
            messages.push(exchange.answer.clone());
        }
        messages.push(newest);
        messages.extend(after);
        messages
    }

    fn newest(&self, ask: &str) -> Message {
        message(Role::User, joined(&self.news, Some(ask)))
    }
}

/// Estimated tokens of a message.
pub fn tokens(message: &Message) -> usize {
    message.content.chars().count().div_ceil(LETTERS_PER_TOKEN)
}

/// A message of one speaker.
pub fn message(role: Role, text: impl Into<Arc<str>>) -> Message {
    Message {
        role,
        content: text.into(),
    }
}

fn joined(news: &VecDeque<News>, ask: Option<&str>) -> String {
    let told = news.iter().map(|news| news.text.as_str());
    let pieces: Vec<&str> = told.chain(ask).collect();
    pieces.join("\n")
}

#[cfg(test)]
mod tests;
