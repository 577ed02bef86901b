//! What claims about the answer come to: one answer, several, or none. A later claim counts
//! more than an earlier one only if it says so; two that are as firm are no answer.

use agon_engine::Action;

/// What words state.
#[derive(Debug, Clone, PartialEq)]
pub enum Stated {
    /// One answer.
    One(Action),
    /// Several at once ("33 or 34").
    Several,
    /// Nothing.
    None,
}

/// How firmly something is said to be the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Firmness {
    /// It is named: "a bid of 40".
    Named,
    /// It is meant: "I should bid 40".
    Intended,
    /// It stands by itself: "40."
    Bare,
    /// It is told in words that may also tell of the past: "I bid 40".
    Told,
    /// It is said: "I bid 40", "Bid: 40".
    Committed,
    /// It is said to be final.
    Final,
}

/// An answer, or several, that a place of the text states.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// What is stated.
    pub stated: Stated,
    /// How firmly.
    pub firmness: Firmness,
    /// Where, in tokens.
    pub at: usize,
    /// Whether it concludes what was said before.
    pub concludes: bool,
    /// Whether it takes back what was said before.
    pub corrects: bool,
    /// Whether it is an order, which may stand in a list of what could be done.
    pub is_order: bool,
    /// Whether somebody is quoted.
    pub is_quoted: bool,
    /// Whether a label or the like says what it is.
    pub is_labelled: bool,
}

impl Claim {
    /// A claim in plain words.
    pub fn new(stated: Stated, firmness: Firmness, at: usize) -> Self {
        Self {
            stated,
            firmness,
            at,
            concludes: false,
            corrects: false,
            is_order: false,
            is_quoted: false,
            is_labelled: false,
        }
    }
}

/// Whether something is told that differs from a label or a refusal: "I bid 40. Bid: 50".
fn is_told_otherwise(claims: &[Claim]) -> bool {
    let is_weighty = |claim: &&Claim| {
        let weighs = claim.is_labelled || claim.stated == Stated::One(Action::Pass);
        weighs && claim.firmness > Firmness::Told
    };
    let mut weighty = claims.iter().filter(is_weighty);
    let Some(first) = weighty.next() else {
        return false;
    };
    let are_many = weighty.any(|other| other.stated != first.stated);
    let mut told = claims
        .iter()
        .filter(|claim| claim.firmness == Firmness::Told);
    told.any(|told| are_many || told.stated != first.stated)
}

/// Whether what is told differs from what is said: "I'll bid 64. I bid 58."
fn is_retold(claims: &[Claim]) -> bool {
    let told = claims
        .iter()
        .filter(|claim| claim.firmness == Firmness::Told);
    let differs = |told: &Claim| {
        let mut said = claims
            .iter()
            .filter(|claim| claim.firmness >= Firmness::Committed);
        said.any(|said| said.stated != told.stated)
    };
    told.into_iter().any(differs)
}

/// Numbers that stand by themselves on the way to what the speaker says he does are steps.
fn drop_steps(claims: &mut Vec<Claim>) {
    let said = claims
        .iter()
        .rposition(|claim| claim.firmness == Firmness::Intended);
    let Some(said) = said.filter(|said| *said + 1 == claims.len()) else {
        return;
    };
    let end = claims[said].at;
    let are_steps = claims[..said]
        .iter()
        .filter(|claim| claim.firmness == Firmness::Bare)
        .count()
        > 1;
    claims.retain(|claim| !are_steps || claim.firmness != Firmness::Bare || claim.at >= end);
}

/// What claims come to, in the order of the text.
pub fn of(mut claims: Vec<Claim>) -> Stated {
    if claims.iter().any(|claim| !claim.is_quoted) {
        claims.retain(|claim| !claim.is_quoted);
    }
    let mut orders = claims.iter().filter(|claim| claim.is_order);
    let first = orders.next();
    let are_options = first.is_some_and(|first| orders.any(|other| other.stated != first.stated));
    if are_options
        && claims
            .iter()
            .any(|claim| !claim.is_order && claim.firmness >= Firmness::Bare)
    {
        claims.retain(|claim| !claim.is_order);
    }
    // A range that one answer was settled on counts no more.
    let settled = claims
        .iter()
        .rposition(|claim| claim.stated != Stated::Several && claim.firmness >= Firmness::Bare);
    let mut at = 0;
    claims.retain(|claim| {
        at += 1;
        claim.stated != Stated::Several || settled.is_none_or(|settled| at > settled)
    });
    // What was taken back counts no more.
    let corrected = claims
        .iter()
        .rposition(|claim| claim.corrects && claim.firmness >= Firmness::Intended);
    if let Some(corrected) = corrected {
        claims.drain(..corrected);
    }
    if is_told_otherwise(&claims) || is_retold(&claims) {
        return Stated::Several;
    }
    drop_steps(&mut claims);
    let Some(firmest) = claims.iter().map(|claim| claim.firmness).max() else {
        return Stated::None;
    };
    claims.retain(|claim| claim.firmness == firmest);
    let Some((first, rest)) = claims.split_first() else {
        return Stated::None;
    };
    if rest.iter().all(|other| other.stated == first.stated) {
        return first.stated.clone();
    }
    if claims.iter().any(|claim| claim.is_labelled) {
        return Stated::Several;
    }
    if firmest >= Firmness::Committed {
        return Stated::Several;
    }
    let last = claims.iter().rev().find(|claim| claim.concludes);
    last.map_or(Stated::Several, |last| last.stated.clone())
}
