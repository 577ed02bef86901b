//! What stands right beside a number or an option, and what that makes of it. Looks a few
//! tokens to either side, inside one sentence. Called by `mentions.rs`.

use agon_engine::numerals::Sort;
use agon_engine::{Ask, AskRole, Form};

use super::lexicon::Class;
use super::tokens::{Kind, Token};

mod arithmetic;
mod counting;
mod ownership;
mod possession;

/// How many tokens back a clause is followed.
const CLAUSE: usize = 20;

/// Whether something holds of what stands beside a mention.
type Test<'a, 'b> = fn(&Beside<'a, 'b>) -> bool;

/// Why a mention is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhyNot {
    /// It is a share, a rate, a label or counts something else.
    OtherSort,
    /// It is one end of a range.
    Range,
    /// It is only compared with, or a bound.
    Compared,
    /// It is what somebody has, or what something is worth.
    Had,
    /// It is another player's.
    Theirs,
    /// It is only supposed, or of another day.
    Supposed,
}

/// A mention and what stands around it in its sentence.
pub struct Beside<'a, 'b> {
    tokens: &'b [Token<'a>],
    start: usize,
    end: usize,
    seat: usize,
    /// Whether amounts go up from one bid to the next.
    rises: bool,
    /// Whether money is bid.
    is_bid: bool,
    /// The most that can be answered.
    most: Option<f64>,
}

impl<'a, 'b> Beside<'a, 'b> {
    /// The tokens from `start` to `end` of a sentence in a reply to an ask.
    pub fn new(tokens: &'b [Token<'a>], start: usize, end: usize, ask: &Ask) -> Self {
        let rises = matches!(ask.form, Form::Integer { pass: Some(_), .. });
        let seat = ask.seat;
        let is_bid = ask.role == AskRole::Bid;
        let most = match ask.form {
            Form::Number { max, .. } => Some(max),
            Form::Integer { max, .. } => max.map(|max| max as f64),
            _ => None,
        };
        Self {
            tokens,
            start,
            end,
            seat,
            rises,
            is_bid,
            most,
        }
    }

    /// Why a number here is no answer.
    pub fn why_no_number(&self) -> Option<WhyNot> {
        if self.is_set_off() {
            return None;
        }
        let reasons: [(WhyNot, Test<'a, 'b>); 11] = [
            (WhyNot::OtherSort, Self::is_labelled),
            (WhyNot::OtherSort, Self::is_counted),
            (WhyNot::OtherSort, Self::is_rate),
            (WhyNot::OtherSort, Self::is_operand),
            (WhyNot::OtherSort, Self::is_part_of),
            (WhyNot::OtherSort, Self::is_listed),
            (WhyNot::Range, Self::is_range),
            (WhyNot::Compared, Self::is_compared),
            (WhyNot::Theirs, Self::is_anothers),
            (WhyNot::Had, Self::is_had),
            (WhyNot::Supposed, Self::is_supposed),
        ];
        let found = reasons.into_iter().find(|(_, holds)| holds(self));
        found.map(|(why_not, _)| why_not)
    }

    /// Why an option here is no answer, unless the speaker says so in as many words.
    pub fn why_no_option(&self) -> Option<WhyNot> {
        // "One and then two costly orders".
        let is_counted = self
            .before(1)
            .and_then(Token::number)
            .is_some_and(|numeral| numeral.value > 1.0);
        if is_counted || self.before(1).is_some_and(|token| token.is_mark('✗')) {
            return Some(WhyNot::OtherSort);
        }
        let is_between = self.before_is(1, "between") && self.behind_is(0, "and")
            || self.before_is(1, "and") && (2..6).any(|by| self.before_is(by, "between"));
        if is_between {
            return Some(WhyNot::Range);
        }
        if self.is_anothers() {
            return Some(WhyNot::Theirs);
        }
        // "Not the costly one".
        let article = usize::from(self.before_is(1, "the|a"));
        if self.before_is(1 + article, "not|never|neither") {
            return Some(WhyNot::Compared);
        }
        // "Player_8 shot at me" tells of player_8.
        let is_player = self.tokens[self.start].text.starts_with("player");
        let acts = |next: &Token<'_>| next.kind == Kind::Word && !next.is(Class::Aside);
        if is_player && self.behind(0).is_some_and(acts) && self.acts(self.end - 1) {
            return Some(WhyNot::Theirs);
        }
        if self.has_before(1, Class::Comparing) {
            return Some(WhyNot::Compared);
        }
        self.is_supposed().then_some(WhyNot::Supposed)
    }

    /// Whether a sentence of the speaker's ends in nothing but this behind a colon: "I bid
    /// just above Bob's 40: 41".
    fn is_set_off(&self) -> bool {
        let left = self.left();
        let is_colon = self.before(left).is_some_and(|token| token.is_mark(':'));
        let rest = self.tokens.get(self.end..).unwrap_or_default();
        let own = |token: &Token<'_>| token.is(Class::Speaker) || token.is(Class::My);
        // "A bit more than Bob's 60: 62".
        let is_step = |token: &Token<'_>| own(token) || token.is(Class::Added);
        let lead = &self.tokens[..self.start.saturating_sub(left)];
        let speaks = || lead.iter().any(is_step);
        is_colon && rest.iter().all(|token| token.kind != Kind::Word) && speaks()
    }

    fn before(&self, by: usize) -> Option<&'b Token<'a>> {
        self.tokens.get(self.start.checked_sub(by)?)
    }

    fn behind(&self, by: usize) -> Option<&'b Token<'a>> {
        self.tokens.get(self.end + by)
    }

    fn before_is(&self, by: usize, words: &str) -> bool {
        self.before(by).is_some_and(|token| token.is_word(words))
    }

    fn before_is_mark(&self, by: usize, mark: char) -> bool {
        self.before(by).is_some_and(|token| token.is_mark(mark))
    }

    fn behind_is(&self, by: usize, words: &str) -> bool {
        self.behind(by).is_some_and(|token| token.is_word(words))
    }

    fn has_before(&self, by: usize, class: Class) -> bool {
        self.before(by).is_some_and(|token| token.is(class))
    }

    fn has_behind(&self, by: usize, class: Class) -> bool {
        self.behind(by).is_some_and(|token| token.is(class))
    }

    fn sort(&self) -> Option<Sort> {
        self.tokens[self.start].number().map(|numeral| numeral.sort)
    }

    /// Distance to the nearest token to the left that may change something: not "about", "a".
    fn left(&self) -> usize {
        let skipped = |token: &Token<'_>| {
            token.is(Class::Approx) && !token.is(Class::Bounding) || token.is_any_mark("(~")
        };
        (1..=4)
            .find(|by| !self.before(*by).is_some_and(skipped))
            .unwrap_or(1)
    }

    /// The tokens before it in its clause, the nearest first.
    fn clause(&self) -> impl Iterator<Item = (usize, &'b Token<'a>)> {
        let tokens = self.tokens;
        // A colon ends a clause if another one begins behind it: "he bids 60: it's 61".
        let acts = [Class::Be, Class::Verb, Class::WeakVerb];
        let colon = tokens[..self.start]
            .iter()
            .rposition(|token| token.is_mark(':'));
        let colon = colon.filter(|colon| {
            let behind = &tokens[colon + 1..self.start];
            behind.iter().any(|token| token.is_any(&acts))
        });
        let before = (colon.map_or(0, |colon| colon + 1)..self.start)
            .rev()
            .take(CLAUSE)
            .map(move |at| (at, &tokens[at]));
        before.take_while(move |(at, token)| {
            let is_choice = tokens[at + 1].is_word("or");
            let is_dash = token.is_mark('-') && token.is_apart;
            let joins = token.is(Class::So) || token.is_word("because|since|while|then");
            let is_comma = token.is_any_mark(",;(") && !is_choice;
            !token.is_end() && !is_comma && !is_dash && !joins
        })
    }

    /// "Day 7", "no. 6", "from 60".
    fn is_labelled(&self) -> bool {
        // "2) The others gave 4."
        let closes = self.behind(0).is_some_and(|token| token.is_mark(')'));
        if self.start == 0 && closes && self.behind(1).is_some() {
            return true;
        }
        let is_money = self.sort() == Some(Sort::Money);
        // "__/20".
        let is_scale =
            self.before_is_mark(1, '/') && self.before(2).is_none_or(|token| !token.is_term());
        let is_sure = self.sort() == Some(Sort::Percent)
            && (0..2)
                .any(|by| self.behind_is(by, "sure|certain|confident|chance|likely|probability"));
        if is_scale || is_sure {
            return true;
        }
        // "There are 21".
        let is_there = self.before_is(1, "are|were") && self.before_is(2, "there");
        let is_tied =
            is_there || self.has_before(1, Class::Tied) && !self.has_before(1, Class::Noun);
        // "Two tokens from 12 to 14".
        let is_step =
            self.behind_is(0, "from") && self.behind(1).is_some_and(|next| next.number().is_some());
        // "The 4th round of 10".
        let is_last = self.before_is(1, "of") && self.has_before(2, Class::Time);
        is_tied && !is_money || self.before_is(1, "from|by") || is_step || is_last
    }

    /// "Above 60", "at most 60", "closer to 70", "the limit of 70".
    fn is_compared(&self) -> bool {
        // "80 at the very most".
        let is_bound = self.behind_is(0, "at")
            && (1..4).any(|by| self.behind_is(by, "most|least"))
            && (1..3).all(|by| self.behind_is(by, "the|very|most|least") || by > 1);
        // "10 or more".
        let is_open = self.behind_is(0, "or") && self.has_behind(1, Class::Added);
        if self.has_behind(0, Class::Added) || is_open || is_bound {
            return true;
        }
        let left = self.left();
        let is = |by: usize, words: &str| self.before_is(left + by, words);
        let has = |by: usize, class: Class| self.has_before(left + by, class);
        let is_given = is(0, "over") && has(1, Class::Giving);
        let bounds = |token: &Token<'_>| {
            token.is(Class::Supposing) || token.is_word("would|i'd|willing|ready|prepared|happy")
        };
        if self.rises
            && is(0, "to")
            && is(1, "go|going|bid")
            && self
                .clause()
                .any(|(_, token)| token.is_word("willing|ready|prepared"))
        {
            return true;
        }
        if self.rises && is(0, "to") && is(1, "up") {
            let is_lead = self.start == left + 1;
            return is_lead
                || is(2, "bid|pay|spend|worth")
                || self.clause().any(|(_, token)| token.is(Class::Supposing));
        }
        let moves = |token: &Token<'_>| {
            token.is_word("go|going|move|moving|step|jump|raise|round|bump|increase")
        };
        let rises = is(0, "to") && is(1, "up|down") && self.before(left + 2).is_some_and(moves);
        let lowers = is(1, "down");
        if rises && (lowers || !self.clause().any(|(_, token)| bounds(token))) {
            return false;
        }
        // "While not consuming all of my 110".
        let avoids = self.clause().any(|(at, token)| {
            let next = &self.tokens[at + 1];
            let is_act = next.text.ends_with("ing") && next.classes.is_unknown();
            token.is_word("not|without") && is_act
        });
        let is_nearer = is(0, "to")
            && self
                .clause()
                .any(|(_, token)| token.is_word("closer|nearer"));
        avoids
            || is_nearer
            || has(0, Class::Comparing) && !is_given
            || has(0, Class::Bounding)
            || is(0, "to") && has(1, Class::Nearby)
            || is(0, "with") && is(1, "compared")
            || is(0, "of")
                && (has(1, Class::Bounding) || is(1, "instead|short|north|south|ahead|clear"))
            || is(0, "short|ahead|clear") && self.before_is(left - 1, "of|the")
            || is(0, "not|never")
            || is(0, "all") && is(1, "not")
    }

    /// One of several numbers in a row: "90, 101, 77".
    fn is_listed(&self) -> bool {
        let is_number =
            |token: Option<&Token<'_>>| token.is_some_and(|token| token.number().is_some());
        let is_comma = |token: Option<&Token<'_>>| {
            token.is_some_and(|token| {
                token.is_any_mark(",/") || token.is_mark('-') && token.is_apart
            })
        };
        let before = |by: usize| {
            let joins = is_comma(self.before(by)) || by == 1 && self.before_is(1, "and");
            joins && is_number(self.before(by + 1))
        };
        let behind = |by: usize| is_comma(self.behind(by)) && is_number(self.behind(by + 1));
        before(1) && (behind(0) || before(3)) || behind(0) && behind(2)
    }

    /// One end of "0 to 100", "0-100", "between 0 and 100".
    fn is_range(&self) -> bool {
        let is_number =
            |token: Option<&Token<'_>>| token.is_some_and(|token| token.number().is_some());
        let is_dash = |token: Option<&Token<'_>>| {
            token.is_some_and(|token| token.is_mark('-') && !token.is_apart)
        };
        let joins = |token: Option<&Token<'_>>| {
            is_dash(token) || token.is_some_and(|token| token.is_word("to|through"))
        };
        if self.before_is(1, "between") && self.behind_is(0, "and")
            || self.before_is(1, "and") && is_number(self.before(2)) && self.before_is(3, "between")
        {
            return true;
        }
        // "80-to-90"; "from 60 to 75" is a change.
        let behind = usize::from(is_dash(self.behind(0)) && self.behind_is(1, "to"));
        let before = usize::from(is_dash(self.before(1)) && self.before_is(2, "to"));
        let begins = joins(self.behind(0)) && is_number(self.behind(1 + 2 * behind));
        let ends = joins(self.before(1)) && is_number(self.before(2 + 2 * before));
        // "I drop slightly, from 20 to 18".
        let from = if ends { 3 } else { 1 };
        let is_change = self.before_is(from, "from")
            && (from..from + 5).any(|by| self.has_before(by, Class::Changing));
        (begins || ends) && !is_change && !self.clause().any(|(_, token)| token.is(Class::Changing))
    }

    /// In a condition, in a thought, or of another day.
    fn is_supposed(&self) -> bool {
        let is_later = |by: usize| {
            let is_other =
                self.behind_is(by, "last|next|previous") && !self.has_behind(by, Class::Noun);
            self.behind_is(by, "yesterday|tomorrow|ago") || is_other
        };
        let words = (0..3).take_while(|by| {
            *by == 0
                || self.behind(by - 1).is_some_and(|token| {
                    let joins = token.is_any(&[Class::Because, Class::So]);
                    token.kind == Kind::Word && !joins && !token.is_word("and|while|than")
                })
        });
        let is_said = self.behind_is(1, "be") && self.behind_is(2, "my|the|enough|a|an|sufficient");
        let is_open =
            self.behind_is(0, "could|might|may") || self.behind_is(0, "would") && !is_said;
        let is_gerund = |token: &Token<'_>| token.is(Class::Verb) && token.text.ends_with("ing");
        let is_subject =
            self.before(1).is_some_and(is_gerund) || self.tokens[self.start].text.ends_with("ing");
        let is_judged = is_open
            || is_subject
                && self.has_behind(0, Class::Judging)
                && !self.clause().any(|(_, token)| token.is(Class::Speaker));
        let is_thought = |(at, token): (usize, &Token<'_>)| {
            let is_first = token.is_word("first|second|opening")
                && self
                    .tokens
                    .get(at + 1)
                    .is_some_and(|next| next.is(Class::Time))
                && at > 1
                && self.tokens[at - 2].is_word("in|on");
            if is_first {
                return true;
            }
            token.is(Class::Thinking)
                || token.is(Class::WasPast)
                || at == 0 && token.is(Class::Opening)
        };
        words.into_iter().any(is_later)
            || self.has_become()
            || is_judged
            || self
                .clause()
                .take_while(|(_, token)| !token.is_mark(':'))
                .any(is_thought)
    }

    /// "40 (lost)", "45, won": one of the past.
    fn has_become(&self) -> bool {
        let is_mark = self
            .behind(0)
            .is_some_and(|token| token.is_any_mark("(,-:"));
        let ends = self.behind(2).is_none_or(|token| token.kind != Kind::Word);
        is_mark && self.has_behind(1, Class::PastOutcome) && ends
            || self.has_behind(0, Class::PastOutcome)
                && self.behind(1).is_none_or(|token| token.kind != Kind::Word)
    }
}
