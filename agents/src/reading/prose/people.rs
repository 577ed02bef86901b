//! Whom the names in a reply mean. Somebody who gives a name to himself ("I'm Bob"), or who
//! speaks of nobody but one person by name ("Alex bids 45"), is that person.

use super::lexicon::Class;
use super::naming;
use super::tokens::{Kind, Token};

/// What stands for the person of whom a story tells.
const HERO: &str = "he|she|he's|she's|he'll|she'll";

/// Marks the names by which the speaker means himself.
pub fn mark(tokens: &mut [Token<'_>], seat: usize) {
    let hero = hero(tokens);
    if hero.is_some() {
        mark_pronouns(tokens);
    }
    let name = own_name(tokens, seat).or(hero.flatten());
    let Some(name) = name else {
        return;
    };
    for at in 0..tokens.len() {
        if person(tokens, at).as_deref() == Some(&*name) {
            tokens[at].classes = tokens[at].classes.with(Class::Itself);
        }
    }
}

/// Of whom a story tells in which nobody speaks of himself, except where he is quoted: of who
/// is named first, if anybody is; none if it is no story.
fn hero(tokens: &[Token<'_>]) -> Option<Option<String>> {
    let speaks = |token: &Token<'_>| token.is_any(&[Class::Speaker, Class::My, Class::You]);
    let is_own = tokens.iter().any(|token| !token.is_quoted && speaks(token));
    let is_told = |token: &Token<'_>| token.is_word(HERO) && !token.is_quoted;
    let first = || (0..tokens.len()).find_map(|at| person(tokens, at));
    (!is_own && tokens.iter().any(is_told)).then(first)
}

/// Marks the pronouns of the last sentence of a story in which there are any.
fn mark_pronouns(tokens: &mut [Token<'_>]) {
    let is_told = |token: &Token<'_>| token.is_word(HERO) && !token.is_quoted;
    let Some(last) = tokens.iter().rposition(is_told) else {
        return;
    };
    let start = tokens[..last].iter().rposition(Token::is_end);
    for token in &mut tokens[start.map_or(0, |end| end + 1)..=last] {
        if is_told(token) {
            token.classes = token.classes.with(Class::Itself);
        }
    }
}

/// The name that the speaker has, as far as the text tells.
fn own_name(tokens: &[Token<'_>], seat: usize) -> Option<String> {
    let introduced = (0..tokens.len()).find_map(|at| {
        let says = |by: usize, words: &str| {
            at.checked_sub(by)
                .is_some_and(|at| tokens[at].is_word(words))
        };
        let is_i = says(1, "i'm|im") || says(1, "am") && says(2, "i");
        let is_my = says(1, "is") && says(2, "name") && says(3, "my");
        let is_this = says(1, "this") && tokens[at].is(Class::Titled);
        (is_i || is_my || is_this).then(|| person(tokens, at))?
    });
    let speaks = tokens
        .iter()
        .any(|token| token.is(Class::Speaker) || token.is(Class::My));
    if introduced.is_some() || speaks {
        return introduced;
    }
    let all = (0..tokens.len()).filter_map(|at| Some((at, person(tokens, at)?)));
    let all: Vec<(usize, String)> = all.collect();
    let (first, name) = all.first()?;
    let is_seat =
        tokens[*first].text.starts_with("player_") && !naming::is_seat(tokens, *first, seat);
    let begins = |at: usize| at == 0 || tokens[at - 1].is_end();
    let subjects = all
        .iter()
        .filter(|(at, other)| other == name && begins(*at))
        .count();
    let is_only = all.iter().all(|(_, other)| other == name);
    let others = all
        .iter()
        .filter(|(at, other)| other != name && begins(*at))
        .count();
    let answers = all
        .iter()
        .any(|(at, other)| other == name && answers(tokens, *at));
    (!is_seat && answers && (is_only || subjects > 1 && others == 0)).then(|| name.clone())
}

/// Whether somebody who is named at a place does something today: "bids", "does not bid",
/// "will bid ... today".
fn answers(tokens: &[Token<'_>], at: usize) -> bool {
    let behind = tokens[at + 1..]
        .iter()
        .skip_while(|token| token.number().is_some() || token.is_word("hereby"));
    let sentence: Vec<&Token<'_>> = behind
        .take_while(|token| !token.is_end())
        .take(20)
        .collect();
    let Some(verb) = sentence.first() else {
        return false;
    };
    // "Alex's bid is".
    if tokens[at].text.ends_with("'s") {
        let noun = sentence.iter().take(3).any(|token| token.is(Class::Noun));
        let states = |token: &&Token<'_>| token.is_word("is") || token.is_any_mark(":=");
        return noun && sentence.iter().any(states);
    }
    let is_now = sentence.iter().any(|token| token.is(Class::Now));
    let is_expected = verb.is_word("is")
        && sentence
            .get(1)
            .is_some_and(|next| next.is_word("going|likely|expected"));
    let is_third = verb.text.ends_with('s') && verb.kind == Kind::Word && !is_expected;
    is_third || is_now && verb.is_word("will|shall")
}

/// The person who is named at a place.
fn person(tokens: &[Token<'_>], at: usize) -> Option<String> {
    let token = tokens.get(at).filter(|token| token.kind == Kind::Word)?;
    let bare = token.text.trim_end_matches("'s");
    if token.is(Class::Titled) {
        let behind = tokens.get(at + 1);
        let number = behind
            .and_then(Token::number)
            .and_then(|numeral| numeral.whole());
        let is_this = at > 0 && tokens[at - 1].is_word("this|humble|your");
        return match number {
            Some(number) => Some(format!("{bare} {number}")),
            None => is_this.then(|| bare.to_owned()),
        };
    }
    let begins = at == 0 || tokens[at - 1].is_end();
    let is_new = begins && token.is_capital && token.classes.is_unknown() && bare.len() > 1;
    let acts = tokens.get(at + 1).is_some_and(|next| {
        let verbs = [Class::Verb, Class::WeakVerb, Class::Will, Class::Decided];
        next.is_any(&verbs) || next.is_word("does|has|hereby")
    });
    (naming::is_person(tokens, at) || is_new && acts).then(|| bare.to_owned())
}
