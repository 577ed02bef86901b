//! Numbers of a calculation: operands, shares, rates, and wholes of which something is a
//! part. Called by `beside.rs`.

use super::super::lexicon::Class;
use super::super::tokens::{Kind, Token};
use super::{Beside, Sort};

impl Beside<'_, '_> {
    /// A number of a calculation that is not its result.
    pub(super) fn is_operand(&self) -> bool {
        // "100 - 40 = 60" subtracts, "100 - my limit" does not.
        let sums = (0..5).any(|by| self.behind(by).is_some_and(|token| token.is_mark('=')));
        let operates = |token: Option<&Token<'_>>| {
            token.is_some_and(|token| {
                let subtracts = token.is_mark('-') && token.is_apart && sums;
                token.is_any_mark("*+/^") || subtracts || token.is(Class::Calculating)
            })
        };
        let is_term = |token: Option<&Token<'_>>| {
            token.is_some_and(|token| {
                token.number().is_some() || token.kind == Kind::Broken || token.is_any_mark("()")
            })
        };
        let is_thing = |token: Option<&Token<'_>>| {
            token.is_some_and(|token| {
                token.is(Class::MoneyHad) || token.is(Class::Property) || token.is_word("my|the")
            })
        };
        let before_sum =
            self.behind(0).is_some_and(|token| token.is_any_mark("=:")) && is_term(self.behind(1));
        if self.is_of_scale() {
            return false;
        }
        let before_operator =
            operates(self.behind(0)) && (is_term(self.behind(1)) || is_thing(self.behind(1)));
        let after_operator = operates(self.before(1)) && is_term(self.before(2));
        let is_share = self.behind_is(0, "of") && is_thing(self.behind(1)) && self.is_share();
        before_sum || before_operator || after_operator || is_share
    }

    /// "24/100": out of the most that can be answered.
    pub(super) fn is_of_scale(&self) -> bool {
        let most = self.behind(1).and_then(Token::number);
        let is_most = most.is_some_and(|most| Some(most.value) == self.most);
        let is_stroke = self.behind(0).is_some_and(|token| token.is_mark('/'));
        is_stroke && is_most && self.sort() != Some(Sort::Percent)
    }

    /// Whether it is a share of something rather than an amount.
    pub(super) fn is_share(&self) -> bool {
        let numeral = self.tokens[self.start].number();
        let is_small = numeral.is_some_and(|numeral| numeral.value.abs() < 2.0);
        self.sort() == Some(Sort::Percent) || self.sort() != Some(Sort::Money) && is_small
    }

    /// The whole of "10 of my 20" and "10 out of 20".
    pub(super) fn is_part_of(&self) -> bool {
        let by = (1..=3)
            .find(|by| !self.has_before(*by, Class::PartArticle))
            .unwrap_or(3);
        if !self.before_is(by, "of") {
            return false;
        }
        let is_part = |token: &Token<'_>| {
            token.number().is_some() || token.is(Class::Unit) || token.is(Class::PartHead)
        };
        // "All of my 90" is the whole itself.
        let is_all = self.before_is(by + 1, "all");
        !is_all && self.before(by + 1).is_some_and(is_part)
    }

    /// "$5 per unit", "two bucks each", "9 a unit".
    pub(super) fn is_rate(&self) -> bool {
        let is_unit =
            |by: usize| self.has_behind(by, Class::Counted) && !self.behind_is(by, "day|days");
        let is_stroke = self.behind(0).is_some_and(|token| token.is_mark('/'));
        self.behind_is(0, "per|each|apiece") && !self.behind_is(1, "day|one")
            || (self.behind_is(0, "a|an") || is_stroke) && is_unit(1)
            || self.behind_is(0, "for") && self.behind_is(1, "each|every")
    }
}
