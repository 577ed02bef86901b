//! Who speaks of doing something, and how: by his own will, as an intention, as a thought, or
//! denying it. Called by `statements.rs` for the verbs and nouns that answers stand behind.

use super::lexicon::Class;
use super::naming;
use super::parts::Parts;
use super::tokens::{Kind, Token};
use super::verdict::Firmness;

/// Verbs of answers as they are told of the past.
const PAST: &str = "chose|picked|selected|ordered|voted|took|went|gave|offered|contributed|guessed";

/// How somebody speaks of doing something.
#[derive(Debug, Clone, Copy)]
pub struct Voice {
    /// How firmly.
    pub firmness: Firmness,
    /// Whether it is denied.
    pub is_denied: bool,
    /// Whether it is only supposed.
    pub is_supposed: bool,
}

impl Voice {
    /// Somebody who says so.
    pub fn of(firmness: Firmness) -> Self {
        let (is_denied, is_supposed) = (false, false);
        Self {
            firmness,
            is_denied,
            is_supposed,
        }
    }
}

/// How the words before a verb or noun make the answer behind it the speaker's own; none for
/// somebody else's.
pub fn of(parts: Parts<'_, '_>, at: usize) -> Option<Voice> {
    let mut back = at;
    if let Some(article) = article(parts, at) {
        let describing = &parts.tokens[article + 1..at];
        let is_verb = |token: &Token<'_>| token.is(Class::Speaker) || token.is(Class::Verbal);
        if !describing.iter().any(is_verb) {
            if !describing.iter().all(describes) {
                return None;
            }
            back = article;
        }
    }
    if let Some(mut voice) = of_verb(parts, back) {
        // "I choose 40" tells of today, "I bid 40" perhaps of yesterday.
        let is_past = parts.is(at, Class::SameInPast) || parts.word(at, PAST);
        if voice.firmness == Firmness::Told && !is_past {
            voice.firmness = Firmness::Committed;
        }
        return Some(voice);
    }
    let firmness = match back < at && parts.word(back, "my") {
        true => Some(of_my_answer(parts, at)),
        false => of_none(parts, back, at),
    };
    firmness.map(Voice::of)
}

/// The article of a noun at a place, with what describes it between: "a slightly higher bid".
fn article(parts: Parts<'_, '_>, at: usize) -> Option<usize> {
    const LONGEST_NOUN: usize = 5;
    let can_be_noun = parts.is(at, Class::Noun) || parts.is(at, Class::Verb);
    let articles = "a|an|the|my|this|another";
    let mut before = (at.saturating_sub(LONGEST_NOUN)..at).rev();
    before
        .find(|place| parts.word(*place, articles))
        .filter(|_| can_be_noun)
}

/// Whether a token describes an answer of the speaker's.
fn describes(token: &Token<'_>) -> bool {
    let asides = [
        Class::OfOthers,
        Class::Name,
        Class::Others,
        Class::Property,
        Class::MoneyHad,
    ];
    match token.kind {
        Kind::Word => {
            let is_aside = token.is_any(&asides);
            !is_aside && !token.text.ends_with("'s")
        }
        Kind::Mark(mark) => mark == '-',
        _ => false,
    }
}

/// The speaker's verb phrase that ends before a place, if there is one.
pub fn of_verb(parts: Parts<'_, '_>, end: usize) -> Option<Voice> {
    let mut firmness = None;
    let mut joint = None;
    let (mut is_denied, mut is_supposed) = (false, false);
    // "I won't go and choose to stay": what is denied ends before "and".
    let mut denied_behind = None;
    for place in (0..end).rev() {
        let token = &parts.tokens[place];
        match token.kind {
            Kind::Word => {}
            // "Pirate 5 accepts".
            Kind::Number(_) if place > 0 && parts.is(place - 1, Class::Itself) => continue,
            Kind::Mark(',' | '-') => continue,
            _ => return None,
        }
        // "I've been staying at home" tells of the past.
        if token.is_word("been") {
            return None;
        }
        if token.is(Class::Itself) {
            return of_name(parts, place, end).map(|firmness| Voice {
                firmness,
                is_denied,
                is_supposed,
            });
        }
        // "You should bid 40", as an assistant says.
        if token.is_word("you|player") && parts.word(place + 1, "should|must|ought") {
            return Some(Voice {
                firmness: Firmness::Intended,
                is_denied,
                is_supposed,
            });
        }
        let is_object =
            token.is_word("me|myself") && place > 0 && parts.is(place - 1, Class::Verbal);
        if token.is(Class::Speaker) && !is_object {
            let is_asked = place > 0 && parts.is(place - 1, Class::Asking);
            let own = firmness.max(own_will(token));
            return (!is_of_all(parts, place, end)).then(|| Voice {
                firmness: own.unwrap_or_else(|| told(parts, end)),
                is_denied: denied_behind.unwrap_or(is_denied) != doubts(parts, place),
                is_supposed: is_supposed || is_asked,
            });
        }
        let is_needless = token.is_word("no") && parts.is(place + 1, Class::NoCause);
        if token.is(Class::Denying) || is_needless {
            is_denied = !is_denied;
        } else if token.is(Class::Supposing) {
            // "I can only spare 35".
            is_supposed |= !parts.word(place + 1, "only|just");
        } else if token.is_word("chose") {
            firmness = firmness.max(Some(Firmness::Told));
        } else if token.is(Class::Decided) || token.is(Class::Will) {
            firmness = firmness.max(Some(Firmness::Committed));
        } else if token.is(Class::Intending) {
            firmness = firmness.max(Some(Firmness::Intended));
        } else if token.is_word("and|then") {
            joint = Some((place, is_denied, is_supposed, firmness));
            if place > 0 && !parts.of_numbers() && parts.mention_at(place - 1).is_some() {
                denied_behind = Some(is_denied);
            }
        } else if !token.is(Class::Verbal) && !token.text.ends_with("ly") {
            let (place, is_denied, is_supposed, firmness) = joint?;
            let voice = inherited(parts, place)?;
            return Some(Voice {
                firmness: firmness.max(Some(voice.firmness)).unwrap_or(voice.firmness),
                is_denied,
                is_supposed: is_supposed || voice.is_supposed,
            });
        }
    }
    None
}

/// How firmly a word for the speaker speaks by itself: "I'll", "let's".
fn own_will(token: &Token<'_>) -> Option<Firmness> {
    if token.is_word("i'll|i'm|im|me|i'ma|ill|we'll|we're") {
        return Some(Firmness::Committed);
    }
    let intends = token.is_word("i'd|we'd|let's|lets");
    intends.then_some(Firmness::Intended)
}

/// "We should all give 16" is said of everybody.
fn is_of_all(parts: Parts<'_, '_>, place: usize, end: usize) -> bool {
    let is_many = parts.tokens[place].text.starts_with("we");
    is_many && (place..end).any(|at| parts.word(at, "all|both|each"))
}

/// Whether what the speaker says of himself from a place on is denied before it: "I don't
/// think", "there's no way".
fn doubts(parts: Parts<'_, '_>, place: usize) -> bool {
    let that = usize::from(place > 0 && parts.word(place - 1, "that"));
    let verb = (place - that).saturating_sub(1);
    let denies = |at: usize| parts.is(at, Class::Denying) || parts.word(at, "no");
    let is_thought =
        parts.word(verb, "think|believe|suppose|feel|see") || parts.is(verb, Class::NoCause);
    is_thought && (verb.saturating_sub(2)..verb).any(denies)
}

/// How firmly somebody speaks who calls himself by name: "Alex bids 45", "Eric will bid 60
/// today", but not "Bob will bid 90".
fn of_name(parts: Parts<'_, '_>, name: usize, end: usize) -> Option<Firmness> {
    let verb = parts.tokens.get(end)?;
    let is_now = parts.tokens.iter().any(|token| token.is(Class::Now));
    let is_third = verb.text.ends_with('s') && !verb.is_word("is|has|was")
        || verb.is(Class::WeakVerb) && !parts.is(end, Class::SameInPast)
        || parts.any(name, end, Class::Decided)
        || parts.any(name, end + 1, Class::Denying);
    let wills = (name..end).any(|at| parts.word(at, "will|shall"));
    let thinks = (name..end).any(|at| parts.word(at, "thinks|expects|believes"));
    let says = is_third && !wills || wills && is_now;
    (says && !thinks).then_some(Firmness::Intended)
}

/// What "I bid" is without a word of will: numbers may be those of yesterday.
fn told(parts: Parts<'_, '_>, verb: usize) -> Firmness {
    let is_now = parts.any(0, verb, Class::Now);
    match !is_now && (parts.of_numbers() || parts.word(verb, PAST)) {
        true => Firmness::Told,
        false => Firmness::Committed,
    }
}

/// The voice of a verb that goes on behind "and": "I keep $2 back and bid 118".
fn inherited(parts: Parts<'_, '_>, end: usize) -> Option<Voice> {
    for place in (0..end).rev() {
        let token = &parts.tokens[place];
        let is_theirs = naming::is_another(parts.tokens, place, parts.ask.seat);
        let acts = parts.is(place + 1, Class::Verb) || parts.is(place + 1, Class::WeakVerb);
        if token.is(Class::If) || token.is_mark(';') || is_theirs && acts {
            return None;
        }
        if token.is(Class::Speaker) && !token.is_word("me|myself") {
            let next = |class: Class| token.is(class) || parts.is(place + 1, class);
            let firmness = match (
                next(Class::Will) || next(Class::Decided),
                next(Class::Intending),
            ) {
                (true, false) => Firmness::Committed,
                _ => Firmness::Intended,
            };
            let firmness = if parts.of_numbers() {
                Firmness::Intended
            } else {
                firmness
            };
            let is_asked = place > 0 && parts.is(place - 1, Class::Asking);
            return Some(Voice {
                firmness,
                is_denied: false,
                is_supposed: next(Class::Supposing) || is_asked,
            });
        }
    }
    None
}

/// "My bid is", "my bid for today will be", "my final bid:"; else "my bid of".
fn of_my_answer(parts: Parts<'_, '_>, at: usize) -> Firmness {
    let is_live =
        |mention: &&super::mentions::Mention| mention.start > at && mention.why_not.is_none();
    let number = parts.mentions.iter().find(is_live);
    let until = number.map_or(parts.tokens.len(), |mention| mention.start);
    let states = |token: &Token<'_>| {
        let is_dash = token.is_mark('-') && token.is_apart;
        token.is(Class::Be) || token.is_any_mark(":=") || is_dash
    };
    match parts.tokens[at..until].iter().any(states) {
        true => Firmness::Committed,
        false => Firmness::Named,
    }
}

/// An answer that is named without a verb of the speaker: "by bidding 40", "a bid of 40";
/// an order is its will: "Bid 40", "Put me down for 40".
fn of_none(parts: Parts<'_, '_>, back: usize, at: usize) -> Option<Firmness> {
    let asides = [Class::OfOthers, Class::Supposing, Class::Denying];
    let is_aside = parts.any_of(0, at, &asides);
    let others = (0..at).any(|at| naming::is_another(parts.tokens, at, parts.ask.seat));
    if is_aside || others {
        return None;
    }
    if back == at && is_order(parts, at) {
        return Some(Firmness::Committed);
    }
    let token = &parts.tokens[at];
    let is_gerund = token.text.ends_with("ing") || token.text.ends_with("in");
    let is_strong = token.is(Class::Verb) || token.is(Class::Noun);
    let is_noun = back < at && parts.word(back, "a|this") && is_strong;
    let begins = parts.tokens[..back].iter().all(is_lead);
    let names = back == at && is_gerund && (begins || token.is(Class::Verb));
    (is_noun || names).then_some(Firmness::Named)
}

/// Whether a word at a place is an order: "Bid 40", "No, make that 9".
pub fn is_order(parts: Parts<'_, '_>, at: usize) -> bool {
    let token = &parts.tokens[at];
    let is_verb = token.is(Class::Verb) || token.is(Class::WeakVerb);
    // Behind an article or a preposition stands a noun: "in the limit".
    let is_noun =
        at > 0 && (parts.word(at - 1, "a|an|the") || parts.is(at - 1, Class::Preposition));
    let is_form = is_noun
        || token.text.ends_with("ing")
        || token.text.ends_with('s') && !token.is_word("pass|guess|toss")
        || token.is_word("throwin|like|prefer|want|start|begin");
    let clause = parts.tokens[..at]
        .iter()
        .rposition(|token| token.is_any_mark(",:;-"));
    let clause = &parts.tokens[clause.map_or(0, |clause| clause + 1)..at];
    let corrects = clause.iter().any(|token| token.is(Class::Correcting)) || token.is_word("make");
    let corrects = corrects || clause.len() == 1 && clause[0].is_word("so|therefore|thus|hence");
    let begins = parts.tokens[..at].iter().all(is_lead) || clause.iter().all(is_lead) && corrects;
    is_verb && !is_form && begins
}

/// Whether a token may stand before an order.
fn is_lead(token: &Token<'_>) -> bool {
    let leads = token.is(Class::Aside) && !token.is(Class::Speaker);
    leads || token.is(Class::Correcting) || token.kind != Kind::Word
}

/// Whether nothing in a part of a sentence denies, supposes or says of others what follows.
pub fn is_plain(parts: Parts<'_, '_>, from: usize, to: usize) -> bool {
    let asides = [Class::Supposing, Class::Denying, Class::If, Class::WasPast];
    let is_aside = parts.any_of(from, to, &asides);
    let others = (from..to)
        .any(|at| naming::is_person(parts.tokens, at) || parts.word(at, "he|she|they|who|who's"));
    !is_aside && !others
}
