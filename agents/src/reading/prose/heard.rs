//! What a text says, sentence by sentence: what it claims to be the answer, and what it only
//! names. Called by `prose.rs`; what it all comes to, `verdict.rs` says.

use agon_engine::{Action, Ask, Form};

use super::advice;
use super::beside::WhyNot;
use super::closing;
use super::corrections;
use super::fragments;
use super::layout::{self, Sentence};
use super::lexicon::Class;
use super::mentions::{self, Mention};
use super::naming::Naming;
use super::parts::Parts;
use super::predicates;
use super::references::References;
use super::shares;
use super::stance::{self, Stance};
use super::statements::{self, Statements};
use super::tokens::Token;
use super::verdict::{Claim, Ends, Firmness, Stated};
use super::vocabulary::Vocabulary;

/// Something that a text names and that may be the answer.
#[derive(Debug)]
pub struct Named {
    /// What stands where; places are those in the text.
    pub mention: Mention,
    /// The number of its sentence.
    pub sentence: usize,
}

/// What a text says.
pub struct Heard<'a, 'b> {
    ask: &'b Ask,
    vocabulary: &'b Vocabulary,
    tokens: &'b [Token<'a>],
    /// What it claims to be the answer, in order.
    pub claims: Vec<Claim>,
    /// Everything that may be the answer.
    pub open: Vec<Named>,
    /// Where it opens and closes.
    pub ends: Ends,
    stance: Stance,
    denied: Vec<Action>,
    references: References<'a>,
    /// What was named last and may be meant by "that".
    latest: Option<Action>,
    /// The place behind the last claim.
    behind: usize,
    /// Whether the last sentence asked for something else than the answer.
    is_asked: bool,
}

impl<'a, 'b> Heard<'a, 'b> {
    /// What a text says.
    pub fn new(ask: &'b Ask, vocabulary: &'b Vocabulary, tokens: &'b [Token<'a>]) -> Self {
        let sentences = layout::sentences(tokens, ask.seat);
        let mut heard = Self {
            ask,
            vocabulary,
            tokens,
            claims: Vec::new(),
            open: Vec::new(),
            ends: Ends {
                opening: usize::MAX,
                closing: 0,
                sentences: sentences.len(),
                is_cut: layout::is_cut(tokens),
                is_declined: false,
                is_undecided: false,
            },
            stance: Stance::of(tokens),
            denied: Vec::new(),
            references: References::default(),
            latest: None,
            behind: 0,
            is_asked: false,
        };
        for (number, sentence) in sentences.iter().enumerate() {
            heard.sentence(number, sentence);
        }
        let denied = heard.denied;
        heard
            .open
            .retain(|named| !denied.contains(&named.mention.action));
        heard.denied = Vec::new();
        let claimed = heard.claims.iter().map(|claim| claim.sentence);
        let first = claimed.clone().min().unwrap_or(usize::MAX);
        heard.ends.opening = heard.ends.opening.min(first);
        heard.ends.closing = heard.ends.closing.max(claimed.max().unwrap_or(0));
        let end = &sentences[heard.ends.closing.min(sentences.len())..];
        let is_choice = matches!(ask.form, Form::Choice { .. });
        heard.ends.is_undecided = end
            .iter()
            .any(|sentence| stance::is_undecided(&tokens[sentence.range.clone()], is_choice));
        heard
    }

    fn sentence(&mut self, number: usize, sentence: &Sentence) {
        let own = &self.tokens[sentence.range.clone()];
        let found = mentions::mentions(self.ask, self.vocabulary, own);
        let parts = Parts::new(self.ask, self.vocabulary, own, &found);
        self.refer(number, sentence, &found);
        if !found.is_empty() {
            self.ends.opening = self.ends.opening.min(number);
        }
        if found.iter().any(|mention| may_close(parts, mention)) && !own[0].is_mark('(') {
            self.ends.closing = number;
        }
        let asks_another = sentence.is_question && stance::asks_another(parts);
        let answers_another = std::mem::replace(&mut self.is_asked, asks_another);
        let is_aside = sentence.naming.is_some_and(Naming::is_aside);
        if is_aside || sentence.is_question || stance::begs_off(own) {
            return;
        }
        let denial = self.stance.denial(own);
        self.ends.is_declined |= denial.is_some();
        let mut said = self.said(parts, sentence.naming);
        self.latest = latest(parts, self.latest.take());
        // A program says what it cannot do, and then what it does.
        let from = denial.map_or(0, |denial| stance::clause_behind(own, denial));
        said.claims.retain(|claim| {
            claim.at >= from && !(answers_another && claim.firmness == Firmness::Bare)
        });
        let is_silent = answers_another || denial.is_some();
        if !is_silent {
            self.keep_open(parts, number, sentence.range.start);
        }
        self.denied.extend(said.denied);
        if self.stance.is_outside() {
            said.claims.retain(|claim| !claim.is_refusal);
        }
        // "Scenario 1 (I give 20): 26".
        if own[0].is_word("scenario|option|case|alternative|variant") {
            said.claims.retain(|claim| !is_in_brackets(own, claim.at));
        }
        let is_dated = is_dated(parts, sentence.naming);
        let is_beside = is_dated || is_beside(parts, sentence.naming);
        for mut claim in said.claims {
            claim.is_dated = is_dated;
            claim.is_cell = sentence.is_cell;
            claim.is_beside = is_beside || is_in_brackets(own, claim.at);
            claim.names_own = names_own(parts, &claim.stated);
            self.keep(claim, number, sentence.range.start);
        }
    }

    /// Learns what options a sentence names, or claims the one that it chooses.
    fn refer(&mut self, number: usize, sentence: &Sentence, found: &[Mention]) {
        let place = layout::with_label(self.tokens, &sentence.range);
        let offset = sentence.range.start - place.start;
        let shifted = mentions::shifted(found, offset);
        self.references.learn(self.tokens, &place, &shifted);
        let is_other = |mention: &Mention| mention.why_not == Some(WhyNot::OtherSort);
        if found.iter().all(is_other) {
            let range = &sentence.range;
            let chosen = self.references.chosen(self.ask, self.tokens, range);
            self.claims.extend(chosen.map(|claim| Claim {
                sentence: number,
                ..claim
            }));
        }
    }

    /// What a sentence of the speaker's own says.
    fn said(&self, parts: Parts<'a, '_>, naming: Option<Naming>) -> Statements {
        let mut said = statements::of_sentence(parts);
        said.claims.extend(predicates::of_sentence(parts));
        said.claims.extend(advice::of_sentence(parts));
        if said.claims.is_empty() {
            said.claims.extend(shares::of_sentence(parts));
        }
        let is_firm = |claim: &Claim| claim.firmness >= Firmness::Bare;
        if !said.claims.iter().any(is_firm) {
            said.claims.extend(fragments::of_sentence(parts, naming));
        }
        if !said.claims.iter().any(is_firm) {
            said.claims.extend(closing::of_sentence(parts));
        }
        let is_other = |mention: &Mention| mention.why_not == Some(WhyNot::OtherSort);
        let names_none = parts.mentions.iter().all(is_other);
        if said.claims.is_empty() && names_none && predicates::refers_back(parts) {
            let last = self.latest.clone().map(Stated::One);
            let claim = last.map(|last| Claim::new(last, Firmness::Committed, 0));
            said.claims.extend(claim);
        }
        let condition = parts.condition().unwrap_or(parts.tokens.len());
        for claim in &mut said.claims {
            if statements::hangs(parts, claim.at, condition) {
                claim.stated = Stated::Several;
                claim.hangs = claim.firmness == Firmness::Intended;
            }
        }
        said
    }

    /// Keeps what a sentence names, if it is not called something else.
    fn keep_open(&mut self, parts: Parts<'_, '_>, number: usize, start: usize) {
        let condition = parts.condition().unwrap_or(parts.tokens.len());
        let is_denied = !parts.of_numbers() && parts.is_denied();
        let all = parts.tokens.len();
        let is_later =
            parts.any_of(0, all, &[Class::ToCome, Class::Future]) && !parts.any(0, all, Class::Now);
        // "I hope to win with 61", "the equilibrium at 0".
        let is_theory = (0..all).any(|at| parts.word(at, "equilibrium|nash|theory|theoretically"))
            && !parts.any(0, all, Class::Speaker);
        let is_later =
            is_later || is_theory || parts.word(0, "i") && parts.word(1, "hope|wish|wonder");
        let stands = |mention: &&Mention| {
            let is_torn = parts.is_torn(mention) || parts.offers_else(mention);
            let is_free = parts.is_free(mention.start) && !is_later && !is_denied && !is_torn;
            mention.why_not.is_none()
                && is_free
                && !statements::hangs(parts, mention.start, condition)
        };
        for mention in parts.mentions.iter().filter(stands) {
            let mut mention = mention.clone();
            mention.start += start;
            mention.end += start;
            let sentence = number;
            self.open.push(Named { mention, sentence });
        }
    }

    fn keep(&mut self, mut claim: Claim, number: usize, start: usize) {
        claim.at += start;
        claim.sentence = number;
        let between = &self.tokens[self.behind.min(claim.at)..claim.at];
        claim.corrects = match claim.firmness {
            Firmness::Ended => corrections::begins(self.tokens, start) > 0,
            _ => corrections::takes_back(between),
        };
        claim.is_quoted = self.tokens[claim.at].is_quoted;
        self.behind = claim.at;
        self.claims.push(claim);
    }
}

/// Whether a sentence calls something the speaker's answer of today: "my bid of 40".
fn names_own(parts: Parts<'_, '_>, stated: &Stated) -> bool {
    let is_noun = |at: &usize| parts.word(at - 1, "my") && parts.is(*at, Class::Noun);
    let noun = (1..parts.tokens.len()).find(is_noun);
    let mut named = noun
        .into_iter()
        .flat_map(|noun| noun + 1..noun + 6)
        .filter_map(|at| parts.mention_at(at));
    !parts.any(0, parts.tokens.len(), Class::Past)
        && named.any(|mention| Stated::One(mention.action.clone()) == *stated)
}

/// Whether a sentence names a day: "Day 9: 140", "on day 2 I bid 60".
fn is_dated(parts: Parts<'_, '_>, naming: Option<Naming>) -> bool {
    let all = parts.tokens.len();
    let dates = |at: usize| {
        let next = parts.tokens.get(at + 1).and_then(Token::number);
        let is_time = parts.is(at, Class::Time) || parts.word(at, "days|rounds|weeks|phase");
        is_time && next.is_some()
    };
    let is_named = naming == Some(Naming::Dated) || (0..all).any(dates);
    is_named && !parts.any(0, all, Class::Now)
}

/// Whether a sentence may be of something else than today's answer: "then 60", "even if I
/// lose, I drop to 8".
fn is_beside(parts: Parts<'_, '_>, naming: Option<Naming>) -> bool {
    let is_label = naming.is_some_and(|naming| !naming.is_own());
    let lead = usize::from(parts.word(0, "even|and|but|only"));
    let supposes = parts.word(lead, "if|should|unless");
    let is_later = parts.word(0, "then|after|afterwards|later|next");
    is_label || supposes || is_later || parts.mark(0, "(")
}

/// Whether a place stands in brackets behind other words: "scenario 1 (I give 20)".
fn is_in_brackets(sentence: &[Token<'_>], at: usize) -> bool {
    let before = &sentence[..at.min(sentence.len())];
    let open = before.iter().rposition(|token| token.is_mark('('));
    open.is_some_and(|open| !before[open..].iter().any(|token| token.is_mark(')')))
}

/// What "that" means behind a sentence: what it named last as possible, unless that is one of
/// a list, else what it told last, else what it meant before.
fn latest(parts: Parts<'_, '_>, before: Option<Action>) -> Option<Action> {
    let of = |is_meant: fn(&WhyNot) -> bool| {
        let meant = |mention: &&Mention| mention.why_not.as_ref().is_none_or(is_meant);
        let mut all = parts.mentions.iter().filter(meant);
        let last = all.next_back()?;
        let is_listed = all.next_back().is_some_and(|other| {
            let joins = parts.mark(other.end, ",") || parts.word(other.end, "and|or");
            other.action != last.action && joins && last.start == other.end + 1
        });
        Some((!is_listed).then(|| last.action.clone()))
    };
    let named = of(|why_not| *why_not == WhyNot::Supposed);
    let told = || of(|why_not| matches!(why_not, WhyNot::Supposed | WhyNot::Had));
    named.or_else(told).unwrap_or(before)
}

/// Whether a reply may close with this.
fn may_close(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let money = [Class::MoneyHad, Class::Kept, Class::Owning];
    match mention.why_not {
        Some(WhyNot::OtherSort | WhyNot::Supposed) => false,
        Some(WhyNot::Had) => !parts.any_of(0, parts.tokens.len(), &money),
        _ => true,
    }
}
