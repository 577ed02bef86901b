//! Amounts that somebody has, earns, keeps or loses, or that something is worth. Called by
//! `beside.rs`.

use super::super::lexicon::Class;
use super::super::naming::Naming;
use super::super::tokens::{Kind, Token};
use super::{Beside, Sort};

/// How something stands.
const STANDING: &str = "i'm|im|am|is|are|was|be|it's|he's|she's|we're|they're|sits|sit|sitting";

/// Leaves somebody as he then stands.
const LEFT: &str = "leave|leaves|leaving|put|puts|have|has|keep|keeps";

impl Beside<'_, '_> {
    /// "A balance of 90", "I have 170", "$20 left", "my $70 salary", "the average was 40".
    pub(super) fn is_had(&self) -> bool {
        let is_thing = |token: &Token<'_>| {
            let names = token.is(Class::MoneyHad) || token.is(Class::Property);
            names && !token.is(Class::Noun) && !token.is(Class::Unit)
        };
        let links = |token: &Token<'_>| {
            token.is(Class::Linking) || token.is(Class::Approx) || token.is_any_mark(":=-(")
        };
        let by = (1..6)
            .find(|by| !self.before(*by).is_some_and(links))
            .unwrap_or(6);
        let is_share_of = self.before(by + 2).is_some_and(|token| token.is_word("of"))
            && self
                .before(by + 3)
                .and_then(Token::number)
                .is_some_and(|share| share.sort == Sort::Percent);
        let is_thing_before =
            self.before(by).is_some_and(is_thing) || by > 1 && self.is_named_aside(by);
        if is_thing_before && !is_share_of && !self.is_named_own(by) {
            return true;
        }
        let left = self.left();
        let between = |token: &Token<'_>| token.is(Class::Having) || token.is(Class::Approx);
        let back = (left..7)
            .find(|by| !self.before(*by).is_some_and(between))
            .unwrap_or(7);
        // "Hold on to the 40".
        let back =
            back + 2 * usize::from(self.before_is(back, "to") && self.before_is(back + 1, "on"));
        let comes = |token: &Token<'_>| token.is(Class::Outcome) && !token.is(Class::WeakVerb);
        let owns = self.has_before(back, Class::Owning) || self.before(back).is_some_and(comes);
        let is_subject = self.behind_is(0, "has|have|had");
        let keeps = |by: usize| self.behind_is(by, "keep|keeping|save|saving");
        let is_kept =
            self.has_behind(0, Class::Speaker) && (1..4).any(keeps) && !self.before_is(1, "with");
        let is_had = self.behind(0).is_some_and(|token| {
            is_thing(token) && !token.is(Class::Follows) && !self.is_of_money()
        });
        // "900 is the standing bid".
        let is_told = self.has_behind(0, Class::Be)
            && self.behind_is(1, "the|his|her|their")
            && (2..4).any(|by| {
                self.has_behind(by, Class::Bound) || self.has_behind(by, Class::OfOthers)
            })
            && (3..5).any(|by| self.has_behind(by, Class::Noun));
        // "The 40 that I have".
        let that = usize::from(self.behind_is(0, "that|which"));
        let is_owned = !self.before_is(1, "with")
            && self.has_behind(that, Class::Speaker)
            && (self.has_behind(that + 1, Class::Owning) || self.behind_is(that, "i've"))
            && !self.has_behind(that + 1, Class::WeakVerb);
        // "78, which is all the money I've got".
        let comma = usize::from(self.behind(0).is_some_and(|token| token.is_mark(',')));
        let is_all = self.behind_is(comma, "which")
            && self.behind_is(comma + 2, "all|everything|what")
            && (comma + 3..comma + 6).any(|by| self.behind_is(by, "i've|have|got|own"));
        owns || is_told
            || self.is_level()
            || is_all
            || is_owned
            || self.is_explained()
            || is_subject
            || is_kept
            || is_had
            || self.is_kept()
    }

    /// "I'm at 5", "which would leave me at 3": how something stands.
    fn is_level(&self) -> bool {
        let left = self.left();
        if !self.before_is(left, "at") {
            return false;
        }
        let adverb = |by: usize| self.has_before(by, Class::Adverb);
        let by = (left + 1..left + 4)
            .find(|by| !adverb(*by))
            .unwrap_or(left + 4);
        let is_left = self.before_is(by, "me|us|him|her|them") && self.before_is(by + 1, LEFT);
        self.before_is(by, STANDING) || is_left
    }

    /// "Cindy (100)", "my health (3)": parentheses explain what stands before them.
    fn is_explained(&self) -> bool {
        let is_mark = |token: &&Token<'_>| token.is_any_mark("()");
        let nearest = self.tokens[..self.start]
            .iter()
            .rposition(|token| is_mark(&token));
        let Some(open) = nearest.filter(|at| *at > 0 && self.tokens[*at].is_mark('(')) else {
            return false;
        };
        let says = [Class::Speaker, Class::Verb, Class::Noun, Class::My];
        let is_said = |token: &Token<'_>| token.is_any(&says);
        let is_closed = self.tokens[self.end..]
            .iter()
            .any(|token| token.is_mark(')'));
        // "bid(45)" is a call, "half a dollar ($0.50)" says the same twice.
        let before = &self.tokens[open - 1];
        let restates =
            before.number().is_some() || before.is(Class::Unit) || before.is(Class::PartHead);
        let explains = self.tokens[open].is_apart && !restates && !is_said(before);
        is_closed && explains && !self.tokens[open..self.start].iter().any(is_said)
    }

    /// "$20 left", "$530 sitting in the bank".
    fn is_kept(&self) -> bool {
        let is_word = |by: &usize| {
            let token = self.behind(*by);
            token.is_some_and(|token| token.kind == Kind::Word)
        };
        let mut words = (0..4).take_while(is_word);
        let lies = words.find(|by| self.has_behind(*by, Class::Lying));
        let is_place = |by: usize| {
            let is_place =
                self.has_behind(by, Class::MoneyHad) || self.has_behind(by, Class::MoneyPlace);
            is_place && !self.behind_is(by + 1, "side")
        };
        let comes = self.behind_is(0, "coming") && self.behind_is(1, "in|tonight|tomorrow|from");
        comes
            || self.has_behind(0, Class::Kept)
            || lies.is_some_and(|by| (by + 1..by + 4).any(is_place))
    }

    /// Whether the name that is linked to it is no answer's: "the average share was 0.4".
    fn is_named_aside(&self, by: usize) -> bool {
        self.named(by, false).is_some_and(Naming::is_aside)
    }

    /// Whether the name that is linked to it is an answer's: "my bid for the 9 units is".
    fn is_named_own(&self, by: usize) -> bool {
        self.named(by, true) == Some(Naming::Answer)
    }

    /// What the name says that a copula links to it; with numbers in it, or only what stands
    /// behind them.
    fn named(&self, by: usize, has_numbers: bool) -> Option<Naming> {
        let end = self.start.checked_sub(by)?;
        let is_copula = |token: &Token<'_>| {
            token.is(Class::Be) || token.is_any_mark(":=") || token.is_word("was|were|would|will")
        };
        if !(1..by).any(|by| self.before(by).is_some_and(is_copula)) {
            return None;
        }
        let begins = |token: &Token<'_>| {
            let joins = "that|and|but|because|since|so|while|if";
            let is_said = token.kind == Kind::Word || has_numbers && token.number().is_some();
            !is_said || is_copula(token) || token.is_word(joins)
        };
        let from = self.tokens[..=end].iter().rposition(begins);
        let name = &self.tokens[from.map_or(0, |from| from + 1)..=end];
        // "He wrote it down: 150", of who is told of.
        let speaks = name.iter().any(|token| {
            let is_hero = token.is(Class::Itself) && !token.text.ends_with("'s");
            token.is(Class::Speaker) || is_hero
        });
        (!name.is_empty() && !speaks).then(|| Naming::of(name, self.seat))
    }
}
