//! What a seat remembers: the conversation with its model, bounded by tokens.
//!
//! Kept are the rules, then per past ask what had been told before it, a short
//! reminder of the ask and the seat's answer, then what was told since. Beyond the
//! bound the oldest exchanges go first, or a summary takes their place; rules and
//! ask stay. A game may also say how many past rounds are remembered.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::mind::{Message, Role};
use crate::settings::WhenFull;

mod later;

pub use later::Later;

/// Letters per token.
const LETTERS_PER_TOKEN: usize = Message::LETTERS_PER_TOKEN;

/// A summary takes no more of the room for the past than one part of these, so that
/// most of it is left for what is still remembered word for word.
const SUMMARY_PART: usize = 4;

/// No summary is longer, in tokens, however much room there is.
const LONGEST_SUMMARY: usize = 300;

/// What an agent adds to an ask of its own making takes no more of the whole than one part
/// of these: rules and ask are no smaller for it, and the past has a right to the rest.
const ADVICE_PART: usize = 4;

/// A bounded conversation.
#[derive(Debug)]
pub struct Memory {
    bound: usize,
    when_full: WhenFull,
    rules: Option<Message>,
    summary: Option<Summary>,
    past: VecDeque<Exchange>,
    past_tokens: usize,
    news: VecDeque<News>,
    history: Option<u32>,
    round: u32,
}

/// What is put to a model now, behind rules and past.
#[derive(Debug, Clone, Copy)]
pub struct Put<'a> {
    /// What an agent says of its own making before the ask; not remembered.
    pub advice: Option<&'a str>,
    /// The ask.
    pub ask: &'a str,
    /// What was said to the ask already, where it is put again.
    pub later: Option<&'a Later>,
}

impl<'a> Put<'a> {
    /// An ask as it is.
    pub fn plain(ask: &'a str) -> Self {
        Self {
            advice: None,
            ask,
            later: None,
        }
    }
}

/// What stands in the place of the oldest exchanges.
#[derive(Debug)]
struct Summary {
    /// The round that it begins with.
    first: u32,
    text: String,
}

/// The oldest exchanges, as far as they should be summed up to make room.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excess {
    /// How many exchanges.
    pub exchanges: usize,
    /// The longest summary in their place, in tokens; 0 where there is no room for any.
    pub most_tokens: usize,
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
    /// What was told, one by one, where some of it is to be forgotten before the rest: a seat that
    /// did not answer for some rounds is told of all of them with its next ask.
    parts: VecDeque<News>,
    answer: Message,
    tokens: usize,
}

impl Memory {
    /// An empty memory that keeps conversations within a bound.
    pub fn new(bound_tokens: u32, when_full: WhenFull) -> Self {
        Self {
            bound: usize::try_from(bound_tokens).unwrap_or(usize::MAX),
            when_full,
            rules: None,
            summary: None,
            past: VecDeque::new(),
            past_tokens: 0,
            news: VecDeque::new(),
            history: None,
            round: 0,
        }
    }

    /// Sets the rules: the system message.
    pub fn set_rules(&mut self, text: Arc<str>) {
        self.rules = Some(Message::new(Role::System, text));
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
    /// what lies further back than the game wants remembered; a summary goes as a whole
    /// when any of it does.
    pub fn enter_round(&mut self, round: u32) {
        self.round = round;
        let Some(history) = self.history else {
            return;
        };
        // An exchange begins with how the round before its own ended. What a seat said in
        // the round in play is no past round.
        let is_kept = |first: u32| first >= round || first.saturating_add(history) > round;
        self.summary.take_if(|summary| !is_kept(summary.first));
        // What an exchange tells of, alone; `is_kept` asks for what it begins with.
        let is_told = |told: u32| told.saturating_add(history) >= round;
        let (past_tokens, past) = (&mut self.past_tokens, &mut self.past);
        for exchange in past
            .iter_mut()
            .filter(|exchange| !exchange.parts.is_empty())
        {
            *past_tokens -= exchange.tokens;
            exchange.parts.retain(|news| is_told(news.round));
            exchange.told = Message::new(Role::User, joined(&exchange.parts, []));
            exchange.tokens = exchange.told.tokens() + exchange.answer.tokens();
            *past_tokens += exchange.tokens;
        }
        past.retain(|exchange| {
            let kept = is_kept(exchange.round);
            if !kept {
                *past_tokens -= exchange.tokens;
            }
            kept
        });
        self.news.retain(|news| is_told(news.round));
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
        let told = Message::new(Role::User, joined(&self.news, []));
        let mut parts = std::mem::take(&mut self.news);
        let before = self.round.saturating_sub(1);
        if self.history.is_none() || parts.iter().all(|news| news.round >= before) {
            parts.clear();
        }
        let answer = Message::new(Role::Assistant, answer);
        let tokens = told.tokens() + answer.tokens();
        self.past_tokens += tokens;
        self.past.push_back(Exchange {
            round: self.round,
            told,
            parts,
            answer,
            tokens,
        });
    }

    /// The conversation that puts an ask: rules, past, then the news since the
    /// last answer together with advice and ask, then what was said to it (a refused
    /// answer and why). What the bound has no room for is left out, in this order: the
    /// oldest exchanges, a summary, the oldest news, the advice, the refused answer. What
    /// is left is the smallest conversation there is: the rules, and the ask with what was
    /// wrong with the last answer to it; it may be longer than the bound. A memory that
    /// forgets when it is full forgets these exchanges; one that sums up keeps them for
    /// their summary.
    pub fn conversation(&mut self, put: Put<'_>) -> Vec<Message> {
        let later = put.later.map_or(0, Later::tokens);
        let rules = self.rules.as_ref().map_or(0, Message::tokens);
        let room = self.bound.saturating_sub(rules + later);
        let mut newest = self.newest(put);
        let kept = self.newest_that_fit(room.saturating_sub(newest.tokens()));
        let mut summary = self.summary.as_ref();
        if kept == 0 && self.summary_tokens() + newest.tokens() > room {
            summary = None;
            while newest.tokens() > room && self.news.pop_front().is_some() {
                newest = self.newest(put);
            }
            if newest.tokens() > room {
                newest = self.newest(Put::plain(put.ask));
            }
        }
        let mut opening = summary.map(|summary| summary.text.clone());
        let mut messages = Vec::with_capacity(2 * kept + 4);
        messages.extend(self.rules.clone());
        for exchange in self.past.range(self.past.len() - kept..) {
            messages.push(behind(opening.take(), exchange.told.clone()));
            messages.push(exchange.answer.clone());
        }
        messages.push(behind(opening, newest));
        if let Some(later) = put.later {
            messages = later.behind(messages, self.bound);
        }
        if self.when_full == WhenFull::Forget {
            self.forget(self.past.len() - kept);
        }
        messages
    }

    /// What should be summed up before an ask is put, if the conversation would not
    /// fit otherwise: so much that afterwards the past takes half of the room that
    /// rules and ask leave, or the next round would be full again.
    pub fn excess(&self, put: Put<'_>) -> Option<Excess> {
        let rules = self.rules.as_ref().map_or(0, Message::tokens);
        let fixed = rules + self.newest(put).tokens();
        let room = self.bound.saturating_sub(fixed);
        let is_full = self.summary_tokens() + self.past_tokens > room;
        if self.when_full == WhenFull::Forget || !is_full || self.past.is_empty() {
            return None;
        }
        let most_tokens = LONGEST_SUMMARY.min(room / SUMMARY_PART);
        let rest = (room / 2).saturating_sub(most_tokens);
        let mut left = self.past_tokens;
        let too_many = self.past.iter().take_while(|exchange| {
            let is_too_many = left > rest;
            left -= exchange.tokens;
            is_too_many
        });
        Some(Excess {
            exchanges: too_many.count().max(1),
            most_tokens,
        })
    }

    /// The call in which the oldest `exchanges` are summed up, an earlier summary with
    /// them: rules, these exchanges, and what is to be done with them. None when that
    /// is no conversation within the bound.
    pub fn to_sum_up(&self, exchanges: usize, instruction: &str) -> Option<Vec<Message>> {
        let mut opening = self.summary.as_ref().map(|summary| summary.text.clone());
        let mut messages: Vec<Message> = self.rules.iter().cloned().collect();
        for exchange in self.past.iter().take(exchanges) {
            messages.push(behind(opening.take(), exchange.told.clone()));
            messages.push(exchange.answer.clone());
        }
        messages.push(Message::new(Role::User, instruction));
        let tokens: usize = messages.iter().map(Message::tokens).sum();
        (tokens <= self.bound).then_some(messages)
    }

    /// First and last round of the oldest `exchanges` and of a summary before them.
    pub fn rounds(&self, exchanges: usize) -> (u32, u32) {
        let round = |at: usize| self.past.get(at).map_or(self.round, |at| at.round);
        let first = self.summary.as_ref().map_or(round(0), |old| old.first);
        (first, round(exchanges.saturating_sub(1)))
    }

    /// The most that a conversation may hold, in tokens, where its least part allows.
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// Whether an ask has room beside the rules.
    pub fn has_room_for(&self, ask: &str) -> bool {
        let rules = self.rules.as_ref().map_or(0, Message::tokens);
        rules + Message::new(Role::User, ask).tokens() <= self.bound
    }

    /// How many letters of an agent's own making may stand beside an ask.
    pub fn advice_letters(&self) -> usize {
        self.bound.saturating_mul(LETTERS_PER_TOKEN) / ADVICE_PART
    }

    /// Whether there is a summary.
    pub fn has_summary(&self) -> bool {
        self.summary.is_some()
    }

    /// Puts a summary in the place of the oldest `exchanges` and of the summary before
    /// them.
    pub fn sum_up(&mut self, exchanges: usize, text: String) {
        let (first, _) = self.rounds(exchanges);
        self.forget(exchanges);
        self.summary = Some(Summary { first, text });
    }

    /// Forgets the oldest exchanges that leave no room for an ask: their rounds, if
    /// there were any.
    pub fn forget_for(&mut self, put: Put<'_>) -> Option<(u32, u32)> {
        let rules = self.rules.as_ref().map_or(0, Message::tokens);
        let fixed = rules + self.newest(put).tokens();
        let kept = self.newest_that_fit(self.bound.saturating_sub(fixed));
        let forgotten = self.past.len() - kept;
        let first = self.past.front()?.round;
        let last = self.past.get(forgotten.checked_sub(1)?)?.round;
        self.forget(forgotten);
        Some((first, last))
    }

    fn forget(&mut self, exchanges: usize) {
        for exchange in self.past.drain(..exchanges.min(self.past.len())) {
            self.past_tokens -= exchange.tokens;
        }
    }

    /// How many of the newest exchanges fit into a room beside the summary.
    fn newest_that_fit(&self, room: usize) -> usize {
        let mut left = room.saturating_sub(self.summary_tokens());
        let fitting = self.past.iter().rev().take_while(|exchange| {
            let fits = exchange.tokens <= left;
            left = left.saturating_sub(exchange.tokens);
            fits
        });
        fitting.count()
    }

    /// With the line break behind it.
    fn summary_tokens(&self) -> usize {
        let letters = |summary: &Summary| summary.text.chars().count() + 1;
        let summary = self.summary.as_ref();
        summary.map_or(0, |summary| letters(summary).div_ceil(LETTERS_PER_TOKEN))
    }

    /// The newest message.
    fn newest(&self, put: Put<'_>) -> Message {
        let own = put.advice.into_iter().chain([put.ask]);
        Message::new(Role::User, joined(&self.news, own))
    }
}

/// The most words that are asked for where so many tokens are allowed: three quarters
/// of them with words of the usual length, because models write more than they are told.
pub fn words(tokens: usize) -> usize {
    tokens / 2
}

/// A message with something before it.
fn behind(opening: Option<String>, told: Message) -> Message {
    match opening {
        Some(opening) => Message::new(told.role, format!("{opening}\n{}", told.content)),
        None => told,
    }
}

fn joined<'a>(news: &'a VecDeque<News>, more: impl IntoIterator<Item = &'a str>) -> String {
    let told = news.iter().map(|news| news.text.as_str());
    let pieces: Vec<&str> = told.chain(more).collect();
    pieces.join("\n")
}

#[cfg(test)]
mod tests;
