//! How people close a reply, in whatever words: with what the speaker does with an amount
//! ("I'm keeping to my 40"), with what everything comes to ("the result is 40"), or with the
//! answer alone ("all in all: the cheap one"). Weaker than a statement; it counts only where
//! a reply ends. Called by `heard.rs`.

use super::beside::WhyNot;
use super::lexicon::Class;
use super::mentions::Mention;
use super::naming;
use super::parts::Parts;
use super::tokens::{Kind, Token};
use super::verdict::{Claim, Firmness, Stated};

/// What a sentence shows to be the answer, if it closes a reply.
pub fn of_sentence(parts: Parts<'_, '_>) -> Option<Claim> {
    if parts.any_of(0, parts.tokens.len(), &[Class::ToCome, Class::Future]) {
        return None;
    }
    let last = candidate(parts)?;
    let is_denied = !parts.of_numbers() && parts.is_denied();
    let is_open = parts.is_torn(last) || is_offered_beside(parts, last);
    if is_open || is_denied && !is_alone(parts, last) {
        return None;
    }
    let tests = [is_named, is_done, is_result, is_alone];
    let firmness = match tests.iter().any(|shows| shows(parts, last)) {
        true => Firmness::Shown,
        false if is_last(parts, last) => Firmness::Ended,
        false => return None,
    };
    let mut claim = Claim::new(Stated::One(last.action.clone()), firmness, last.start);
    let own = [Class::Speaker, Class::Itself, Class::So, Class::Concluding];
    claim.is_own = parts.any_of(0, last.start, &own) || is_told(parts, last);
    claim.concludes = parts.any(0, last.start, Class::Concluding);
    Some(claim)
}

/// The last mention that may be meant; else the only one, if the speaker uses it; else the
/// last word.
fn candidate<'b>(parts: Parts<'_, 'b>) -> Option<&'b Mention> {
    let is_free = |mention: &&Mention| parts.is_free(mention.start);
    let is_live = |mention: &&Mention| mention.why_not.is_none() && is_free(mention);
    if let Some(live) = parts.mentions.iter().rfind(is_live) {
        return Some(live);
    }
    let last = parts.mentions.last().filter(is_free)?;
    let is_used = || is_done(parts, last) || is_named(parts, last);
    // "Twice my salary of 50" is not 50.
    let multiplies = |at: usize| parts.word(at, "twice|double|triple|half");
    let is_multiplied = (last.start.saturating_sub(5)..last.start).any(multiplies);
    let is_only = parts.mentions.len() == 1 && may_be_used(last) && !is_multiplied;
    (is_only && is_used() || is_last(parts, last)).then_some(last)
}

/// Whether an answer is the last word of a sentence that does not tell of somebody else.
fn is_last(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let ends = parts.tokens[mention.end..]
        .iter()
        .all(|token| token.kind != Kind::Word && token.number().is_none());
    let is_own = match mention.why_not {
        None => true,
        Some(WhyNot::Theirs) => is_told(parts, mention),
        Some(_) => false,
    };
    let idle = [Class::Supposing, Class::If, Class::Past, Class::Denying];
    let is_rival = |other: &Mention| other.why_not.is_none() && other.action != mention.action;
    let is_weighed = !parts.of_numbers() && parts.mentions.iter().any(is_rival);
    let ends = ends || !parts.of_numbers();
    !is_weighed && ends && is_own && !parts.any_of(0, mention.start, &idle)
}

/// Whether somebody is told to answer, who may be the speaker: "Cindy bids 104".
fn is_told(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let verb = (0..mention.start)
        .rev()
        .find(|at| !parts.is(*at, Class::Approx));
    let is_third = |at: usize| parts.is(at, Class::Verb) && parts.tokens[at].text.ends_with('s');
    verb.is_some_and(is_third) && !parts.any(0, mention.start, Class::Speaker)
}

/// Whether another answer is offered before this one: "30, maybe 31".
fn is_offered_beside(parts: Parts<'_, '_>, last: &Mention) -> bool {
    let before = parts
        .mentions
        .iter()
        .rev()
        .find(|other| other.end <= last.start);
    before.is_some_and(|other| {
        let between = &parts.tokens[other.end..last.start];
        let joins = |token: &Token<'_>| {
            token.is_any_mark(",/") || token.is(Class::Possibly) || token.is_word("or|and|to")
        };
        other.action != last.action && between.len() < 4 && between.iter().all(joins)
    })
}

/// Whether an amount of which the speaker has said more may still be the one he uses: "I use
/// all of the 40 that I have".
fn may_be_used(mention: &Mention) -> bool {
    matches!(
        mention.why_not,
        Some(WhyNot::Had | WhyNot::Supposed | WhyNot::Theirs)
    )
}

/// Whether the only amount behind a word for answers is of the speaker's: "a bid of 40 is
/// certain to win".
fn is_named(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let is_strong = |at: &usize| {
        let is_answer = parts.is(*at, Class::Verb) || parts.is(*at, Class::Noun);
        is_answer && !parts.word(*at, "bids|contributions|guesses|offers|answers|choices")
    };
    let Some(name) = (0..mention.start)
        .find(is_strong)
        .filter(|_| parts.of_numbers())
    else {
        return false;
    };
    let is_rival = |other: &Mention| {
        other.why_not.is_none() && other.start > name && other.action != mention.action
    };
    let idle = [
        Class::Past,
        Class::If,
        Class::Denying,
        Class::OfOthers,
        Class::Bound,
        Class::Stative,
    ];
    let is_idle = |at: usize| {
        let is_other = naming::is_another(parts.tokens, at, parts.ask.seat);
        parts.tokens[at].is_any(&idle) && !parts.is(at, Class::My) || is_other
    };
    !parts.mentions.iter().any(is_rival) && !(0..mention.start).any(is_idle)
}

/// Whether the speaker does something with an amount, rather than to have, know or expect it.
fn is_done(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let breaks = |at: usize| {
        let token = &parts.tokens[at];
        token.is_any_mark(";:(")
            || token.is_any(&[Class::Because, Class::If])
            || parts.word(at, "which|who|when|while")
    };
    let speaks = |at: usize| {
        let is_object = parts.word(at, "me|myself");
        parts.is(at, Class::Speaker) && !is_object || parts.is(at, Class::Itself)
    };
    let from = (0..mention.start)
        .rev()
        .take_while(|at| !breaks(*at))
        .find(|at| speaks(*at));
    // "Yesterday I bid 36".
    let Some(from) = from.filter(|from| !parts.any(from.saturating_sub(2), *from, Class::Earlier))
    else {
        return false;
    };
    let idle = [
        Class::Stative,
        Class::Outcome,
        Class::Owning,
        Class::Supposing,
        Class::Denying,
    ];
    // A story tells of its hero's answer as of the past.
    let is_story = parts.is(from, Class::Itself);
    let is_idle = |at: usize| {
        let token = &parts.tokens[at];
        let is_hers = is_story && token.is_word("his|her|their");
        let is_other = !is_hers && naming::is_another(parts.tokens, at, parts.ask.seat);
        let is_time = token.is_word("last|previous|prior|past|earlier|current");
        let is_subject = |at: usize| parts.is(at, Class::Speaker) && !parts.word(at, "i'm|im");
        let acted = token.text.ends_with("ed") && at > 0 && is_subject(at - 1);
        let is_past = token.is(Class::Past) && !is_time || acted;
        let is_idle = token.is_any(&idle) && !token.is_word("can|may");
        is_idle || is_other || is_past && !is_story
    };
    !(from..mention.start).any(is_idle)
}

/// Whether a sentence says that everything comes to an amount: "the result is 40", "hence 40".
fn is_result(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let end = |at: usize| parts.is(at, Class::Approx) || parts.mark(at, ":,-");
    let at = (0..mention.start).rev().find(|at| !end(*at));
    let Some(at) = at else {
        return false;
    };
    let refers = parts.word(0, "that|this|it|which") && parts.word(1, "makes|gives|means|leaves");
    if refers && at < 4 {
        return true;
    }
    let is_copula = parts.is(at, Class::Be) || parts.word(at, "makes|means|equals|be|it");
    let concludes = |at: usize| parts.is(at, Class::Concluding) || parts.is(at, Class::Conclusion);
    let is_subject = |at: usize| parts.is(at, Class::Noun) || concludes(at);
    is_copula && (0..at).any(is_subject) || concludes(at)
}

/// Whether an answer stands alone behind the last mark of a sentence.
fn is_alone(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let is_article = |token: &Token<'_>| {
        token.is(Class::Approx) || token.is_word("one|another|again|namely|ie|but|for|on")
    };
    let before = parts.tokens[..mention.start]
        .iter()
        .rposition(|token| !is_article(token));
    let begins = before.is_none_or(|at| {
        parts.tokens[at].kind != Kind::Word && parts.tokens[at].number().is_none()
    });
    let passes = [Class::Aside, Class::Unit, Class::Now, Class::Noun];
    let rest = &parts.tokens[mention.end..];
    let rest = rest.iter().take_while(|token| !token.is_any_mark(",;:-("));
    begins
        && rest
            .into_iter()
            .all(|token| token.is_any(&passes) || token.is_word("for|me|please"))
}
