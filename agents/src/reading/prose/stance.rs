//! Whether who speaks plays at all: programs that cannot drink, people who beg pardon, and
//! questions about something else than the answer. Called by `heard.rs`.

use super::lexicon::Class;
use super::parts::Parts;
use super::tokens::{Token, stand};

/// Says that the speaker has not made up his mind, or weighs options alike.
const UNDECIDED: &[&str] = &[
    "depends|depend on",
    "both have|has|options|are",
    "each has|have|carries",
    "each one has|carries",
    "hard|difficult|impossible to say|decide|choose|tell",
    "not|haven't|hasn't decided",
    "can't|cannot decide",
    "i'm undecided|torn",
    "am undecided|torn",
    "remains to be seen",
    "either is fine|ok|okay",
];

/// Words that leave a choice to chance. Of an amount they tell how likely it wins.
const LOTTERY: &[&str] = &["with a probability|chance", "with probability"];

/// As what somebody speaks.
#[derive(Debug, Clone, Copy)]
pub struct Stance {
    /// A program, which cannot go to bars.
    is_program: bool,
    /// Somebody who speaks of the game as a story, or of his own principles.
    is_outside: bool,
}

impl Stance {
    /// The stance of a text.
    pub fn of(tokens: &[Token<'_>]) -> Self {
        Self {
            is_program: speaks_as_program(tokens),
            is_outside: tokens.iter().any(|token| token.is(Class::Outside)),
        }
    }

    /// Whether who gives no answer does not play at all.
    pub fn is_outside(self) -> bool {
        self.is_program || self.is_outside
    }

    /// Where a program says in a sentence what it does not do.
    pub fn denial(self, sentence: &[Token<'_>]) -> Option<usize> {
        let mut denials = sentence.iter();
        denials
            .rposition(|token| token.is(Class::Denying))
            .filter(|_| self.is_program)
    }
}

/// Whether a sentence says that the speaker does not play, rather than what he plays: "I'm
/// sorry, but I can't", "I decline to answer", "on behalf of users".
pub fn begs_off(sentence: &[Token<'_>]) -> bool {
    let pardon = sentence.iter().position(|token| token.is(Class::Pardon));
    let cannot = |token: &Token<'_>| token.is_word("can't|cannot|unable|able|won't");
    let declines = sentence.windows(3).any(|words| {
        words[0].is(Class::Refraining) && words[1].is_word("to") && words[2].is(Class::Responding)
    });
    let serves = sentence.windows(3).any(|words| {
        let is_behalf = words[0].is_word("behalf") && words[1].is_word("of");
        is_behalf && words[2].is_word("users|others|people|humans|anyone")
    });
    let is_generic = sentence.iter().any(|token| token.is(Class::Generic))
        && sentence.iter().any(|token| token.is(Class::Refraining));
    declines
        || serves
        || is_generic
        || pardon.is_some_and(|pardon| sentence[pardon..].iter().any(cannot))
}

/// Whether a question is about something else than the answer: "What have I got?"
pub fn asks_another(question: Parts<'_, '_>) -> bool {
    let asks = |token: &Token<'_>| token.is_word("what|how|what's|who|which");
    let is_answer = |token: &Token<'_>| token.is_any(&[Class::Noun, Class::Verb, Class::WeakVerb]);
    let is_about = |token: &Token<'_>| {
        token.is_any(&[
            Class::Owning,
            Class::MoneyHad,
            Class::Property,
            Class::Others,
            Class::Counted,
        ])
    };
    let mut all = question.tokens.iter();
    question.of_numbers()
        && all.clone().any(asks)
        && all.clone().any(is_about)
        && !all.any(is_answer)
}

/// Whether a sentence says that nothing is decided: "it depends on", "both have their merits".
pub fn is_undecided(sentence: &[Token<'_>], is_choice: bool) -> bool {
    let turns = sentence.iter().any(|token| token.is_word("but|so"));
    let lottery = if is_choice { LOTTERY } else { &[] };
    let mut undecided = UNDECIDED.iter().chain(lottery);
    !turns && undecided.any(|words| (0..sentence.len()).any(|at| stand(sentence, at, words)))
}

/// Where the clause begins that follows a place.
pub fn clause_behind(tokens: &[Token<'_>], at: usize) -> usize {
    let comma = tokens[at..]
        .iter()
        .position(|token| token.is_any_mark(",;:") || token.is_word("but"));
    comma.map_or(tokens.len(), |comma| at + comma + 1)
}

/// Whether the speaker says that it is a program.
fn speaks_as_program(tokens: &[Token<'_>]) -> bool {
    let is_model = |pair: &[Token<'_>]| {
        let kind = pair[0].is_word("language|ai|artificial|computer|virtual|text-based")
            && pair[1].is_word("model|models|assistant|program|system|intelligence");
        kind || pair[0].is_word("an") && pair[1].is_word("ai")
    };
    // "I'm only a chatbot", "as an assistant".
    let is_machine = |at: usize| {
        let named = tokens[at].is_word("chatbot|software|machine|program|robot|bot|assistant");
        let lead = &tokens[at.saturating_sub(4)..at];
        named && lead.iter().any(|token| token.is_word("i'm|am|as|being"))
    };
    tokens.windows(2).any(is_model) || (0..tokens.len()).any(is_machine)
}
