//! Finds an answer in JSON that stands among other text: after an introduction, in a code
//! fence, or written a little wrong. The last object that has the answer counts, because
//! models restate the question first and answer last; two that differ with nothing between
//! them are a foul.

use std::borrow::Cow;
use std::ops::Range;

use agon_engine::{Ask, Foul};

use super::fields::{self, Found, Rank};
use super::json::Json;
use super::parser::{Parser, Repair};
use super::prose::Namer;
use super::{Place, Reading, ambiguous};

/// Steps of the parser per letter of text. A parse that fails is tried again one bracket
/// further in, so a letter is passed once per level; text that needs more is no answer.
const STEPS_PER_LETTER: usize = 32;

/// Steps that any text may take, however short.
const FEWEST_STEPS: usize = 1_000;

/// An object or array in a text.
pub(crate) struct Candidate {
    /// Where it stands, in bytes.
    pub span: Range<usize>,
    /// What it holds.
    pub value: Json,
    /// What had to be mended.
    pub repairs: Vec<Repair>,
}

/// An answer in the JSON of a text, or the foul that it is.
pub(crate) struct Answered {
    /// As it stands in the reply.
    pub said: Json,
    /// What it was read as.
    pub read: Result<Reading, Foul>,
    /// Where its object ends.
    pub end: usize,
}

/// The answer in the JSON of a text; `None` when no JSON holds one. The text's candidates are
/// those of [`scan`].
pub(crate) fn read(
    ask: &Ask,
    namer: &Namer<'_>,
    text: &str,
    candidates: &[Candidate],
) -> Option<Answered> {
    let (mut before, mut was_example) = (0, false);
    let claiming = candidates.iter().filter_map(|candidate| {
        let between = &text[before..candidate.span.start];
        let lead = lead(between);
        before = candidate.span.end;
        let found = fields::find(ask, namer, &candidate.value)?;
        // "E.g. {...} or {...}".
        was_example = is_example(between) || was_example && joins(between);
        let is_aside = was_example || namer.leads_aside(lead);
        (!is_aside).then_some((candidate, found))
    });
    let claiming: Vec<(&Candidate, (Rank, Found))> = claiming.collect();
    [Rank::Deep, Rank::Synonym, Rank::Bare]
        .into_iter()
        .find_map(|worst| {
            let at = claiming.iter().rposition(|(_, (rank, _))| *rank <= worst)?;
            let (candidate, (_, found)) = &claiming[at];
            let before = at.checked_sub(1).map(|before| &claiming[before]);
            let rival = before.filter(|(before, (rank, _))| {
                *rank <= worst && joins(&text[before.span.end..candidate.span.start])
            });
            Some(answered(
                ask,
                candidate,
                found,
                rival.map(|(_, (_, found))| found),
            ))
        })
}

fn answered(ask: &Ask, candidate: &Candidate, found: &Found, rival: Option<&Found>) -> Answered {
    let differs = rival.is_some_and(|rival| rival.read.is_ok() && rival.read != found.read);
    let read = match (&found.read, differs) {
        (Ok(_), true) => Err(ambiguous(ask)),
        (read, _) => read.clone(),
    };
    Answered {
        said: found.said.clone(),
        read: read.map(|action| Reading {
            action,
            found_in: Place::Embedded,
            repairs: candidate.repairs.clone(),
        }),
        end: candidate.span.end,
    }
}

/// Whether an object behind this text only shows the form: "for example: {...}".
fn is_example(before: &str) -> bool {
    let before = before.trim_end();
    let fence = before.strip_suffix("json").unwrap_or(before);
    let before = fence.strip_suffix("```").unwrap_or(before);
    let before = before.trim_end_matches([' ', '\n', ':', '`', ',']);
    let ends = ["for example", "for instance", "e.g.", "such as"];
    let before = before.to_lowercase();
    ends.iter().any(|end| before.ends_with(end))
}

/// The end of the text before an object, in its line.
fn lead(before: &str) -> &str {
    /// Longer than any label.
    const LONGEST: usize = 80;
    let line = before.rfind('\n').map_or(before, |end| &before[end + 1..]);
    let start = line
        .char_indices()
        .rev()
        .nth(LONGEST)
        .map_or(0, |(at, _)| at);
    &line[start..]
}

/// A text without the objects in it: a number in an object that names no answer is none.
pub(crate) fn outside<'a>(text: &'a str, candidates: &[Candidate]) -> Cow<'a, str> {
    let is_object = |candidate: &Candidate| match &candidate.value {
        Json::Array(items) => items.iter().any(Json::is_object),
        value => value.is_object(),
    };
    let mut outside = String::new();
    let mut from = 0;
    for object in candidates.iter().filter(|candidate| is_object(candidate)) {
        outside.push_str(&text[from..object.span.start]);
        outside.push_str("{}");
        from = object.span.end;
    }
    match from {
        0 => Cow::Borrowed(text),
        _ => Cow::Owned(outside + &text[from..]),
    }
}

/// Whether what stands between two objects says nothing of which one counts.
fn joins(between: &str) -> bool {
    let words = between.split(|letter: char| !letter.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .all(|word| matches!(&*word.to_lowercase(), "or" | "and" | "either" | "json"))
}

/// The values of the objects and arrays in a text that lie in no other, in order, for agents
/// that read more than an answer from a reply.
pub fn values(text: &str) -> Vec<Json> {
    let candidates = scan(text).into_iter();
    candidates.map(|candidate| candidate.value).collect()
}

/// Every complete object or array of a text that lies in no other, in order.
pub(crate) fn scan(text: &str) -> Vec<Candidate> {
    let steps = text
        .len()
        .saturating_mul(STEPS_PER_LETTER)
        .max(FEWEST_STEPS);
    let mut parser = Parser::new(text, steps);
    let mut candidates = Vec::new();
    // Nothing that starts behind the last closing bracket is complete.
    let last = text.rfind(['}', ']']).unwrap_or(0);
    let mut from = 0;
    while let Some(at) = text[from..last.max(from)].find(['{', '[']) {
        let start = from + at;
        from = start + 1;
        if let Some((value, end, repairs)) = parser.parse_at(start) {
            let span = start..end;
            candidates.push(Candidate {
                span,
                value,
                repairs,
            });
            from = end;
        }
    }
    candidates
}
