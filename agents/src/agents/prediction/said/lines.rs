//! Which words of a reply are about a rival, for predictions that are noted. A line may give a
//! player's name, a mark and what is predicted of it, after a bullet, a number or a table's
//! bar; a sentence may begin with the name and go on. What the seat says of itself behind
//! that is its own. Called by `said.rs`.

use agon_engine::Ask;

use super::stand_in::stands_in;

/// What stands between a name and what is predicted.
pub const MARKS: [char; 9] = [':', '-', '–', '—', '=', '|', '>', '→', '⇒'];

/// Words by which a seat speaks of itself.
const FIRST_PERSON: [&str; 6] = ["i", "my", "mine", "myself", "we", "our"];

/// What else begins a sentence that answers.
const OPENINGS: [&str; 9] = [
    "so",
    "therefore",
    "thus",
    "hence",
    "final",
    "finally",
    "answer",
    "overall",
    "given",
];

/// Where a sentence may turn from a rival to the seat itself.
const TURNS: [&str; 6] = [", ", "; ", ": ", " so ", " and ", " but "];

/// Between a name and its mark stand at most so many words ("Bob's bid this round: 30").
const MOST_WORDS: usize = 5;

/// Something that is about a rival.
pub struct Told {
    /// The place of its name among the names.
    pub rival: usize,
    /// Whether a mark stands between name and words.
    pub is_marked: bool,
    /// What is said behind the name.
    pub words: String,
}

/// What a text says about rivals, in order.
pub fn told(text: &str, rivals: &[String], ask: &Ask) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    for line in text.lines() {
        // A row or line of a rival goes on until the seat speaks of itself.
        let mut is_theirs = false;
        for sentence in sentences(line, rivals) {
            match about(sentence, rivals) {
                Some(about) => {
                    is_theirs = about.is_marked;
                    told.push(Told {
                        rival: about.rival,
                        is_marked: about.is_marked,
                        words: about.theirs.to_owned(),
                    });
                }
                None if is_theirs && !begins_anew(sentence, &ask.kind) => {
                    if let Some(last) = told.last_mut() {
                        last.words.push_str(sentence);
                    }
                }
                None => is_theirs = false,
            }
        }
    }
    told
}

/// The sentences of a line, with the blanks before them; a table's row is one. A stop inside
/// a player's name ends none.
fn sentences<'a>(line: &'a str, rivals: &[String]) -> Vec<&'a str> {
    if line.trim_start().starts_with('|') {
        return vec![line];
    }
    let (mut found, mut rest) = (Vec::new(), line);
    while let Some(end) = sentence_end(rest, rivals) {
        let (sentence, behind) = rest.split_at(end);
        found.push(sentence);
        rest = behind;
    }
    found.push(rest);
    found
}

/// Where the first sentence of a text ends, if another follows.
fn sentence_end(text: &str, rivals: &[String]) -> Option<usize> {
    let behind = rivals.iter().find_map(|name| behind_name(text, name));
    let from = behind.map_or(0, |behind| text.len() - behind.len());
    // "1. Bob: 30" is one.
    let mut has_letters = from > 0;
    let mut letters = text[from..].char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        has_letters |= letter.is_alphabetic();
        let next_is_blank = letters.peek().is_some_and(|(_, next)| next.is_whitespace());
        if ['.', '!', '?', ';'].contains(&letter) && next_is_blank && has_letters {
            return Some(from + at + letter.len_utf8());
        }
    }
    None
}

/// A sentence about a rival.
struct About<'a> {
    rival: usize,
    is_marked: bool,
    theirs: &'a str,
}

fn about<'a>(sentence: &'a str, rivals: &[String]) -> Option<About<'a>> {
    let (rival, rest) = rivals
        .iter()
        .enumerate()
        .filter_map(|(rival, name)| Some((rival, behind_name(sentence, name)?)))
        // Of names that begin alike it is the longest.
        .max_by_key(|(rival, _)| rivals[*rival].len())?;
    let rest = behind_possessive(rest).unwrap_or(rest);
    let marked = behind_mark(rest);
    let words = marked.unwrap_or(rest);
    let is_marked = marked.is_some();
    if !is_marked && !words.starts_with(char::is_whitespace) {
        return None;
    }
    // An object behind other words is the seat's own.
    let object = words.find(stands_in);
    let object = object.filter(|at| has_words(&words[..*at]));
    let turn = match is_marked {
        true => None,
        false => match first_person(words) {
            Some(at) => Some(turn(&words[..at])?),
            None => None,
        },
    };
    let end = [object, turn].into_iter().flatten().min();
    let theirs = &words[..end.unwrap_or(words.len())];
    let says_something = has_words(theirs) || theirs.contains(stands_in);
    says_something.then_some(About {
        rival,
        is_marked,
        theirs,
    })
}

/// What stands behind the mark after a name, if there is one.
fn behind_mark(rest: &str) -> Option<&str> {
    let direct = rest.trim_start_matches(['*', '_', ' ', '`', '"', '\'', ')', ']']);
    if direct.starts_with(MARKS) {
        return Some(direct.trim_start_matches(MARKS));
    }
    let at = rest.find([':', '=', '|'])?;
    let (before, behind) = (&rest[..at], &rest[at + 1..]);
    let is_label = !before.contains(|letter: char| letter.is_ascii_digit() || stands_in(letter))
        && !before.contains(['.', ',', ';', '!', '?'])
        && before.split_whitespace().count() <= MOST_WORDS
        && first_person(before).is_none();
    let is_own = words(behind).next().is_some_and(is_first_person);
    (is_label && !is_own).then_some(behind)
}

/// What stands behind the ending of "Bob's".
fn behind_possessive(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches(['*', '_']);
    let behind = rest.strip_prefix(['\'', '\u{2019}'])?;
    let behind = behind.strip_prefix(['s', 'S']).unwrap_or(behind);
    let behind = behind.trim_start_matches(['*', '_']);
    behind.starts_with(char::is_whitespace).then_some(behind)
}

/// Where the last turn of a text is.
fn turn(text: &str) -> Option<usize> {
    TURNS.iter().filter_map(|turn| text.rfind(turn)).max()
}

/// Whether a sentence is the seat's own, behind one about a rival.
fn begins_anew(sentence: &str, kind: &str) -> bool {
    if sentence.trim_start().starts_with(stands_in) {
        return true;
    }
    let first = words(sentence).next().unwrap_or_default().to_lowercase();
    is_first_person(&first) || OPENINGS.contains(&&*first) || first == kind
}

/// Where a seat begins to speak of itself in a text.
pub fn first_person(text: &str) -> Option<usize> {
    let mut found = words(text).filter(|word| is_first_person(word));
    // Words are parts of the text.
    found
        .next()
        .map(|word| word.as_ptr() as usize - text.as_ptr() as usize)
}

fn is_first_person(word: &str) -> bool {
    FIRST_PERSON.contains(&&*word.to_lowercase())
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter(|word| !word.is_empty())
}

/// Whether a text has any letters or digits.
pub fn has_words(text: &str) -> bool {
    text.contains(char::is_alphanumeric)
}

/// What is said of another, as one would say it of oneself: "bids 40" is "bid 40".
pub fn in_first_person(text: &str) -> Option<String> {
    let (verb, rest) = text.split_once(' ')?;
    let verb = verb.strip_suffix('s').filter(|verb| has_words(verb))?;
    let verb = match verb {
        "i" => "am",
        "doe" => "do",
        "goe" => "go",
        "ha" => "have",
        verb => verb,
    };
    Some(format!("I {verb} {rest}"))
}

/// Whether a text is the name of a player, however it is written.
pub fn is_name(text: &str, name: &str) -> bool {
    behind_name(text, name).is_some_and(|rest| !has_words(rest) && !rest.contains(stands_in))
}

/// What stands behind a player's name at the beginning of a text, after bullets and the
/// number of a list.
fn behind_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let is_ornament = |letter: char| !letter.is_alphanumeric() && !stands_in(letter);
    let text = text.trim_start_matches(is_ornament);
    let unnumbered = || {
        let rest = text.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let rest = (rest.len() < text.len()).then_some(rest)?;
        let rest = rest.trim_start_matches(' ');
        let rest = rest.strip_prefix(['.', ')', ':', '|'])?;
        behind_plain_name(rest.trim_start_matches(is_ornament), name)
    };
    behind_plain_name(text, name).or_else(unnumbered)
}

fn behind_plain_name<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(' ', "_");
    let begins = plain(text.get(..name.len())?) == plain(name);
    let rest = begins.then(|| &text[name.len()..])?;
    // player_1 is not player_12.
    (!rest.starts_with(|letter: char| letter.is_alphanumeric())).then_some(rest)
}
