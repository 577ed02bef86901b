//! Answers that stand by themselves: "$15.", "So 87.", "Me: 47", "45, because ...", "accept",
//! and sentences that end in a number behind a colon or a comma. Labels, headings and cells
//! of tables make them as firm as a sentence.

use super::beside::WhyNot;
use super::lexicon::Class;
use super::mentions::{Mention, other_option};
use super::naming::Naming;
use super::parts::Parts;
use super::phrases::Manner;
use super::refusals;
use super::tokens::{Kind, Token};
use super::verdict::{Claim, Firmness, Stated};

/// Claims that a sentence makes by being hardly more than an answer.
pub fn of_sentence(parts: Parts<'_, '_>, naming: Option<Naming>) -> Vec<Claim> {
    let firmness = firmness_of(naming);
    if let Some(mut claim) = bare(parts, 0, firmness) {
        let is_only = |only: &Mention| only.end == parts.tokens.len();
        claim.is_whole = naming.is_none() && matches!(parts.mentions, [only] if is_only(only));
        return vec![claim];
    }
    let end = parts
        .condition()
        .map_or(parts.tokens.len(), |condition| condition + 1);
    let starts = (1..end.min(parts.tokens.len())).filter(|at| begins(parts, *at));
    let starts = starts.filter(|start| !parts.any(0, *start, Class::ToCome));
    let found = starts.filter_map(|start| {
        let naming = naming_before(parts, start);
        let own = naming.filter(|naming| naming.is_own());
        let claim = bare(parts, start, firmness_of(own))?;
        // An aside among other amounts is none: "..., 40, ...".
        let is_so = !parts.of_numbers() && parts.word(start, "so|therefore|thus|hence");
        let concludes = is_so || !parts.mark(start - 1, ",");
        let mut claim = claim;
        if !concludes && claim.firmness == Firmness::Bare {
            claim.firmness = Firmness::Shown;
        }
        let is_alone = parts.mentions.iter().all(|other| {
            let comes_before = other.start < claim.at && (concludes || other.why_not.is_some());
            other.start == claim.at || own.is_some() || comes_before
        });
        (is_alone && !naming.is_some_and(Naming::is_aside)).then_some(claim)
    });
    found.take(1).collect()
}

/// How firm an answer is by its name.
fn firmness_of(naming: Option<Naming>) -> Firmness {
    match naming {
        Some(Naming::Final) => Firmness::Final,
        Some(naming) if naming.is_own() => Firmness::Committed,
        _ => Firmness::Bare,
    }
}

/// Whether an answer may begin at a place inside a sentence: "..., so 119", "...: 30".
fn begins(parts: Parts<'_, '_>, at: usize) -> bool {
    let before = &parts.tokens[at - 1];
    let is_dash = before.is_mark('-') && before.is_apart && parts.tokens[at].is_apart;
    let concludes = before.is_word("so|therefore|thus|hence");
    before.is_any_mark(":,=✓") || is_dash || concludes
}

/// The name before a mark inside a sentence, if that is all that stands there.
fn naming_before(parts: Parts<'_, '_>, start: usize) -> Option<Naming> {
    let end = start - 1;
    if !parts.mark(end, ":=-") {
        return None;
    }
    let from = parts.tokens[..end]
        .iter()
        .rposition(|token| token.kind != Kind::Word);
    let name = &parts.tokens[from.map_or(0, |from| from + 1)..end];
    let is_name =
        !name.is_empty() && name.len() <= 4 && !name.iter().any(|token| token.is(Class::Speaker));
    is_name.then(|| Naming::of(name, parts.ask.seat))
}

/// Whether a token changes nothing before an answer.
fn is_harmless(token: &Token<'_>) -> bool {
    match token.kind {
        Kind::Word => token.is_any(&[Class::Aside, Class::Approx, Class::Correcting]),
        Kind::Mark(mark) => !"✗%/".contains(mark),
        _ => false,
    }
}

/// What the part of a sentence from a place on says, if that is hardly more than an answer.
fn bare(parts: Parts<'_, '_>, from: usize, firmness: Firmness) -> Option<Claim> {
    let may_leave = parts.vocabulary.may_leave();
    let claim = |stated: Stated, at: usize| {
        let mut claim = Claim::new(stated, firmness, at);
        claim.is_labelled = firmness >= Firmness::Committed;
        claim
    };
    for at in from..parts.tokens.len() {
        // "Decision: not going".
        if !parts.of_numbers() && parts.word(at, "not|never") {
            let article = usize::from(parts.word(at + 1, "the|a"));
            let refused = parts.mention_at(at + 1 + article)?;
            let other = other_option(parts.ask, &refused.action)?;
            let one = || claim(Stated::One(other), at);
            return ends_well(parts, refused.end).then(one);
        }
        if let Some(mention) = parts.mention_at(at) {
            let closes = mention.manner == Manner::Alone && mention.end < parts.tokens.len();
            let is_rival =
                |other: &Mention| other.why_not.is_none() && other.action != mention.action;
            let is_weighed = !parts.of_numbers() && parts.mentions.iter().any(is_rival);
            let is_clear = mention.why_not.is_none()
                && !is_weighed
                && ends_well(parts, mention.end)
                && !is_one_of(parts, mention);
            let one = || claim(Stated::One(mention.action.clone()), at);
            return (is_clear && !closes).then(one);
        }
        if let Some(refusal) = &parts.vocabulary.refusal
            && let Some(end) = refusals::bare(parts.tokens, at, may_leave)
        {
            let one = || claim(Stated::One(refusal.clone()), at);
            return ends_well(parts, end).then(one);
        }
        let is_with = from > 0 && parts.word(at, "with");
        if is_with || !is_harmless(&parts.tokens[at]) {
            return None;
        }
    }
    None
}

/// Whether nothing follows an answer but thanks, a time, or another clause.
fn ends_well(parts: Parts<'_, '_>, end: usize) -> bool {
    let passes = [Class::Aside, Class::Unit, Class::Now, Class::My];
    for token in &parts.tokens[end..] {
        let is_clause = token.is(Class::Because) || token.is_word("which|but|and|if|unless");
        if is_clause || token.is_any_mark(",;:(-.|") {
            return true;
        }
        if token.kind == Kind::Word && !token.is_any(&passes) || token.number().is_some() {
            return false;
        }
    }
    true
}

/// Whether another answer is offered beside this one.
fn is_one_of(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    /// "40, or maybe 50".
    const APART: usize = 3;
    let joins = |token: &Token<'_>| {
        let is_dash = token.is_mark('-') && !token.is_apart;
        token.is_word("or|to|maybe|perhaps|all") || token.is_any_mark("/,") || is_dash
    };
    let from = parts
        .mentions
        .partition_point(|other| other.start < mention.end);
    let others = parts.mentions[from..].iter();
    let near = others.take_while(|other| other.start <= mention.end + APART);
    let is_open = |other: &Mention| matches!(other.why_not, None | Some(WhyNot::Had));
    let mut rivals = near.filter(|other| is_open(other) && other.action != mention.action);
    rivals.any(|other| {
        let between = &parts.tokens[mention.end..other.start];
        !between.is_empty()
            && between
                .iter()
                .all(|token| joins(token) || token.is(Class::Possibly))
    })
}
