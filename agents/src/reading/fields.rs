//! Finds the field of a JSON value that is the answer, in the order of the text. A field of
//! the ask's own name counts before one whose name only means it; what is plainly about
//! others, about the past or about mere options is none. Two fields that both claim to be
//! the answer and differ are a foul.

use agon_engine::{Action, Ask, Form, Foul};

use super::json::{Json, Object};
use super::keys::plain;
use super::prose::{Namer, Naming};
use super::{ambiguous, read_value};

/// What a value says that may be the answer.
#[derive(Debug, Clone)]
pub struct Found {
    /// As it stands in the reply.
    pub said: Json,
    /// What it was read as.
    pub read: Result<Action, Foul>,
}

/// How well a field's name and place make it the answer; the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// It has the ask's own name, at the top.
    Asked,
    /// Its name has the ask's own in it, at the top.
    Meant,
    /// The same inside a part that is the speaker's own.
    Inside,
    /// The same inside any other part.
    Deep,
    /// A decision, at the top.
    Decision,
    /// Another name that means an answer.
    Synonym,
    /// A list that stands alone, for divisions.
    Bare,
}

/// A field that claims to be the answer.
struct Claim<'a> {
    rank: Rank,
    /// Whether its name says that it decides.
    decides: bool,
    value: &'a Json,
    read: Result<Action, Foul>,
}

/// Where a part of a value stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Top,
    Own,
    Deep,
    /// Inside the answer itself: `{"bid": {"amount": 12}}`.
    Answer,
}

/// Names of fields that tell what others do, what was or what might be.
const ASIDE: &[&str] = &[
    "prediction",
    "predictions",
    "predicted",
    "expected",
    "expectation",
    "expectations",
    "forecast",
    "forecasts",
    "others",
    "rivals",
    "opponents",
    "competitors",
    "history",
    "example",
    "examples",
    "scenario",
    "scenarios",
    "hypothetical",
    "option",
    "options",
    "alternative",
    "alternatives",
    "candidates",
    "considered",
    "draft",
    "initial",
    "current",
    "schema",
    "format",
    "reasoning",
    "estimates",
];

/// Names of fields that say whom an object is about.
const WHO: &[&str] = &[
    "player", "name", "rival", "opponent", "bidder", "resident", "seat", "who",
];

/// Names that say that something is decided.
const DECISIONS: &[&str] = &[
    "decision", "answer", "choice", "action", "response", "final", "verdict",
];

/// What a value says, and how well its name makes it the answer; `None` when nothing in it
/// claims to be the answer.
pub fn find(ask: &Ask, namer: &Namer<'_>, value: &Json) -> Option<(Rank, Found)> {
    let mut finder = Finder {
        ask,
        namer,
        is_single: value.is_object(),
        claims: Vec::new(),
    };
    finder.visit(value, Place::Top);
    let claims = finder.claims;
    let best = claims.iter().map(|claim| claim.rank).min()?;
    let of_best: Vec<&Claim<'_>> = claims.iter().filter(|claim| claim.rank == best).collect();
    let said = of_best.first()?.value.clone();
    let mut readable = of_best.iter().filter_map(|claim| claim.read.as_ref().ok());
    let Some(first) = readable.next() else {
        let refusal = claims
            .iter()
            .find(|claim| claim.decides && claim.read == Ok(Action::Pass));
        let foul = of_best.first()?.read.clone();
        let read = if refusal.is_some() {
            Ok(Action::Pass)
        } else {
            foul
        };
        return Some((best, Found { said, read }));
    };
    // Beside the answer, an "amount" or a "price" is something else; a decision is not.
    let also = claims
        .iter()
        .filter(|claim| claim.decides || best >= Rank::Deep && claim.rank <= Rank::Decision);
    let mut also = also.filter_map(|claim| claim.read.as_ref().ok());
    let others: Vec<&Action> = readable
        .chain(also.by_ref())
        .filter(|other| *other != first)
        .collect();
    let leaves = others.iter().all(|other| **other == Action::Pass) && *first == Action::Integer(0);
    let read = match (&*others, leaves) {
        ([], _) => Ok(first.clone()),
        (_, true) => Ok(Action::Pass),
        _ => Err(ambiguous(ask)),
    };
    let said = match read {
        Ok(Action::Pass) => Json::String("withdraw".to_owned()),
        _ => said,
    };
    Some((best, Found { said, read }))
}

struct Finder<'a, 'b> {
    ask: &'b Ask,
    namer: &'b Namer<'b>,
    /// Whether the value is one object, and no list of them.
    is_single: bool,
    claims: Vec<Claim<'a>>,
}

impl<'a> Finder<'a, '_> {
    fn visit(&mut self, value: &'a Json, place: Place) {
        match value {
            Json::Object(object) => self.object(object, place),
            Json::Array(items) => {
                for item in items {
                    self.visit(item, place);
                }
            }
            _ => return,
        }
        self.bare(value);
    }

    fn object(&mut self, object: &'a Object, place: Place) {
        let who = object.iter().find(|(key, _)| WHO.contains(&&*plain(key)));
        let name = who.and_then(|(_, value)| value.as_str());
        let plays = name.is_some_and(|name| self.namer.plays(name));
        let who = name.map(|name| self.namer.naming(name));
        // Who writes a single object with the field that was asked for means himself.
        let has_asked = || object.iter().any(|(key, _)| plain(key) == self.ask.kind);
        let is_own = self.is_single && place == Place::Top && !plays && has_asked();
        if who == Some(Naming::Theirs) && !is_own {
            return;
        }
        let place = if who == Some(Naming::Me) {
            Place::Own
        } else {
            place
        };
        for (key, value) in object.iter() {
            self.field(key, value, place);
        }
    }

    fn field(&mut self, key: &'a str, value: &'a Json, place: Place) {
        let name = plain(key);
        let is_asked = name == self.ask.kind;
        let words: Vec<&str> = name.split('_').collect();
        let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
        if !is_asked && has(ASIDE) {
            return;
        }
        let naming = if is_asked {
            Naming::Answer
        } else {
            self.namer.naming(key)
        };
        let is_answer = place == Place::Answer && ["value", "amount"].contains(&&*name);
        let naming = if is_answer { Naming::Answer } else { naming };
        if naming.is_aside() || naming == Naming::Explanation {
            return;
        }
        if let Some(action) = self.chosen(&name, value) {
            let read = Ok(action);
            self.claims.push(Claim {
                rank: Rank::Synonym,
                decides: true,
                value,
                read,
            });
            return;
        }
        let is_container = matches!(value, Json::Object(_) | Json::Array(_));
        let is_part = naming == Naming::Me && matches!(self.ask.form, Form::Division { .. });
        if naming.is_own() && !is_part && (!is_container || is_asked) {
            let read = read_value(self.ask, value);
            if read.is_ok() || !matches!(value, Json::Object(_)) {
                let is_meant = words.contains(&&*self.ask.kind);
                let rank = rank(is_asked, is_meant, has(DECISIONS), place);
                let decides = has(DECISIONS) && !is_meant;
                // A word that says nothing of its own: {"action": "bid", "amount": 12}.
                if read.is_ok()
                    || is_asked
                    || is_meant
                    || !value.is_string() && *value != Json::Null
                {
                    self.claims.push(Claim {
                        rank,
                        decides,
                        value,
                        read,
                    });
                }
                return;
            }
        }
        if is_container {
            let inner = match (is_asked, naming.is_own(), place) {
                (true, ..) | (_, _, Place::Answer) => Place::Answer,
                (_, true, Place::Top | Place::Own) => Place::Own,
                _ => Place::Deep,
            };
            let before = self.claims.len();
            self.visit(value, inner);
            // The field that was asked for, with nothing in it that is an answer.
            if is_asked && self.claims.len() == before {
                let read = read_value(self.ask, value);
                let rank = Rank::Asked;
                let claim = Claim {
                    rank,
                    decides: false,
                    value,
                    read,
                };
                self.claims.push(claim);
            }
        }
    }

    /// What `"withdraw": true` and `"go": false` choose.
    fn chosen(&self, name: &str, value: &Json) -> Option<Action> {
        let flag = value.as_bool()?;
        match &self.ask.form {
            Form::Integer {
                pass: Some(pass), ..
            } => (flag && name.starts_with(&**pass)).then_some(Action::Pass),
            Form::Choice { options } => {
                let option = options.iter().find(|option| **option == name)?;
                let other = options.iter().find(|other| *other != option)?;
                let chosen = if flag { option } else { other };
                (flag || options.len() == 2).then(|| Action::Choice(chosen.clone()))
            }
            _ => None,
        }
    }

    /// For divisions: a list of numbers that stands alone, or one number per player.
    fn bare(&mut self, value: &'a Json) {
        let Form::Division { parts, .. } = &self.ask.form else {
            return;
        };
        if let Ok(Action::Division(amounts)) = read_value(self.ask, value)
            && amounts.len() == *parts
        {
            // The last one in a value counts.
            self.claims.retain(|claim| claim.rank != Rank::Bare);
            let read = Ok(Action::Division(amounts));
            self.claims.push(Claim {
                rank: Rank::Bare,
                decides: false,
                value,
                read,
            });
        }
    }
}

fn rank(is_asked: bool, is_meant: bool, decides: bool, place: Place) -> Rank {
    match (is_asked || is_meant || place == Place::Answer, place) {
        (true, Place::Top | Place::Answer) if is_asked || place == Place::Answer => Rank::Asked,
        (true, Place::Top) => Rank::Meant,
        (true, Place::Own) => Rank::Inside,
        (true, _) => Rank::Deep,
        (false, Place::Top) if decides => Rank::Decision,
        (false, _) => Rank::Synonym,
    }
}
