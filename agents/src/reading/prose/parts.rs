//! A sentence with what was found in it: what stands where, and where a condition begins.
//! Called by everything that asks what a sentence states.

use agon_engine::{Ask, Form};

use super::beside::WhyNot;
use super::lexicon::Class;
use super::mentions::Mention;
use super::tokens::{Kind, Token, stand};
use super::vocabulary::Vocabulary;

/// A sentence with what was found in it.
#[derive(Clone, Copy)]
pub struct Parts<'a, 'b> {
    /// The ask.
    pub ask: &'b Ask,
    /// Its words.
    pub vocabulary: &'b Vocabulary,
    /// The sentence's tokens.
    pub tokens: &'b [Token<'a>],
    /// Its possible answers, by place in the sentence.
    pub mentions: &'b [Mention],
    /// The place at which a condition begins: looked for once, asked about at every place.
    condition: Option<usize>,
}

impl<'a, 'b> Parts<'a, 'b> {
    /// A sentence of a reply to an ask.
    pub fn new(
        ask: &'b Ask,
        vocabulary: &'b Vocabulary,
        tokens: &'b [Token<'a>],
        mentions: &'b [Mention],
    ) -> Self {
        let mut parts = Self {
            ask,
            vocabulary,
            tokens,
            mentions,
            condition: None,
        };
        parts.condition = (0..tokens.len()).find(|at| parts.is_condition(*at));
        parts
    }

    /// Whether words stand at a place: `|` between those of which one must, blanks between
    /// those that follow each other.
    pub fn word(&self, at: usize, words: &str) -> bool {
        stand(self.tokens, at, words)
    }

    /// Whether a word at a place does this.
    pub fn is(&self, at: usize, class: Class) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(class))
    }

    /// Whether any word of a part of the sentence does this.
    pub fn any(&self, from: usize, to: usize, class: Class) -> bool {
        (from..to.min(self.tokens.len())).any(|at| self.is(at, class))
    }

    /// Whether any word of a part of the sentence does any of these.
    pub fn any_of(&self, from: usize, to: usize, classes: &[Class]) -> bool {
        classes.iter().any(|class| self.any(from, to, *class))
    }

    /// Whether one of these marks stands at a place.
    pub fn mark(&self, at: usize, marks: &str) -> bool {
        self.tokens
            .get(at)
            .is_some_and(|token| token.is_any_mark(marks))
    }

    /// The possible answer that begins at a place.
    pub fn mention_at(&self, at: usize) -> Option<&'b Mention> {
        let found = self
            .mentions
            .binary_search_by_key(&at, |mention| mention.start);
        found.ok().map(|at| &self.mentions[at])
    }

    /// Whether the answer is a number.
    pub fn of_numbers(&self) -> bool {
        matches!(
            self.ask.form,
            Form::Integer { .. } | Form::Amount { .. } | Form::Number { .. }
        )
    }

    /// Whether another option is thought of in the sentence: "I lean to this, but I could also".
    pub fn is_torn(&self, mention: &Mention) -> bool {
        let is_other = |other: &Mention| {
            other.why_not == Some(WhyNot::Supposed) && other.action != mention.action
        };
        !self.of_numbers() && self.mentions.iter().any(is_other)
    }

    /// Whether something else than an amount is offered beside it: "40, or maybe nothing".
    pub fn offers_else(&self, mention: &Mention) -> bool {
        let end = mention.end + usize::from(self.mark(mention.end, ","));
        let is_amount = (end + 1..end + 4).any(|at| self.mention_at(at).is_some());
        let is_or = self.word(end, "or") && !self.word(end + 1, "so|rather|better");
        self.of_numbers() && is_or && !is_amount
    }

    /// Whether anything in the sentence is denied.
    pub fn is_denied(&self) -> bool {
        let denies = |token: &Token<'_>| token.is(Class::Denying) && !token.is_word("against");
        self.tokens.iter().any(denies)
    }

    /// The place at which a condition begins.
    pub fn condition(&self) -> Option<usize> {
        self.condition
    }

    /// Whether a condition begins at a place: not "even if", "whether or not", "if you ask me".
    fn is_condition(&self, at: usize) -> bool {
        // "Nobody else" is no condition, "or else" is one.
        let is_else = self.word(at, "else") && at > 0 && !self.word(at - 1, "or");
        // "More than I'd get otherwise".
        let ends = self
            .tokens
            .get(at + 1)
            .is_none_or(|next| next.kind != Kind::Word)
            && !self.mark(at + 1, ",:");
        let is_otherwise = self.is(at, Class::Otherwise) && !is_else && !(ends && at > 0);
        let is_if = self.is(at, Class::If) && !self.is_idle(at);
        let is_proviso = self.word(at, "long as")
            || self.word(at, "condition that")
            || at == 0 && self.word(at, "in case|event|events")
            || at == 0
                && self.word(
                    at,
                    "once i|the|we|they|others|everyone|everybody|others|i've|he|she|it",
                )
            || self.word(at, "in the event")
            || self.word(at, "in all other")
            || self.word(at, "depends|depending")
            || self.word(at, "only when|once")
            || self.word(at, "soon as")
            || at == 0 && self.word(0, "give|offer|pay me")
            || at == 0 && !self.of_numbers() && self.word(0, "raise|increase|double my");
        is_if || is_otherwise || is_proviso || at == 0 && self.is(0, Class::Opening)
    }

    /// Whether a word for a condition makes none.
    fn is_idle(&self, at: usize) -> bool {
        /// What the speaker knows, or asks for leave to say: "if I may".
        const KNOWN: &str = "may|must|remember|recall|am|can|read|understand|counted";
        /// What becomes of an answer, whatever it is: "if I win".
        const FATE: &str = "win|wins|lose|loses|fail|fails|succeed|succeeds|works";
        let is_fate = self.word(at + 1, "i|it|that|this") && self.word(at + 2, FATE);
        // "I accept, if grudgingly".
        let is_short = self.word(at, "if") && at + 3 >= self.tokens.len() && at > 0;
        let knows = is_short || self.word(at + 1, "i") && self.word(at + 2, KNOWN) || is_fate;
        let is_polite = self.word(at, "if you|that|i'm")
            || self.word(at, "if it comes to")
            || self.word(at + 1, "possible|necessary|needed|any|anything")
            || self.word(at + 1, "it helps|matters|must");
        let is_either_way = self.word(at, "whether")
            && (at..self.tokens.len().min(at + 12)).any(|at| self.word(at, "or"));
        // "I go up to 1,000 and see if they follow".
        let is_even = at > 0 && self.word(at - 1, "even|as|than|see|watch|know|wonder|check|tell");
        is_even || is_either_way || knows || is_polite
    }

    /// Where the clause begins in which a word stands; a time named before a comma ("tomorrow,
    /// I'll") belongs to it.
    pub fn clause_start(&self, at: usize) -> usize {
        let acts = [
            Class::Speaker,
            Class::Be,
            Class::Verb,
            Class::WeakVerb,
            Class::Will,
        ];
        /// More words than name a time.
        const LONG: usize = 3;
        let mut start = 0;
        for place in 0..at {
            let joins = self.is(place, Class::So) || self.is(place, Class::Because);
            let turns = joins || self.mark(place, ";:") || self.word(place, "while|whereas");
            let is_comma = self.mark(place, ",") || self.word(place, "and");
            let begins = is_comma && self.is(place + 1, Class::Speaker);
            let is_clause = || place - start > LONG || self.any_of(start, place, &acts);
            if turns || begins && is_clause() {
                start = place + 1;
            }
        }
        start
    }

    /// The place behind what still belongs to an answer that ends at a place.
    pub fn phrase_end(&self, end: usize) -> usize {
        const LONGEST: usize = 3;
        let stops = |at: &usize| {
            let joins = self.is(*at, Class::So) || self.is(*at, Class::Because);
            joins || self.mark(*at, ",;:") || self.word(*at, "and|which|while")
        };
        (end..end + LONGEST).find(stops).unwrap_or(end + LONGEST)
    }

    /// Whether no condition holds for what stands at a place.
    pub fn is_free(&self, at: usize) -> bool {
        let condition = self.condition();
        condition.is_none_or(|condition| at < condition || self.has_turned(condition, at))
    }

    /// Whether a condition is over, and what follows is the speaker's own again: "If most go
    /// it is crowded, so I stay".
    pub fn has_turned(&self, condition: usize, at: usize) -> bool {
        let turn = (condition..at).rev().find(|at| self.is(*at, Class::So));
        let would = |at: usize| self.is(at, Class::Supposing) || self.word(at, "would|i'd|should");
        turn.is_some_and(|turn| !(turn..at).any(would))
    }
}
