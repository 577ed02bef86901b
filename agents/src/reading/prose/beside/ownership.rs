//! Numbers and options that are somebody else's, by who is spoken of before them in their
//! clause. Called by `beside.rs`.

use super::super::lexicon::Class;
use super::super::naming;
use super::super::tokens::{Kind, Token};
use super::Beside;

impl Beside<'_, '_> {
    /// "Bob's 60", "Eric: 77", "David will bid 70", "65 for Bob".
    pub(super) fn is_anothers(&self) -> bool {
        let is_given = self.behind_is(0, "for|by|from")
            || self.behind(0).is_some_and(|token| token.is_mark('('));
        let whom = self.end + 1;
        if is_given && whom < self.tokens.len() && naming::is_person(self.tokens, whom) {
            return true;
        }
        // "A cautious player bids 40, an aggressive one 85".
        if self.before_is(1, "one") && self.before_is(3, "a|an|another") {
            return true;
        }
        // "Two pick 25".
        let counts = |token: &Token<'_>| token.number().is_some() || token.is_word("one|some|half");
        let is_act = self.has_before(1, Class::Verb) || self.has_before(1, Class::WeakVerb);
        let is_people = |before: Option<&Token<'_>>| {
            before
                .is_none_or(|before| before.kind != Kind::Word || before.is_word("and|that|the|if"))
        };
        if is_act && self.before(2).is_some_and(counts) && is_people(self.before(3)) {
            return true;
        }
        let mut others = self
            .unowned()
            .filter(|(at, _)| naming::is_another(self.tokens, *at, self.seat));
        // "Bob's 430 with 450": only the first is Bob's.
        let owns_another = |at: usize| {
            let owner =
                (at..self.start.min(at + 2)).rfind(|at| self.tokens[*at].text.ends_with("'s"));
            owner.is_some_and(|owner| {
                self.tokens[owner + 1..self.start]
                    .iter()
                    .any(|token| token.number().is_some())
            })
        };
        others.any(|(at, _)| self.acts(at) && !owns_another(at)) || self.is_of_many()
    }

    /// The clause back to where the speaker is named.
    fn unowned(&self) -> impl Iterator<Item = (usize, &Token<'_>)> {
        let own = |token: &Token<'_>| token.is(Class::Speaker) || token.is(Class::My);
        self.clause().take_while(move |(_, token)| !own(token))
    }

    /// "The real thinkers will go to 0": of people, or things, of whom nothing else is known.
    fn is_of_many(&self) -> bool {
        let is_plural = |token: &Token<'_>| {
            let ends = token.text.ends_with('s') && !token.text.ends_with("ss");
            ends && token.kind == Kind::Word && token.classes.is_unknown()
        };
        self.unowned().any(|(at, token)| {
            is_plural(token) && at + 1 < self.start && self.tokens[at + 1].is_word("will|would|go")
        })
    }

    /// Whether somebody named at a place does or has something there.
    pub(super) fn acts(&self, at: usize) -> bool {
        let token = &self.tokens[at];
        let is_numbered = token.is(Class::Titled) && self.tokens[at + 1].number().is_some();
        let at = at + usize::from(is_numbered && at + 1 < self.start);
        let rest = self.tokens.get(at + 1..).unwrap_or_default();
        let Some(next) = rest.iter().find(|token| !token.is(Class::Adverb)) else {
            return false;
        };
        // "Those 14", "another cheap one", "each day" name no people.
        let is_determiner = token.is_word("those|another|each|both|most|other|any");
        // "Most of the table will order the costly dish".
        let whom = |by: usize| self.tokens[at + by].is_word("the|us|them|you|these|those|our");
        if at + 2 < self.start && next.is_word("of") && whom(2) {
            let acts = [Class::Will, Class::Verb, Class::WeakVerb, Class::Supposing];
            return self.tokens[at + 3..self.start]
                .iter()
                .any(|token| token.is_any(&acts));
        }
        // "The other 17" are what is left.
        if token.is_word("other|rest|others") && next.number().is_some() {
            return false;
        }
        let verbs = [
            Class::Verb,
            Class::WeakVerb,
            Class::Be,
            Class::Owning,
            Class::Will,
            Class::Outcome,
            Class::Supposing,
            Class::Past,
            Class::Intending,
            Class::Denying,
            Class::Decided,
        ];
        let is_verb = next.is_any(&verbs);
        let ends = |ending: &&str| next.text.ends_with(*ending) && next.kind == Kind::Word;
        if is_determiner {
            return is_verb;
        }
        token.text.ends_with("'s")
            || token.text.ends_with('\'')
            || at + 1 == self.start
            || next.is_any_mark(":=-(")
            || next.number().is_some()
            || is_verb
            || ["s", "ed", "ly"].iter().any(ends)
    }
}
