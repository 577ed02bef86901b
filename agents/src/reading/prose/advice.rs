//! What a reply calls the best to do, whoever does it: "the optimal strategy would be to bid
//! $55", "the suggested choice is 14", "it's better to keep my tokens". As firm as an
//! intention. Called by `heard.rs` beside `statements.rs`.

use super::lexicon::Class;
use super::parts::Parts;
use super::statements;
use super::verdict::{Claim, Firmness};

/// What is advised, besides what the answers of the game are called.
const ADVISED: &str = "strategy|move|course|response|reply|approach|plan|step|thing|possibility|option|way|alternative|play|idea|deal";

/// Advice by itself, which needs no praise.
const ADVICE: &str = "conclusion|recommendation|suggestion|advice|compromise";

/// Claims that a sentence makes by calling something the best.
pub fn of_sentence(parts: Parts<'_, '_>) -> Vec<Claim> {
    let end = parts.condition().unwrap_or(parts.tokens.len());
    let found = (0..end).filter_map(|at| {
        let from = behind_copula(parts, at)?;
        let from = advised(parts, at, from)?;
        let (stated, _) = statements::behind(parts, from, false)?;
        Some(Claim::new(stated, Firmness::Shown, at))
    });
    found.collect()
}

/// The place behind a copula at a place: "is", "would be", "seems to be".
fn behind_copula(parts: Parts<'_, '_>, at: usize) -> Option<usize> {
    let behind = match () {
        () if parts.word(at, "would|will|should|must|may be") => at + 2,
        () if parts.word(at, "seems|appears|looks to be") => at + 3,
        () if parts.word(at, "is|it's|that's|remains|seems|appears|looks") => at + 1,
        () => return None,
    };
    let adverbs = "therefore|thus|hence|also|now|still|so|then|probably|likely|clearly";
    Some(behind + usize::from(parts.word(behind, adverbs)))
}

/// The place from which what is advised follows, if anything is.
fn advised(parts: Parts<'_, '_>, copula: usize, behind: usize) -> Option<usize> {
    let start = parts.clause_start(copula);
    let asides = [Class::Denying, Class::Past, Class::Others, Class::Name];
    let is_later = (start..copula).any(|at| {
        let is_next = parts.word(at, "next") && !parts.is(at + 1, Class::Time);
        parts.is(at, Class::ToCome) && !is_next
    });
    if is_later
        || parts.any_of(start, copula, &asides)
        || parts.any(copula, behind + 2, Class::Denying)
    {
        return None;
    }
    let is_impersonal = parts.word(copula, "it's") || copula > 0 && parts.word(copula - 1, "it");
    if is_impersonal {
        let wise = (behind..behind + 4).find(|at| parts.is(*at, Class::Wise))?;
        let to = (wise + 1..wise + 4).find(|at| parts.word(*at, "to"))?;
        return Some(verb_behind(parts, to + 1));
    }
    let is_noun = |at: usize| {
        parts.is(at, Class::Noun) || parts.is(at, Class::Verb) || parts.word(at, ADVISED)
    };
    let wise = (start..copula).find(|at| parts.is(*at, Class::Wise));
    let is_praised = wise.is_some_and(|wise| (wise..copula).any(is_noun));
    let is_advice = (start..copula).any(|at| parts.word(at, ADVICE));
    let to = behind + usize::from(parts.word(behind, "to"));
    (is_praised || is_advice).then(|| verb_behind(parts, to))
}

/// The place behind a verb of answers, if one stands at a place.
fn verb_behind(parts: Parts<'_, '_>, at: usize) -> usize {
    let is_verb = parts.is(at, Class::Verb) || parts.is(at, Class::WeakVerb);
    at + usize::from(is_verb && parts.mention_at(at).is_none())
}
