//! Words that say that the speaker gives no answer: "I will not bid", "I'll sit this one
//! out", "no bid today", "I'm out". "I will not bid more than 40" and "I cannot skip today"
//! say something else. What a refusal comes to, the vocabulary of the ask says.

use super::lexicon::Class;
use super::tokens::{Kind, Token, stand as is};
use super::verdict::Firmness;

/// Words from a denial to its verb: "not going to place".
const LONGEST_DENIAL: usize = 5;

/// How firmly the words at a place refuse, if they do; `may_leave` says whether the speaker
/// can leave for good.
pub fn at(sentence: &[Token<'_>], at: usize, may_leave: bool) -> Option<Firmness> {
    let leads = [
        Class::Refraining,
        Class::Leaving,
        Class::TakingPart,
        Class::OutVerb,
        Class::RefusalWord,
    ];
    // "This will make him drop out".
    let others = [Class::Others, Class::Pronoun, Class::Name];
    let is_theirs =
        at > 0 && sentence[at - 1].is_any(&others) && !sentence[at - 1].is(Class::Itself);
    if is_theirs || !sentence.get(at).is_some_and(|token| token.is_any(&leads)) {
        return None;
    }
    verb_at(sentence, at, may_leave).or_else(|| saying_at(sentence, at, may_leave))
}

/// The end of a refusal that is a whole answer by itself: "none", "pass", "no bid".
pub fn bare(sentence: &[Token<'_>], at: usize, may_leave: bool) -> Option<usize> {
    let next = |words: &str| is(sentence, at + 1, words);
    if is(sentence, at, "no") && next("bid|bids|offer|money|contribution") {
        return Some(at + 2);
    }
    if is(sentence, at, "not") && next("bidding|participating|interested") {
        return Some(at + 2);
    }
    if may_leave && is(sentence, at, "drop|i'm|im|count") {
        let out = (at + 1..at + 3).find(|out| is(sentence, *out, "out"));
        return out.map(|out| out + 1);
    }
    let words = "pass|skip|abstain|passing|skipping";
    let leaves = "out|withdraw|withdrawal|withdrawn|withdrew|withdrawing";
    let is_left = may_leave && (has(sentence, at, Class::Leaving) || is(sentence, at, leaves));
    let refuses = is(sentence, at, words) || has(sentence, at, Class::Nothing) || is_left;
    let at_all = is(sentence, at + 1, "at all");
    refuses.then_some(at + 1 + 2 * usize::from(at_all))
}

/// The verb of a refusal.
fn verb_at(sentence: &[Token<'_>], at: usize, may_leave: bool) -> Option<Firmness> {
    let before = clause_before(sentence, at);
    let denied = denial(before);
    let speaker = speaker(sentence, before, at);
    let gives_up = is(sentence, at, "give|giving up");
    // "Leaving enough for the next lots" leaves no auction.
    let leaves_what = is(sentence, at, "leave|leaving|leaves")
        && sentence
            .get(at + 1)
            .is_some_and(|next| next.kind == Kind::Word || next.number().is_some())
        && !is(
            sentence,
            at + 1,
            "the auction|race|bidding|room|table|field|competition|item",
        )
        && !is(sentence, at + 1, "this|now|here|it|at|for");
    let leaves = may_leave && (has(sentence, at, Class::Leaving) || gives_up) && !leaves_what;
    if has(sentence, at, Class::Refraining) || leaves {
        let is_out = !is(sentence, at, "sit|sitting") || is(sentence, at + 1, "out");
        let whole = before.is_empty() && speaker.is_none() && !judges(&sentence[at..]);
        let refrains = is_out && is_verb(before) && denied.is_none() && !supposed(before);
        let firmness = speaker.or(whole.then_some(Firmness::Committed));
        let has_past = position(before, "has|have|had").is_some();
        let is_wish = position(before, "was|were|wanted|meant").is_some();
        let is_past = is(sentence, at, "withdrawn") && has_past || is_wish;
        return firmness.filter(|_| refrains && !is_past);
    }
    if !has(sentence, at, Class::TakingPart) || !is_verb(before) {
        return None;
    }
    let end = object_end(sentence, at)?;
    if (end..end + 4).any(|at| has(sentence, at, Class::Generic)) {
        return None;
    }
    let altogether = match has(sentence, at, Class::Wholly) {
        true => !is(sentence, end, "as|so|too"),
        false => ends_there(sentence, end),
    };
    let needless = position(before, "no");
    let needless = needless.is_some_and(|no| is(before, no + 1, "need|reason"));
    // "Not sure how much to bid" refuses nothing.
    let near = denied.is_some_and(|denied| {
        let way = &before[denied..];
        way.len() <= LONGEST_DENIAL
            && position(way, "how|what|which|sure|certain|only|just").is_none()
    });
    let conditional = position(before, "if|whether|unless|didn't|hadn't|haven't|wasn't").is_some();
    let told = speaker.filter(|_| near && !conditional);
    let firmness = needless.then_some(Firmness::Committed).or(told)?;
    // Who cannot compete may bid all the same.
    let is_weak = is(sentence, at, "compete|competing");
    altogether.then_some(if is_weak { Firmness::Named } else { firmness })
}

/// How firmly the words before a verb make it the speaker's own: by its name ("I", "my
/// decision is"), as a thought about what is best, or by a clause that goes on behind "and".
fn speaker(sentence: &[Token<'_>], before: &[Token<'_>], at: usize) -> Option<Firmness> {
    if own(before) {
        return Some(Firmness::Committed);
    }
    let denies = |token: &Token<'_>| token.is_word("not|never|don't|won't");
    let denial = match before {
        [aux, rest @ ..] if aux.is_word("do|to") => rest,
        _ => before,
    };
    let short = matches!(denial, [token] if denies(token));
    if short && before.len() == at {
        return (!judges(&sentence[at..])).then_some(Firmness::Committed);
    }
    let advises = |token: &Token<'_>| {
        token.is(Class::Wise)
            || token.is_word("only|remaining|conclusion|recommendation|advice|plan")
    };
    let is_wise = before.iter().any(advises);
    let is_copula = |token: &Token<'_>| token.is(Class::Be);
    if is_wise && before.iter().any(is_copula) {
        return Some(Firmness::Intended);
    }
    let joined = at > before.len() && is(sentence, at - before.len() - 1, "and");
    let own_will = || {
        let first = clause_before(sentence, at - before.len() - 1);
        let speaks = first.iter().position(|token| token.is(Class::Speaker))?;
        let rest = &first[speaks..];
        let wills = is(rest, 0, "i'll|let's|i'm") || has(rest, 1, Class::Willing);
        (rest.len() > 1 && wills).then_some(Firmness::Intended)
    };
    (short && joined).then(own_will).flatten()
}

/// Set phrases that refuse without a verb for it.
fn saying_at(sentence: &[Token<'_>], at: usize, may_leave: bool) -> Option<Firmness> {
    let next = |words: &str| is(sentence, at + 1, words);
    if is(sentence, at, "no") && next("bid|bids|offer|contribution|participation|purchase|bidding")
    {
        let said = ends(sentence, at + 2) && is_own_none(sentence, at);
        return said.then_some(Firmness::Committed);
    }
    let before = clause_before(sentence, at);
    let is_hard = at > 0 && is(sentence, at - 1, "hard|a");
    let is_pass =
        is(sentence, at, "pass") && (is_hard || next("from") && is(sentence, at + 2, "me"));
    if is_pass && !supposed(before) && denial(before).is_none() {
        return Some(Firmness::Committed);
    }
    if leaves_it_to_others(sentence, at) {
        return Some(Firmness::Named);
    }
    let alone = sentence.len() == 1 && is(sentence, 0, "nope");
    let not_now = sentence.len() == 2 && is(sentence, 0, "not today|now");
    if at == 0 && (alone || not_now) {
        // A whole answer by itself, and an aside beside another.
        return Some(Firmness::Named);
    }
    let unable = at == 0 && is(sentence, 0, "cannot|can't");
    if unable && is(sentence, 1, "bid") && ends(sentence, 2) {
        return Some(Firmness::Committed);
    }
    if is(sentence, at, "none|nil") {
        let labelled = position(&sentence[..at], "bid").is_some();
        let said = labelled && announces(&sentence[..at]) && ends(sentence, at + 1);
        return said.then_some(Firmness::Committed);
    }
    let begins = is(sentence, at, "i'm|im|count");
    // "The sensible course is to sit this one out".
    let is_wise = before.iter().any(|token| token.is(Class::Wise))
        && before.last().is_some_and(|last| last.is_word("to|is"));
    if supposed(before) || !own(before) && !begins && !is_wise {
        return None;
    }
    let denied = denial(before).is_some();
    if is(
        sentence,
        at,
        "spend|spending|put|putting|give|contribute|contributing|invest|add|pay",
    ) {
        let others = [Class::Others, Class::Titled, Class::Name];
        let is_theirs = before.iter().any(|token| token.is_any(&others));
        return spends_nothing(sentence, at, denied).filter(|_| !is_theirs);
    }
    if denied {
        None
    } else {
        left_out_at(sentence, at, may_leave)
    }
}

/// "Let the others fight over it", "Cindy can have the water": somebody else gets it.
fn leaves_it_to_others(sentence: &[Token<'_>], at: usize) -> bool {
    const WINNING: &str = "have|fight|take|overpay|battle|compete|buy|win|outbid|pay";
    let is_other = |token: &Token<'_>| {
        token.is_any(&[Class::Others, Class::Name, Class::Titled, Class::Pronoun])
            && !token.is(Class::Itself)
    };
    let lets = is(sentence, at, "let|letting");
    let other = (at + 1..at + 3).find(|at| sentence.get(*at).is_some_and(is_other));
    let acts = |other: usize| (other + 1..other + 5).any(|at| is(sentence, at, WINNING));
    let may_have = is(sentence, at, "can|may have it|this|that|the")
        && sentence[..at].iter().rev().take(2).any(is_other);
    // "I could go for 60, or let the others fight over it".
    let turns = |token: &Token<'_>| token.is_any_mark(";:") || token.is_word("but|so");
    let turn = sentence[..at].iter().rposition(turns).unwrap_or(0);
    let is_open = |token: &Token<'_>| token.is(Class::Supposing) || token.is_word("or");
    let is_weighed = sentence[turn..at].iter().any(is_open);
    !is_weighed && (may_have || lets && other.is_some_and(acts))
}

/// "I will not spend anything today".
fn spends_nothing(sentence: &[Token<'_>], at: usize, denied: bool) -> Option<Firmness> {
    let any = usize::from(is(sentence, at + 1, "any"));
    let nothing = is(sentence, at + 1, "anything") || any == 1 && is(sentence, at + 2, "money");
    let on_water = is(sentence, at + 2 + any, "into|in|to")
        || is(sentence, at + 2 + any, "on") && is(sentence, at + 3 + any, "water|bids|bidding|it");
    let all = on_water || ends(sentence, at + 2 + any);
    (denied && nothing && all).then_some(Firmness::Intended)
}

/// "Sit this one out", "I'm out", "hold off on bidding".
fn left_out_at(sentence: &[Token<'_>], at: usize, may_leave: bool) -> Option<Firmness> {
    if has(sentence, at, Class::OutVerb) {
        let out = (at + 1..=at + 4).find(|place| is(sentence, *place, "out"))?;
        let plain = sentence[at + 1..out]
            .iter()
            .all(|token| token.is(Class::LeftOut));
        let drops = may_leave && has(sentence, at, Class::Dropping);
        let said = plain && (leaves_all(sentence, out + 1) || drops);
        let is_patient = is(sentence, at, "wait|waiting");
        let firmness = if is_patient {
            Firmness::Named
        } else {
            Firmness::Committed
        };
        return said.then_some(firmness);
    }
    if is(sentence, at, "forfeit|forfeiting") {
        let object = at + 1 + usize::from(is(sentence, at + 1, "my|the"));
        return has(sentence, object, Class::LeftOut).then_some(Firmness::Committed);
    }
    if is(sentence, at, "hold|holding off|back") {
        let from_bids = is(sentence, at + 2, "on|from bidding|bids|bid");
        let ends = sentence.len() == at + 2 || is(sentence, at + 2, "today|this|tonight");
        let bare = ends && !sentence[at..].iter().any(|token| token.is(Class::Verb));
        return (from_bids || bare).then_some(Firmness::Named);
    }
    None
}

/// Whether "no bid" at a place is the speaker's: "I place no bid", "decision: no bid", and
/// not one of a list of what others did.
fn is_own_none(sentence: &[Token<'_>], at: usize) -> bool {
    let before = clause_before(sentence, at);
    if before.last().is_some_and(|last| last.is(Class::Bringing)) {
        return own(before) && !supposed(before) && denial(before).is_none();
    }
    let whole = &sentence[..at];
    let of_others = whole
        .iter()
        .any(|token| token.is(Class::OfOthers) || token.is(Class::Past));
    let behind_comma = at > before.len() && sentence[at - before.len() - 1].is_any_mark(",:");
    announces(before) && (behind_comma && !of_others || announces(whole))
}

/// Whether nothing but an announcement of the answer stands here.
fn announces(tokens: &[Token<'_>]) -> bool {
    let announces = |token: &Token<'_>| token.kind != Kind::Word || token.is(Class::Announcing);
    tokens.iter().all(announces)
}

/// Whether all is said: nothing follows, or when and why.
fn ends(sentence: &[Token<'_>], end: usize) -> bool {
    let Some(token) = sentence.get(end) else {
        return true;
    };
    let now = "today|today's|me|this|day|round|now|mee";
    match token.kind {
        Kind::Mark(_) | Kind::End(_) => true,
        Kind::Word if token.is_word("from") => {
            let is_own = |at: usize| is(sentence, at, "me|my") || has(sentence, at, Class::Itself);
            (end + 1..end + 3).any(is_own)
        }
        Kind::Word if token.is_word("for|on|in") => is(sentence, end + 1, now),
        Kind::Word => token.is(Class::AfterRefusal),
        _ => false,
    }
}

/// Whether what is left is the whole matter: "out today", "out of today's auction", never
/// "out of money".
fn leaves_all(sentence: &[Token<'_>], end: usize) -> bool {
    if is(sentence, end, "of|on") {
        let is_water = (end + 1..end + 3).any(|at| is(sentence, at, "water"));
        return has(sentence, end + 1, Class::LeftOut) && !is_water;
    }
    ends(sentence, end)
}

/// Whether a clause says something about refusing, rather than to refuse.
fn judges(clause: &[Token<'_>]) -> bool {
    clause.iter().any(|token| token.is(Class::Ruling))
}

/// Whether a clause is the speaker's: it names itself, or its own decision.
fn own(clause: &[Token<'_>]) -> bool {
    let my = position(clause, "my");
    let decided = position(clause, "decision|choice|answer|move");
    let mine = my
        .zip(decided)
        .is_some_and(|(my, decided)| my < decided && decided <= my + 2);
    let speaks = |token: &Token<'_>| token.is(Class::Speaker) || token.is(Class::Itself);
    clause.iter().any(speaks) || mine && position(clause, "is").is_some()
}

/// Whether a clause only supposes what it says.
fn supposed(clause: &[Token<'_>]) -> bool {
    // "Anyone who thinks I'll withdraw".
    let thinks = |pair: &[Token<'_>]| {
        pair[0].is(Class::Others) && pair[1].is_word("thinks|expects|believes|hopes|says|wants")
    };
    clause.iter().any(|token| token.is(Class::Supposing)) || clause.windows(2).any(thinks)
}

/// Whether nothing follows but when and where.
fn ends_there(sentence: &[Token<'_>], from: usize) -> bool {
    match sentence.get(from) {
        Some(token) if token.kind == Kind::Word => {
            let is_place = token.is(Class::WhenWhere)
                || token.is_word("with") && is(sentence, from + 1, "this|it");
            is_place && !has(sentence, from + 1, Class::Limiting)
        }
        Some(token) => token.number().is_none(),
        None => true,
    }
}

/// Whether what stands before a word leaves it a verb: "the bid", "further decline" are none.
fn is_verb(before: &[Token<'_>]) -> bool {
    // "Bidder 3 withdraws".
    let before = match before {
        [name @ .., number] if number.number().is_some() => name,
        _ => before,
    };
    let Some(last) = before.last() else {
        return true;
    };
    let leads = [
        Class::BeforeVerb,
        Class::Speaker,
        Class::Itself,
        Class::Denying,
    ];
    let is_lead = last.is_any(&leads) || last.text.ends_with("ly");
    last.kind == Kind::Word && is_lead
}

/// The place behind the verb and a word for bids that it carries.
fn object_end(sentence: &[Token<'_>], at: usize) -> Option<usize> {
    let single =
        usize::from(is(sentence, at + 1, "a|any")) + usize::from(is(sentence, at + 2, "single"));
    if single > 0 && has(sentence, at + 1 + single, Class::Unit) {
        return Some(at + 2 + single);
    }
    if !has(sentence, at, Class::Carrying) {
        return Some(at + 1);
    }
    let noun = at + 1 + usize::from(is(sentence, at + 1, "a|any|an"));
    is(sentence, noun, "bid|bids|offer|part").then_some(noun + 1)
}

/// The words before a place in the same clause.
fn clause_before<'a, 'b>(sentence: &'b [Token<'a>], at: usize) -> &'b [Token<'a>] {
    // "No choice but to withdraw".
    let is_none_but = |at: usize| {
        is(sentence, at, "but to")
            && at > 0
            && is(sentence, at - 1, "choice|option|left|alternative")
    };
    let begins = |at: &usize| {
        let token = &sentence[*at];
        token.is_any_mark(",:(") || token.is_word("but|because|since|and|so") && !is_none_but(*at)
    };
    let start = (0..at).rev().find(begins);
    &sentence[start.map_or(0, |start| start + 1)..at]
}

fn denial(clause: &[Token<'_>]) -> Option<usize> {
    // "Decline" and "refuse" are refusals themselves.
    let denies = |token: &Token<'_>| {
        token.is(Class::Denying)
            && !token.is(Class::Refraining)
            && !token.is_word("instead|refusing|neither")
    };
    let needless = |at: &usize| is(clause, *at, "no") && has(clause, at + 1, Class::NoCause);
    let needless = (0..clause.len()).rfind(needless);
    clause.iter().rposition(denies).max(needless)
}

/// The first place of one of these words.
fn position(tokens: &[Token<'_>], words: &str) -> Option<usize> {
    tokens.iter().position(|token| token.is_word(words))
}

fn has(tokens: &[Token<'_>], at: usize, class: Class) -> bool {
    tokens.get(at).is_some_and(|token| token.is(class))
}
