//! What a name says of the value that belongs to it: a label before a colon, a heading, the
//! head of a table's column, the key of a field, or the words before "is". Is it the answer,
//! somebody else's, one of another day, or something else altogether?

use super::lexicon::{self, Class};
use super::tokens::{Kind, Token};

/// What a name says of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// The answer.
    Answer,
    /// The answer, for good.
    Final,
    /// What the speaker does.
    Me,
    /// What is done now.
    Now,
    /// What everything comes to.
    Conclusion,
    /// What somebody else does.
    Theirs,
    /// What was.
    Past,
    /// What is yet to come.
    ToCome,
    /// Anything else that has a value: a balance, a price, a limit.
    Something,
    /// What is done on a day or in a round.
    Dated,
    /// Why.
    Explanation,
    /// Nothing that is known.
    Unknown,
}

impl Naming {
    /// Whether a value of this name is the answer.
    pub fn is_own(self) -> bool {
        use Naming::{Answer, Conclusion, Final, Me, Now};
        matches!(self, Answer | Final | Me | Now | Conclusion)
    }

    /// Whether a value of this name is none.
    pub fn is_aside(self) -> bool {
        use Naming::{Past, Something, Theirs, ToCome};
        matches!(self, Theirs | Past | ToCome | Something)
    }

    /// What the words of a name say; `seat` is the speaker's.
    pub fn of(name: &[Token<'_>], seat: usize) -> Self {
        let has = |class: Class| name.iter().any(|token| token.is(class));
        let has_word = |words: &str| name.iter().any(|token| token.is_word(words));
        let first_is = |words: &str| name.first().is_some_and(|first| first.is_word(words));
        let is_own = is_own(name, seat);
        let is_this = has_word("this") && has(Class::Time);
        if first_is("same|like|unlike") {
            return Self::Answer;
        }
        // "That tips the balance: I'll go" is no name.
        if first_is("that|that's|which") && name.len() > 2 {
            return Self::Unknown;
        }
        let is_so_far = name.len() == 2 && first_is("so") && has_word("far");
        if has(Class::Earlier) && !is_this || is_so_far {
            return Self::Past;
        }
        // "So it's the minimum: 174".
        if first_is("so") && has_word("it's") && has_word("minimum|min|least") {
            return Self::Conclusion;
        }
        if is_option(name) || is_of_form(name) {
            return Self::Something;
        }
        if (0..name.len()).any(|at| is_to_come(name, at)) {
            return Self::ToCome;
        }
        if has(Class::Itself) && has_word("says|decided|decides|picks") {
            return Self::Answer;
        }
        let is_theirs = |at: usize| {
            is_another(name, at, seat) || name[at].is(Class::Itself) && !has(Class::Noun)
        };
        if !is_own && (0..name.len()).any(is_theirs) {
            return Self::Theirs;
        }
        if first_is("to|into") && has_word("group|pot|pool|project") {
            return Self::Answer;
        }
        if name.len() == 2 && has_word("myself") {
            return Self::Something;
        }
        if is_this && !has(Class::Noun) || first_is("for") && is_own {
            return Self::Now;
        }
        if first_is("step|stage|phase|point|part") {
            return Self::Unknown;
        }
        let is_numbered = |token: &Token<'_>| token.number().is_some() || is_ordinal(token);
        if name.iter().any(is_numbered) && name.iter().all(is_of_date) {
            return match has(Class::Now) {
                true => Self::Now,
                false => Self::Dated,
            };
        }
        by_head(name, is_own).unwrap_or_else(|| Self::by_rest(name, is_own))
    }

    /// What a name without a noun that is known says.
    fn by_rest(name: &[Token<'_>], is_own: bool) -> Self {
        let has = |class: Class| name.iter().any(|token| token.is(class));
        let has_word = |words: &str| name.iter().any(|token| token.is_word(words));
        if is_own {
            return Self::Me;
        }
        if has_word("final") {
            return Self::Final;
        }
        if has(Class::Now) || has_word("this") {
            return Self::Now;
        }
        let is_letter = name.len() == 1 && has_word("a");
        match has(Class::Conclusion) || is_letter {
            true => Self::Conclusion,
            false => Self::Unknown,
        }
    }
}

/// Whether a name is of the speaker's: "my bid", "me", "C (mine)".
fn is_own(name: &[Token<'_>], seat: usize) -> bool {
    let is_behind = |at: usize| name[at - 1].is(Class::Preposition) || name[at - 1].is_mark('(');
    let is_me = (1..name.len()).any(|at| name[at].is_word("me|myself|mine") && is_behind(at));
    let is_first = name.first().is_some_and(|first| first.is_word("me|myself"));
    let is_named = |token: &Token<'_>| {
        let is_itself = token.is(Class::Itself) && token.text.ends_with("'s");
        is_itself || token.is(Class::My) || token.is_word("i|self")
    };
    is_me
        || is_first
        || name.iter().any(is_named)
        || (0..name.len()).any(|at| is_seat(name, at, seat))
}

/// Whether a name is of something that could be answered.
fn is_option(name: &[Token<'_>]) -> bool {
    let are_options =
        |token: &Token<'_>| token.is_word("options|alternatives|scenarios|candidates|choices");
    let is_one =
        |first: &Token<'_>| first.is_word("option|scenario|alternative|case|candidate|variant");
    name.iter().any(are_options) || name.first().is_some_and(is_one)
}

/// Whether a name is of an example of the form, of a bound, or of what is done from a bound
/// on: "Example", "Max", "Above 550".
fn is_of_form(name: &[Token<'_>]) -> bool {
    let Some(first) = name.first() else {
        return false;
    };
    let is_example = first.is_word("example|sample|examples|format|eg")
        || first.is_word("for")
            && name
                .get(1)
                .is_some_and(|next| next.is_word("example|instance"));
    let is_bound = |token: &Token<'_>| {
        let is_least = token.is_word("min|minimum|least");
        token.is_any(&[Class::Bound, Class::Bounding]) && !is_least
    };
    let begins = first.is_word("above|below|over|under|up|beyond|until|between|at|if|from");
    let has_number = name.iter().any(|token| token.number().is_some());
    is_example || name.iter().all(is_bound) || begins && has_number
}

/// Whether a word of a name is of a later time: not "next bid", which is the one to make.
fn is_to_come(name: &[Token<'_>], at: usize) -> bool {
    let is_answer = |next: &Token<'_>| {
        next.is_any(&[Class::Noun, Class::Verb, Class::WeakVerb]) || next.is_word("move|step")
    };
    let is_next = name[at].is_word("next") && name.get(at + 1).is_none_or(is_answer);
    name[at].is_any(&[Class::ToCome, Class::Future]) && !is_next
}

/// Whether a token may stand in a date: "day 3 of 20".
fn is_of_date(token: &Token<'_>) -> bool {
    let joins = token.is_word("of|the|in|on|for") || token.is_any_mark("()");
    let is_time = token.is(Class::Tied) || token.is(Class::Now) || is_ordinal(token);
    is_time || token.number().is_some() || joins
}

/// "2nd", "14th".
fn is_ordinal(token: &Token<'_>) -> bool {
    let ends = ["st", "nd", "rd", "th"];
    let mut digits = ends.iter().filter_map(|end| token.text.strip_suffix(*end));
    digits.any(|digits| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit()))
}

/// What the head of a name says, if it is a noun that is known.
fn by_head(name: &[Token<'_>], is_own: bool) -> Option<Naming> {
    let ends = |token: &Token<'_>| token.is(Class::Preposition) || token.is_mark('(');
    let end = name.iter().position(ends).filter(|end| *end > 0);
    let (mut head, mut of_what) = name.split_at(end.unwrap_or(name.len()));
    if head.iter().any(|token| token.is(Class::Explaining)) {
        return Some(Naming::Explanation);
    }
    let is_answer = |token: &Token<'_>| {
        token.is_any(&[Class::Noun, Class::Verb, Class::Done]) || token.is_word("amount")
    };
    let is_thing =
        |token: &Token<'_>| token.is_any(&[Class::Property, Class::MoneyHad, Class::Counted]);
    let is_known = |token: &Token<'_>| is_answer(token) || is_thing(token);
    if !head.iter().any(is_known) && name.iter().any(is_answer) {
        // "Tokens to contribute".
        (head, of_what) = (name, &[]);
    }
    // "My contribution this round".
    let dates = |at: &usize| *at > 0 && head[*at].is(Class::Time) && head[at - 1].is_word("this");
    let named = (1..head.len())
        .find(dates)
        .map_or(head.len(), |time| time - 1);
    let head = &head[..named];
    let at = head.iter().rposition(is_known)?;
    let noun = &head[at];
    let has = |class: Class| head.iter().any(|token| token.is(class));
    let is_all = head
        .iter()
        .any(|token| token.is_word("whole|entire|full|all"));
    if noun.is(Class::MoneyHad) && is_own && is_all {
        return Some(Naming::Answer);
    }
    let is_counted = |token: &Token<'_>| is_thing(token) && !token.is(Class::Time);
    if noun.is_word("price") && is_own && !has(Class::Bound) {
        return Some(Naming::Answer);
    }
    // "High bid: 1,000 (B)".
    let is_high = at > 0 && head[at - 1].is_word("high|standing") && !is_own;
    let counts = is_high || noun.is_word("amount|number|action") && of_what.iter().any(is_counted);
    if !is_answer(noun) || has(Class::Bound) || counts {
        return Some(Naming::Something);
    }
    // "My bidding logic" is no bid.
    let is_unknown = |token: &Token<'_>| token.kind == Kind::Word && token.classes.is_unknown();
    if head[at + 1..].iter().any(is_unknown) {
        return Some(Naming::Unknown);
    }
    let is_final = name
        .iter()
        .any(|token| token.is_word("final|definitive|ultimate"));
    Some(if is_final {
        Naming::Final
    } else {
        Naming::Answer
    })
}

/// Whether somebody else is spoken of at a place.
pub fn is_another(tokens: &[Token<'_>], at: usize, seat: usize) -> bool {
    let token = &tokens[at];
    if token.is(Class::Itself) {
        return false;
    }
    if let Some(number) = numbered(tokens, at) {
        return number != seat || !token.text.starts_with("player");
    }
    // "A cautious player".
    let before = &tokens[at.saturating_sub(2)..at];
    let is_anybody = |token: &Token<'_>| token.is_word("a|an|no|any|each|every");
    if token.is(Class::Titled) && before.iter().any(is_anybody) {
        return true;
    }
    // "Most expensive" describes, "most" by itself are others.
    let describes = token.is_word("most")
        && tokens
            .get(at + 1)
            .is_some_and(|next| next.kind == Kind::Word && next.classes.is_unknown());
    if describes {
        return false;
    }
    // "The rest" are others, to rest is to do nothing.
    let is_verb = token.is_word("rest") && !(at > 0 && tokens[at - 1].is_word("the"));
    token.is(Class::Others) && !is_verb || is_name(tokens, at)
}

/// Whether the speaker's own seat is named at a place: "player_0".
pub fn is_seat(tokens: &[Token<'_>], at: usize, seat: usize) -> bool {
    let is_player = tokens
        .get(at)
        .is_some_and(|token| token.text.starts_with("player"));
    is_player && numbered(tokens, at) == Some(seat)
}

/// Whether somebody's known name or title stands at a place.
pub fn is_person(tokens: &[Token<'_>], at: usize) -> bool {
    let bare = tokens[at].text.trim_end_matches("'s");
    numbered(tokens, at).is_some()
        || lexicon::classes(bare).has(Class::Name)
        || tokens[at].is(Class::Name)
}

/// The number of the player who is named at a place: "player_3", "player 3", "bidder 3".
fn numbered(tokens: &[Token<'_>], at: usize) -> Option<usize> {
    let token = tokens.get(at)?;
    let bare = token.text.trim_end_matches("'s");
    if let Some(rest) = bare.strip_prefix("player").filter(|rest| !rest.is_empty()) {
        return rest.trim_start_matches('_').parse().ok();
    }
    let behind = tokens.get(at + 1).filter(|_| token.is(Class::Titled))?;
    let behind = match behind.is_word("no|number|nr") {
        true => tokens.get(at + 2)?,
        false => behind,
    };
    usize::try_from(behind.number()?.whole()?).ok()
}

/// Whether a token is a name: one that is known, or a word with a capital that is not.
fn is_name(tokens: &[Token<'_>], at: usize) -> bool {
    let token = &tokens[at];
    let bare = token.text.trim_end_matches("'s");
    let classes = match bare == token.text {
        true => token.classes,
        false => lexicon::classes(bare),
    };
    let begins = at == 0 || tokens[at - 1].is_end();
    let is_word = token.kind == Kind::Word && bare.chars().all(char::is_alphabetic);
    let is_new = token.is_capital && is_word && bare.len() > 1 && !begins;
    token.is(Class::Name)
        || classes.has(Class::Name)
        || is_new && classes.is_unknown() && token.classes.is_unknown()
}
