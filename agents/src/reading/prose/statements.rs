//! Finds the answer that a sentence commits to, among other amounts and options: what others
//! do, what was done yesterday, what is to come, what is only thought about. What commits is
//! the speaker's own will ("I'll bid $35", "my number is 22"), then its intention ("I should
//! bid 35"), then an answer merely named ("by bidding $35").

use agon_engine::Action;

use super::beside::WhyNot;
use super::lexicon::Class;
use super::mentions::{Mention, other_option};
use super::parts::Parts;
use super::phrases::Manner;
use super::refusals;
use super::tokens::{Kind, Token};
use super::verdict::{Claim, Firmness, Stated};
use super::voice::{self, Voice};

/// What a sentence states.
#[derive(Debug, Default)]
pub struct Statements {
    /// What it claims to be the answer, in order.
    pub claims: Vec<Claim>,
    /// What it says is not the answer.
    pub denied: Vec<Action>,
}

/// What a word leads to.
#[derive(Debug, PartialEq)]
enum Said {
    /// An answer.
    Claimed(Firmness, Stated),
    /// What is not the answer.
    Denied(Action),
}

/// What a sentence states, in order.
pub fn of_sentence(parts: Parts<'_, '_>) -> Statements {
    let tokens = parts.tokens;
    let mut found = Statements::default();
    let condition = parts.condition().unwrap_or(tokens.len());
    let concluding = (0..tokens.len()).find(|at| parts.is(*at, Class::Concluding));
    for at in 0..tokens.len() {
        if at > condition && !parts.has_turned(condition, at) {
            continue;
        }
        let refused = refused_at(parts, at);
        let is_refusal = refused.is_some();
        match refused.or_else(|| answer_at(parts, at)) {
            Some(Said::Claimed(firmness, stated)) => {
                let mut claim = Claim::new(stated, firmness, at);
                claim.concludes = concluding.is_some_and(|concluding| concluding < at);
                claim.is_refusal = is_refusal;
                claim.is_order = voice::is_order(parts, at);
                found.claims.push(claim);
            }
            Some(Said::Denied(action)) => found.denied.push(action),
            None => {}
        }
    }
    found
}

/// Whether an answer hangs on a condition right behind it: "I'll go if few others do".
pub fn hangs(parts: Parts<'_, '_>, at: usize, condition: usize) -> bool {
    let is_between =
        |at: usize| parts.tokens[at].kind == Kind::Word || parts.tokens[at].number().is_some();
    // "I'll wait to see whether" asks, and decides nothing.
    // "I start with 14 and go up to 20 if": the condition is of the last.
    let between = parts
        .mentions
        .iter()
        .filter(|mention| (at..condition).contains(&mention.start));
    let has_more = parts.of_numbers() && between.count() > 1;
    // "I bid 115 today and more tomorrow if anyone dares to match it".
    let goes_on = (at..condition).any(|and| {
        let is_later = parts.any(and, condition, Class::ToCome) && parts.any(at, and, Class::Now);
        parts.word(and, "and") && (has_more || is_later)
    });
    let is_if = !goes_on && condition < parts.tokens.len() && !parts.word(condition, "whether");
    let is_otherwise = parts.is(condition, Class::Otherwise);
    let comma = usize::from(condition > 0 && parts.mark(condition - 1, ","));
    let is_close = (at..condition - comma.min(condition)).all(is_between)
        || is_otherwise
        || condition > 0 && parts.word(condition - 1, "only|but");
    is_if && at < condition && is_close
}

/// The refusal to answer at a place.
fn refused_at(parts: Parts<'_, '_>, at: usize) -> Option<Said> {
    let refusal = parts.vocabulary.refusal.as_ref()?;
    if parts.tokens[at].kind != Kind::Word {
        return None;
    }
    let clause = parts.tokens[..at]
        .iter()
        .rposition(|token| token.is_any_mark(",;:("));
    let clause = clause.map_or(0, |clause| clause + 1);
    let and = (clause..at).rfind(|at| parts.word(*at, "and|but"));
    // "Tomorrow, when I'll be sitting out".
    let is_then = parts.word(clause, "when") && clause > 1 && parts.is(clause - 2, Class::ToCome);
    let is_later = is_then
        || parts.any(and.unwrap_or(clause), at, Class::ToCome)
        || parts.any(at, at + 3, Class::ToCome);
    // "Above 2,900 I'm out".
    let is_bound = |mention: &Mention| {
        let within = (clause..at).contains(&mention.start) && mention.start > 0;
        within && parts.word(mention.start - 1, "above|beyond|over|past")
    };
    // "Beyond that, I'd let him have it".
    let is_past = (clause.saturating_sub(3)..at)
        .any(|at| parts.word(at, "above|beyond|past|after that|this"));
    let is_later = is_later || is_past || parts.mentions.iter().any(is_bound);
    // "12 stay in my pocket" says nothing of the rest.
    let is_counted = parts.mentions.iter().any(|mention| mention.end == at);
    let is_phrase = !is_counted && parts.vocabulary.refused_at(parts.tokens, at).is_some();
    let firmness = match is_phrase && voice::is_plain(parts, clause, at) {
        true => Some(Firmness::Committed),
        false => refusals::at(parts.tokens, at, parts.vocabulary.may_leave()),
    };
    let firmness = firmness.filter(|_| !is_later)?;
    Some(Said::Claimed(firmness, Stated::One(refusal.clone())))
}

/// The answer that a word at a place leads to.
fn answer_at(parts: Parts<'_, '_>, at: usize) -> Option<Said> {
    let option = parts.mention_at(at).filter(|_| !parts.of_numbers());
    if let Some((firmness, stated)) = option.and_then(|mention| option_at(parts, at, mention)) {
        return Some(Said::Claimed(firmness, stated));
    }
    let token = &parts.tokens[at];
    let is_strong = token.is(Class::Verb) || token.is(Class::Noun);
    let changes =
        token.is(Class::Changing) && parts.of_numbers() && !token.is_word("up|down|change|leap");
    // "I raised to 15, Player 3 to 25, ..." tells how it went.
    let is_told = changes && token.text.ends_with("ed") && parts.mentions.len() > 2;
    if !is_strong && !token.is(Class::WeakVerb) && !changes || is_told || is_about_it(parts, at) {
        return None;
    }
    let is_loose = token.is(Class::Verb) && parts.of_numbers();
    let voice = voice::of(parts, at)?;
    let (stated, end) = behind(parts, at + 1, is_loose).or_else(|| changed_to(parts, at))?;
    if voice.is_supposed || is_of_another_day(parts, at, end, voice.firmness) {
        return None;
    }
    match (voice.is_denied, stated) {
        (false, stated) => Some(Said::Claimed(voice.firmness, stated)),
        (true, Stated::One(Action::Pass)) if !parts.of_numbers() => {
            Some(Said::Claimed(voice.firmness, Stated::One(Action::Pass)))
        }
        (true, Stated::One(refused)) => {
            let other = other_option(parts.ask, &refused).map(Stated::One);
            let other = other.or_else(|| but(parts, end));
            let said = other.map(|other| Said::Claimed(voice.firmness, other));
            said.or(Some(Said::Denied(refused)))
        }
        _ => None,
    }
}

/// Whether an answer from one place to another is of the past or of a time to come.
pub fn is_of_another_day(parts: Parts<'_, '_>, at: usize, end: usize, firmness: Firmness) -> bool {
    let is_willed = parts.any(0, at, Class::Will) || parts.any(0, at, Class::Decided);
    let can_be_past = firmness < Firmness::Told || parts.is(at, Class::SameInPast) && !is_willed;
    let (start, behind) = (parts.clause_start(at), parts.phrase_end(end));
    let past = (start..end)
        .rev()
        .find(|at| parts.is(*at, Class::Past) || is_earlier(parts, *at));
    let is_past = past.is_some_and(|past| !parts.any(past, at, Class::Now));
    parts.any(start, behind, Class::ToCome)
        || parts.any(end, behind, Class::Past)
        || parts.any(end, end + 3, Class::PastOutcome)
        || (end..end + 5).any(|at| is_earlier(parts, at))
        || can_be_past && is_past
}

/// Whether an earlier time is named at a place: "in the first round".
fn is_earlier(parts: Parts<'_, '_>, at: usize) -> bool {
    let dated = at > 1 && parts.word(at - 1, "the") && parts.word(at - 2, "in|on");
    let is_ordinal = parts.word(at, "first|second|third|opening");
    let is_time = parts.is(at + 1, Class::Time) || parts.is(at + 1, Class::Noun);
    dated && is_ordinal && is_time
}

/// What is done in place of what is denied: "I will not bid 90 but 40".
fn but(parts: Parts<'_, '_>, end: usize) -> Option<Stated> {
    let comma = usize::from(parts.mark(end, ","));
    let leads = parts.word(end + comma, "but|rather");
    let found = leads.then(|| behind(parts, end + comma + 1, false))?;
    found.map(|(stated, _)| stated)
}

/// What an option says that is said as a verb: "I go", "I won't stay".
fn option_at(parts: Parts<'_, '_>, at: usize, mention: &Mention) -> Option<(Firmness, Stated)> {
    let voice = match mention.manner {
        Manner::Word => voice::of_verb(parts, at)?,
        Manner::Said if mention.why_not.is_none() && !is_means(parts, at) => said_phrase(parts, at),
        Manner::Said | Manner::Alone => return None,
    };
    let is_past = parts.any(at, at + 4, Class::Past)
        || (0..at).any(|at| is_earlier(parts, at))
        || parts.tokens[at].text.ends_with("ed") && parts.any(0, at, Class::Past);
    let rest = &parts.tokens[at..];
    let clause = rest
        .iter()
        .position(|token| token.is_any_mark(",;:") || token.is_word("and|but|which|while"))
        .unwrap_or(rest.len());
    if is_past || parts.any(parts.clause_start(at), at + clause, Class::ToCome) || voice.is_supposed
    {
        return None;
    }
    let is_second = at > 1 && parts.word(at - 1, "or") && parts.mention_at(at - 2).is_some();
    let is_between = mention.why_not == Some(WhyNot::Range);
    if is_choice(parts, mention) || is_second || is_between {
        return Some((voice.firmness, Stated::Several));
    }
    let said = match voice.is_denied {
        true => other_option(parts.ask, &mention.action)?,
        false => mention.action.clone(),
    };
    Some((voice.firmness, Stated::One(said)))
}

/// Whether a phrase only names a way: "by voting against".
fn is_means(parts: Parts<'_, '_>, at: usize) -> bool {
    let is_gerund = parts.tokens[at].text.ends_with("ing");
    is_gerund && at > 0 && parts.word(at - 1, "by|of|for|from|than|before|without|when")
}

/// How a set phrase is said: "has my vote", "doesn't have my vote".
fn said_phrase(parts: Parts<'_, '_>, at: usize) -> Voice {
    let mut voice = Voice::of(Firmness::Committed);
    voice.is_denied = parts.any(at.saturating_sub(2), at, Class::Denying);
    voice
}

/// "My bidding logic", "the bidding war": no answer, but something about it.
fn is_about_it(parts: Parts<'_, '_>, at: usize) -> bool {
    let is_gerund = parts.is(at, Class::Verb) && parts.tokens[at].text.ends_with("ing");
    let leads_on = match parts.tokens.get(at + 1) {
        Some(token) if token.kind == Kind::Word => {
            token.is(Class::LeadingOn) || token.text.ends_with("ly")
        }
        _ => true,
    };
    let owned = at > 0 && parts.word(at - 1, "my|the");
    let far = || behind(parts, at + 1, true).is_none_or(|(_, end)| end > at + 3);
    is_gerund && (owned || !leads_on && far())
}

/// The answer that begins at or behind a place, or a choice or a range of several, and the
/// place behind it.
pub fn behind(parts: Parts<'_, '_>, from: usize, is_loose: bool) -> Option<(Stated, usize)> {
    /// A long way is no statement, which also bounds the walk.
    const LONGEST_WAY: usize = 16;
    // "I go all in with my entire balance of 112".
    let from = match parts.word(from, "all in with") {
        true => from + 3,
        false => from,
    };
    // "I raise by the minimum of 50, to 1,650".
    if parts.word(from, "by") {
        let to = (from + 1..from + LONGEST_WAY).find(|at| {
            parts.word(*at, "to")
                && parts
                    .mention_at(at + 1)
                    .is_some_and(|to| to.why_not.is_none())
        });
        let to = to.filter(|to| !parts.any(from, *to, Class::Breaks));
        return to.and_then(|to| behind(parts, to + 1, false));
    }
    let mut at = from;
    while at < parts.tokens.len().min(from + LONGEST_WAY) {
        let Some(mention) = parts.mention_at(at) else {
            if let Some(end) = nothing_at(parts, at) {
                return Some((Stated::One(parts.vocabulary.nothing.clone()?), end));
            }
            if !leads_on(parts, from, at, is_loose) {
                return None;
            }
            at += 1;
            continue;
        };
        let one = || Some((Stated::One(mention.action.clone()), mention.end));
        let several = Some((Stated::Several, mention.end));
        let is_whole = mention.why_not == Some(WhyNot::Had) && is_mine(parts, from, at);
        let behind_word = |words: &str| at > from && parts.word(at - 1, words);
        match mention.why_not {
            None if is_choice(parts, mention) => return several,
            None => return one(),
            Some(WhyNot::Range) if !parts.of_numbers() => return several,
            Some(_) if is_whole || !parts.of_numbers() => return one(),
            Some(WhyNot::Range) if !behind_word("from") => return several,
            Some(_) if !is_loose && !parts.is(at - 1, Class::Tied) => return None,
            Some(_) => at = mention.end,
        }
    }
    None
}

/// What an amount is changed to: "I cut my contribution from 15 to 7", "I go up by ten, to 80".
fn changed_to(parts: Parts<'_, '_>, at: usize) -> Option<(Stated, usize)> {
    /// A long way is no statement.
    const LONGEST_WAY: usize = 12;
    if !parts.is(at, Class::Changing) || !parts.of_numbers() {
        return None;
    }
    let stops = |at: usize| {
        let joins = [
            Class::Because,
            Class::So,
            Class::If,
            Class::Speaker,
            Class::Others,
            Class::Supposing,
        ];
        parts.tokens[at].is_any(&joins) && !parts.word(at, "another")
            || parts.mark(at, ";:(")
            || parts.word(at, "which|who|that|while|than|and")
    };
    let until = parts.tokens.len().min(at + LONGEST_WAY);
    let to = (at + 1..until).take_while(|at| !stops(*at)).find(|at| {
        let mention = parts.mention_at(at + 1).or_else(|| {
            parts
                .mention_at(at + 2)
                .filter(|_| parts.is(at + 1, Class::Approx))
        });
        parts.word(*at, "to") && mention.is_some_and(|mention| mention.why_not.is_none())
    })?;
    behind(parts, to + 1, false)
}

/// Whether the way from a verb to its answer may go on at a place.
fn leads_on(parts: Parts<'_, '_>, from: usize, at: usize, is_loose: bool) -> bool {
    let token = &parts.tokens[at];
    if token.kind == Kind::Broken {
        return false;
    }
    if is_loose {
        return !token.is(Class::Breaks) || is_mine(parts, from, at + 1);
    }
    let fills = [Class::Filling, Class::Approx, Class::Unit, Class::Noun];
    let is_label = token.number().is_some() && at > from && parts.is(at - 1, Class::Tied);
    // "The compromise of 65".
    let is_new = |at: usize| {
        let token = &parts.tokens[at];
        let is_unknown = token.classes.is_unknown() || token.is(Class::Conclusion);
        token.kind == Kind::Word && is_unknown
    };
    if is_new(at) && at > from && parts.of_numbers() {
        let of = (at + 1..at + 3).find(|at| parts.word(*at, "of"));
        return of.is_some_and(|of| (at + 1..of).all(is_new) && parts.mention_at(of + 1).is_some());
    }
    token.is_any(&fills) || token.is_any_mark(":=-,(") || is_label
}

/// Whether what stands between two places is all that the speaker has: "my whole balance of".
fn is_mine(parts: Parts<'_, '_>, from: usize, to: usize) -> bool {
    let way = &parts.tokens[from..to];
    let is_plain = |token: &Token<'_>| {
        let owner = token.is_word("his|her|their");
        token.is(Class::Whole) || token.is(Class::MoneyHad) || owner || token.is_any_mark(",(:-")
    };
    let is_own = |first: &Token<'_>| {
        let named = parts.tokens.iter().any(|token| token.is(Class::Itself));
        first.is_word("my|all") || named && first.is_word("his|her|their")
    };
    let is_rest = way.first().is_some_and(|first| first.is_word("the"))
        && way
            .get(1)
            .is_some_and(|second| second.is_word("remaining|whole|entire|full"));
    let begins = way.first().is_some_and(is_own) || is_rest;
    begins && way.iter().all(is_plain)
}

/// The end of words for nothing at a place: "nothing", "no money".
fn nothing_at(parts: Parts<'_, '_>, at: usize) -> Option<usize> {
    // "Next to nothing", "almost nothing" are little.
    let is_little = at > 1 && parts.word(at - 2, "next to")
        || at > 0 && parts.word(at - 1, "almost|nearly|practically|virtually");
    if !parts.of_numbers() || is_little {
        return None;
    }
    if parts.is(at, Class::Nothing) {
        return Some(at + 1);
    }
    (parts.word(at, "no") && parts.is(at + 1, Class::NoMoney)).then_some(at + 2)
}

/// Whether another answer is offered beside this one.
fn is_choice(parts: Parts<'_, '_>, mention: &Mention) -> bool {
    let end = mention.end;
    let other = |at: usize| {
        let other = parts.mention_at(at);
        other.is_some_and(|other| {
            let is_aside = matches!(
                other.why_not,
                Some(WhyNot::Compared | WhyNot::OtherSort | WhyNot::Theirs)
            );
            other.action != mention.action && !is_aside
        })
    };
    let is_spelled = |at: usize| {
        let numeral = parts.tokens.get(at).and_then(Token::number);
        numeral.is_some_and(|numeral| numeral.is_spelled)
    };
    // "61 (sixty-seven)", "10, 15, 20".
    let is_restated = parts.mark(end, "(")
        && parts.mark(end + 2, ")")
        && is_spelled(mention.start) != is_spelled(end + 1);
    let comma = usize::from(parts.mark(end, ","));
    if (is_restated || comma == 1 && parts.of_numbers()) && other(end + 1) {
        return true;
    }
    let skip = |at: usize| at + usize::from(parts.is(at, Class::Possibly));
    let joins = parts.word(end + comma, "or|then") || parts.word(end, "to") || parts.mark(end, "/");
    let maybe = comma == 1 && parts.word(end + 1, "maybe|perhaps|possibly");
    let refuses = parts.of_numbers()
        && parts.vocabulary.refusal.is_some()
        && parts.word(end + comma, "or")
        && [Class::Refraining, Class::Leaving]
            .iter()
            .any(|class| parts.is(end + comma + 1, *class));
    refuses || joins && other(skip(end + comma + 1)) || maybe && other(end + 2)
}
