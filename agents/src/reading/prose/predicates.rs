//! Statements in which the answer comes first: "45 is my bid", "120 will be enough", "16 from
//! me", "22 it is", "28, and that's my guess". Called by `prose.rs` beside `statements.rs`.

use super::beside::WhyNot;
use super::lexicon::Class;
use super::mentions::{Mention, other_option};
use super::parts::Parts;
use super::verdict::{Claim, Firmness, Stated};

/// Claims that a sentence makes by saying of an answer that it is one.
pub fn of_sentence(parts: Parts<'_, '_>) -> Vec<Claim> {
    let condition = parts.condition().unwrap_or(parts.tokens.len());
    let live = parts
        .mentions
        .iter()
        .filter(|mention| mention.start < condition);
    let mut claims: Vec<Claim> = live.filter_map(|mention| claim(parts, mention)).collect();
    claims.extend(resumed(parts));
    claims
}

fn claim(parts: Parts<'_, '_>, mention: &Mention) -> Option<Claim> {
    let firmness = said_of(parts, mention)?;
    // What somebody has, or thought of, may still be said to be the answer.
    let is_said = firmness == Firmness::Committed
        && matches!(mention.why_not, Some(WhyNot::Had | WhyNot::Supposed));
    let is_denied = mention.start > 0 && parts.word(mention.start - 1, "not|neither");
    let action = match is_denied {
        true => other_option(parts.ask, &mention.action)?,
        false => mention.action.clone(),
    };
    let is_second = mention.start > 1
        && parts.word(mention.start - 1, "or")
        && parts
            .mentions
            .iter()
            .any(|other| other.end == mention.start - 1);
    if is_second {
        return Some(Claim::new(Stated::Several, firmness, mention.start));
    }
    let is_possible = mention.why_not.is_none() || is_said;
    is_possible.then(|| Claim::new(Stated::One(action), firmness, mention.start))
}

/// Whether a sentence says that what was named before is the answer: "That's what I bid".
pub fn refers_back(parts: Parts<'_, '_>) -> bool {
    let begins = parts.tokens.first().is_some_and(|first| {
        first.is_word("that's|that|this|it's|so|and|i|i'll|i'm|we|we'll|let's")
    });
    let lead = (0..2)
        .find(|at| !parts.word(*at, "so|and|then"))
        .unwrap_or(2);
    let states = behind_copula(parts, lead)
        .is_some_and(|from| is_answer(parts, from) || is_what_i_do(parts, from));
    let tries = |at: usize| parts.is(at, Class::Verb) || parts.word(at, "try|make|take|have|play");
    let takes = (0..4).any(|at| parts.word(at, "go|going with it|that|this"));
    let acts = takes || (0..3).any(|at| tries(at) && parts.word(at + 1, "that|it|this"));
    let resumes = (1..parts.tokens.len()).any(|at| points_back(parts, at));
    (begins || resumes)
        && (states || resumes || acts && parts.any(0, 2, Class::Speaker))
        && !parts.any(0, parts.tokens.len(), Class::Denying)
}

/// What stands behind an answer says of it.
fn said_of(parts: Parts<'_, '_>, mention: &Mention) -> Option<Firmness> {
    let (mention_start, end) = (mention.start, mention.end);
    let word = |at: usize, words: &str| parts.word(at, words);
    let is_between = |at: &usize| parts.mark(*at, ",-)(") || parts.is(*at, Class::Between);
    let at = (end..end + 4).find(|at| !is_between(at)).unwrap_or(end + 4);
    let at = at + usize::from(word(at, "and"));
    // "16, my contribution".
    let is_noun = |at: usize| parts.is(at, Class::Noun) && !parts.any(at + 1, at + 2, Class::Be);
    if parts.mark(end, ",-") && parts.word(end + 1, "my") && is_noun(end + 2) {
        return (!parts.mark(end + 3, ":=") && parts.mention_at(end + 3).is_none())
            .then_some(Firmness::Committed);
    }
    // "Which makes 11 my choice".
    let makes = mention_start > 0 && word(mention_start - 1, "makes|making");
    if makes && word(end, "my|our") && is_noun(end + 1) {
        return Some(Firmness::Committed);
    }
    // "45 it is", "14.8 is it".
    let closes = parts.tokens.len() <= at + 3;
    if word(at, "it") && word(at + 1, "is") && closes || word(at, "is") && word(at + 1, "it") {
        return Some(Firmness::Committed);
    }
    if let Some(from) = behind_copula(parts, at)
        && (is_answer(parts, from) || is_what_i_do(parts, from))
    {
        return Some(Firmness::Committed);
    }
    if word(at, "would|should") && word(at + 1, "be") && is_answer(parts, at + 2) {
        return Some(Firmness::Intended);
    }
    // "Which I submit", "and I bid that".
    let submits =
        word(at, "which|that|so") && parts.is(at + 1, Class::Speaker) && acts(parts, at + 2);
    let refers = parts.is(at, Class::Speaker)
        && (at + 1..at + 4).any(|at| acts(parts, at) && parts.is(at + 1, Class::Anaphor));
    // "50, I'll bid 60" says 60.
    let is_other = (at..at + 7).any(|at| parts.mention_at(at).is_some());
    let (submits, refers) = (submits && !is_other, refers && !is_other);
    let is_mine = word(at, "from") && word(at + 1, "me")
        || word(at, "from") && word(at + 1, "my") && word(at + 2, "side|end|part");
    let is_past = parts.any(0, mention_start, Class::Past) && !parts.any(0, at, Class::Now);
    let is_mine = is_mine && !is_past;
    // "A return of 3 for the group", but "my budget of 300 goes into this".
    let is_of = mention_start > 0 && word(mention_start - 1, "of") && !word(at, "go|goes|going");
    if submits || refers || is_mine || !is_of && goes(parts, at) {
        return Some(Firmness::Committed);
    }
    // "So 13 stands."
    let stands = word(at, "stands") && !parts.any(at + 1, at + 3, Class::Linking);
    if stands && at == end && parts.tokens.len() == at + 1 {
        return Some(Firmness::Committed);
    }
    judged(parts, mention, at)
}

/// What a sentence thinks of an answer: "120 will be enough", "45 wins".
fn judged(parts: Parts<'_, '_>, mention: &Mention, at: usize) -> Option<Firmness> {
    let (mention_start, end) = (mention.start, mention.end);
    let word = |at: usize, words: &str| parts.word(at, words);
    let modals =
        "should|will|would|ought|seems|appears|must|is|looks|sounds|feels|strikes|offers|hits";
    let is_hearsay = parts.tokens[..end]
        .iter()
        .any(|token| token.is_word("say|says|claim|claims|argue|argued|argues"));
    let is_poor = (at + 1..at + 4).any(|at| parts.is(at, Class::Denying) || word(at, "too"));
    // "Cheap is fair, costly is tempting", "I don't think going is a good idea".
    let is_rival = |other: &Mention| other.action != mention.action;
    let is_weighed = parts.mentions.iter().any(is_rival) || parts.any(0, end, Class::Denying);
    let is_open = !parts.of_numbers() && is_weighed;
    let is_enough =
        !is_open && word(at, modals) && (at + 1..at + 4).any(|at| parts.is(at, Class::Enough));
    if is_enough && !is_poor && !is_hearsay {
        return Some(Firmness::Intended);
    }
    let is_now = parts.is(end, Class::Now) || word(end, "this") && parts.is(end + 1, Class::Time);
    let live = parts
        .mentions
        .iter()
        .filter(|mention| mention.why_not.is_none());
    let is_level = mention_start > 0 && word(mention_start - 1, "at");
    let is_now = is_now && !is_level && live.count() == 1;
    let wins =
        word(at, "wins|beats|guarantees|suffices|outbids") && !parts.is(at + 1, Class::Counted);
    (wins || is_now).then_some(Firmness::Named)
}

/// The place behind words that say what something is: "is", "and that's", "will therefore be".
fn behind_copula(parts: Parts<'_, '_>, at: usize) -> Option<usize> {
    let short = "is|are|be|that's|thats|it's|makes|being|becomes";
    let at = at + usize::from(parts.word(at, "that|which|this|it"));
    let at = at
        + usize::from(
            parts.word(at, "figure|number|amount|sum|value")
                && at > 0
                && parts.word(at - 1, "that|this"),
        );
    let verb = match () {
        () if parts.word(at, short) => at + 1,
        () if parts.word(at, "will|shall be") => at + 2,
        () => return None,
    };
    let adverbs = "therefore|thus|hence|also|now|still|so|then";
    Some(verb + usize::from(parts.word(verb, adverbs)))
}

/// Whether "my bid", "the number" stands at a place.
fn is_answer(parts: Parts<'_, '_>, from: usize) -> bool {
    let is_noun = |at: &usize| {
        let nouns = [Class::Noun, Class::Verb, Class::Conclusion];
        // "This is the final round" refers to nothing.
        if parts.is(*at, Class::Conclusion) && parts.is(at + 1, Class::Time) {
            return false;
        }
        // "The public pot" is none.
        let is_pot = parts.word(*at, "public");
        parts
            .tokens
            .get(*at)
            .is_some_and(|token| token.is_any(&nouns) && !is_pot)
    };
    let asides = [
        Class::OfOthers,
        Class::Denying,
        Class::Property,
        Class::MoneyHad,
        Class::Bounding,
    ];
    let noun = (from..from + 5).find(is_noun);
    let is_strange = |at: usize| parts.tokens[at].classes.is_unknown() && parts.word(from, "the");
    let is_own = |noun: usize| {
        let is_aside = parts.any_of(from, noun, &asides);
        !is_aside && !(from..noun).any(is_strange)
    };
    // "Be me bid", as pirates say.
    let is_mine =
        parts.word(from, "my|the|our") || parts.word(from, "me") && noun == Some(from + 1);
    is_mine && noun.is_some_and(is_own)
}

/// Whether "what I offer", "where I stop" stands at a place.
fn is_what_i_do(parts: Parts<'_, '_>, from: usize) -> bool {
    let is_one = parts.word(from, "the one");
    if is_one {
        return parts.is(from + 2, Class::Speaker);
    }
    // Where one may leave, "where I stop" is the end.
    let stops = parts.word(from, "where") && !parts.vocabulary.may_leave();
    let asks = stops || parts.word(from, "what|how|all");
    let got = [Class::Owning, Class::Outcome, Class::Past];
    let speaks = |at: &usize| parts.is(*at, Class::Speaker);
    let speaker = (from + 1..from + 3).find(speaks).filter(|_| asks);
    speaker.is_some_and(|speaker| !parts.any_of(speaker + 1, speaker + 2, &got))
}

/// Whether the speaker answers at a place: "submit", "will bid".
fn acts(parts: Parts<'_, '_>, at: usize) -> bool {
    let is_act = |at: usize| parts.is(at, Class::Verb) || parts.is(at, Class::WeakVerb);
    (at..at + 3).any(|at| is_act(at) && !parts.is(at, Class::Owning))
}

/// Whether an amount goes where answers go: "go to the pot", "are for the project".
fn goes(parts: Parts<'_, '_>, at: usize) -> bool {
    let places = "pot|pool|project|public|common|group|auction|water|table|community|fund";
    let moves = parts.word(at, "go|goes|going|into|in|on|for|to");
    let lies = parts.word(at, "are|is") && parts.word(at + 1, "to|into|for|in");
    let leads =
        moves && (parts.word(at, "into|on") || parts.word(at + 1, "to|into|for|in|on")) || lies;
    let shared = parts.word(at, "for") && parts.word(at + 2, "common|public|group|project");
    let here = parts.word(at + 1, "into|on|to|for this|it");
    leads && ((at + 1..at + 5).any(|at| parts.word(at, places)) || here) || shared
}

/// Whether a clause begins at a place that calls what stands before it the answer: ", so
/// that's what I bid".
fn points_back(parts: Parts<'_, '_>, at: usize) -> bool {
    let begins =
        parts.is(at - 1, Class::So) || parts.word(at - 1, "and|which") || parts.mark(at - 1, ",-");
    let states = |from: usize| is_answer(parts, from) || is_what_i_do(parts, from);
    begins
        && parts.word(at, "that's|that|this|it's|is")
        && behind_copula(parts, at).is_some_and(states)
}

/// "... are worth $60, so that's what I bid": the amount named last before that.
fn resumed(parts: Parts<'_, '_>) -> Option<Claim> {
    let at = (1..parts.tokens.len()).find(|at| points_back(parts, *at))?;
    let before = parts
        .mentions
        .iter()
        .take_while(|mention| mention.end <= at);
    let last = before
        .filter(|mention| !matches!(mention.why_not, Some(WhyNot::OtherSort)))
        .last()?;
    if parts.any_of(last.end, at, &[Class::Leaving, Class::Refraining]) {
        let refusal = parts.vocabulary.refusal.clone()?;
        return Some(Claim::new(Stated::One(refusal), Firmness::Committed, at));
    }
    // "I have $102, so it's feasible, and that's my decision".
    let is_balance = last.why_not == Some(WhyNot::Had)
        && (1..last.start)
            .any(|at| parts.is(at - 1, Class::Speaker) && parts.word(at, "have|own|hold"));
    let is_choice = is_balance
        || parts.tokens[last.end..at]
            .iter()
            .any(|token| token.is_word("or"));
    (parts.of_numbers() && !is_choice && !parts.any(at, parts.tokens.len(), Class::Denying))
        .then(|| Claim::new(Stated::One(last.action.clone()), Firmness::Committed, at))
}
