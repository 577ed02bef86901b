//! Numbers that count something else than what is asked for: days, units, horses. Called by
//! `beside.rs`.

use super::super::lexicon::Class;
use super::super::tokens::{Kind, Token};
use super::{Beside, Sort};

impl Beside<'_, '_> {
    /// "8 units", "3 points of health", "40 horses".
    pub(super) fn is_counted(&self) -> bool {
        // "My 11-unit requirement".
        let hyphen = self
            .behind(0)
            .is_some_and(|token| token.is_mark('-') && !token.is_apart);
        if hyphen && self.has_behind(1, Class::Counted) {
            return true;
        }
        // "The likely behaviour of the other four, ..."
        let closes = self.behind(0).is_none_or(|next| next.kind != Kind::Word);
        if closes && self.before_is(1, "other") && self.before_is(2, "the|all|these|those|my") {
            return true;
        }
        let Some(next) = self.behind(0).filter(|next| next.kind == Kind::Word) else {
            return false;
        };
        let has_unit =
            self.sort() == Some(Sort::Money) || self.tokens[self.end - 1].is(Class::Unit);
        if has_unit {
            return false;
        }
        // "8 of them" are units, where money is asked for.
        let of_them = next.is_word("of") && self.behind_is(1, "them|these|those");
        let hands = (1..=3).any(|by| self.has_before(by, Class::Giving));
        if of_them && self.is_bid && !hands && !self.before_is(1, "all") {
            return true;
        }
        // "1 No-Drink day".
        let joins = |token: &Token<'_>| token.is_mark('-') && !token.is_apart;
        if next.is_word("no") && self.behind(1).is_some_and(joins) {
            return true;
        }
        // "Three possible strategies".
        let is_many = self
            .behind(1)
            .is_some_and(|token| token.is(Class::Counted) && token.text.ends_with('s'));
        let describes = next.is(Class::Bound) || next.classes.is_unknown();
        if describes && is_many && !next.text.ends_with('s') {
            return true;
        }
        if next.is(Class::Counted) {
            return !next.is(Class::Unit) && !self.is_of_money();
        }
        let functions = [
            Class::Follows,
            Class::Aside,
            Class::Verb,
            Class::Noun,
            Class::Past,
            Class::Speaker,
            Class::Be,
            Class::Because,
        ];
        let is_function = next.is_any(&functions);
        // "Put me down for 55 mate".
        let closes =
            self.behind(1).is_none() && (1..=4).any(|by| self.has_before(by, Class::WeakVerb));
        let is_asserted = (1..=2).any(|by| self.has_before(by, Class::Verb)) || closes;
        let things = [Class::Others, Class::Name, Class::Whole];
        // "84 strikes the best balance", "61 yields about 70%".
        let is_verb = self.behind(1).is_some_and(|token| {
            token.is(Class::Approx)
                || token.is_word("my|me|us|them|him|everyone|nothing|to|that|another|you|your|it")
        });
        let is_verb = is_verb && next.text.ends_with('s');
        let is_thing = !is_verb && next.classes.is_unknown() || next.is_any(&things);
        is_thing && !is_function && !next.text.ends_with("ly") && !is_asserted
    }

    /// "5 units of money".
    pub(super) fn is_of_money(&self) -> bool {
        self.behind_is(1, "of") && self.behind_is(2, "money")
    }
}
