//! How the games differ, as data: what an answer to an ask is called, what verbs make it,
//! what it counts, the words for its options and what it means to refuse it. One reader
//! reads the replies of all games by these.

use std::collections::HashMap;
use std::sync::LazyLock;

use agon_engine::{Action, Ask, AskRole, Form, Name, numerals};

use super::lexicon::{self, Class, Classes};
use super::phrases::{self, Manner};
use super::tokens::Token;

/// The words of a kind of ask, separated by blanks.
struct Words {
    /// Verbs that make an answer, whatever stands between them and it.
    verbs: &'static str,
    /// What an answer is called.
    nouns: &'static str,
    /// What it counts.
    units: &'static str,
}

/// Amounts of money that are bid.
const BIDS: Words = Words {
    verbs: "bid bids bidding offer offers offering",
    nouns: "bid bids offer offering",
    units: "coins coin credits money cents gold golds quid tokens token",
};

/// What goes into a common pot.
const CONTRIBUTIONS: Words = Words {
    verbs: "contribute contributes contributing donate donating invest investing chip add adding",
    nouns: "contribution contributions donation investment public",
    units: "tokens token coins coin points point credits",
};

/// Numbers that are chosen.
const GUESSES: Words = Words {
    verbs: "guess guesses guessing",
    nouns: "guess number submission entry",
    units: "points point percent",
};

/// Words that are chosen, and players.
const CHOICES: Words = Words {
    verbs: "vote votes voting shoot shooting fire firing aim aiming target targeting attack eliminate",
    nouns: "vote ballot order dish meal shot target main plan proposal",
    units: "",
};

/// Verbs that make an answer of any kind, if nothing but filling words stands between.
const WEAK_VERBS: &str = "choose chose choosing chosen pick picks picking picked select selecting \
    selected go going say saying take taking make making set enter entering put putting name \
    settle settled stick sticking decide decided opt opting submit submitting submits play playing \
    answer state call use using give gives giving want propose proposing throw throwing throwin \
    raise raising record guess stake staking lay place placing spend spending hand handing pay \
    paying order orders ordering vote have allocate devote pitch commit committing \
    having cut cutting increase increasing lower lowering reduce reducing enjoy eat get report tender limit match \
    risk part goin wager gamble jump jumping plunk drop fork send sending prefer favor favour like spare afford \
    chuck toss bet write type start starting begin beginning";

/// What an answer of any kind is called.
const NOUNS: &str = "answer choice decision response selection pick action verdict vote submission \
    output input";

/// Words that careless writers misspell; other words are never mended.
const OFTEN_MISSPELT: &str = "bid bidding offer offering guess choose choice contribute \
    contribution tokens dollars health cheap costly expensive accept reject withdraw withdrawing \
    stay pass skip number answer decision nothing today with vote bucks proposal will because \
    tonight";

/// Words that are one slip away from these and are no slips.
const NO_SLIPS: &[&str] = &[
    "guest", "guests", "cheat", "chap", "noting", "accent", "healthy", "chose", "toady", "wit",
    "width", "wish", "past", "bide", "paste", "note", "stray", "heath", "skin", "slip", "ship",
];

static MAPS: LazyLock<[HashMap<&'static str, Classes>; 4]> =
    LazyLock::new(|| [&BIDS, &CONTRIBUTIONS, &GUESSES, &CHOICES].map(classes_of));

fn classes_of(words: &Words) -> HashMap<&'static str, Classes> {
    let mut map: HashMap<&str, Classes> = HashMap::new();
    let lists = [
        (words.verbs, Class::Verb),
        (WEAK_VERBS, Class::WeakVerb),
        (words.nouns, Class::Noun),
        (NOUNS, Class::Noun),
        (words.units, Class::Unit),
    ];
    for (list, class) in lists {
        for word in list.split_whitespace() {
            let classes = map.entry(word).or_default();
            *classes = classes.with(class);
        }
    }
    map
}

/// What is known of the words of an ask.
pub struct Vocabulary {
    map: &'static HashMap<&'static str, Classes>,
    /// What who refuses to answer answers, where that is an answer.
    pub refusal: Option<Action>,
    /// What "nothing" answers, where that is an answer.
    pub nothing: Option<Action>,
    /// Whether keeping everything is an answer.
    hoards: bool,
    /// The options of a choice.
    options: Vec<Name>,
    /// The words of the other players' names.
    names: Vec<String>,
}

impl Vocabulary {
    /// The words of an ask to somebody who plays among others of these names.
    pub fn of(ask: &Ask, others: &[String]) -> Self {
        let is_number = matches!(
            ask.form,
            Form::Integer { .. } | Form::Amount { .. } | Form::Number { .. }
        );
        let place = match ask.role {
            AskRole::Bid => 0,
            AskRole::Contribution => 1,
            _ if is_number => 2,
            _ => 3,
        };
        let options = match &ask.form {
            Form::Choice { options } => options.to_vec(),
            _ => Vec::new(),
        };
        Self {
            map: &MAPS[place],
            refusal: refusal(ask),
            nothing: nothing(ask),
            hoards: ask.role == AskRole::Contribution,
            options,
            names: names(others),
        }
    }

    /// What a word does in an answer to this ask.
    pub fn classes(&self, word: &str) -> Classes {
        let own = self.map.get(word).copied();
        let own = own.or_else(|| self.third_person(word)).unwrap_or_default();
        let mut classes = lexicon::classes(word).or(own);
        if numerals::is_currency(word) {
            classes = classes.with(Class::Unit);
        }
        let bare = word.strip_suffix("'s").unwrap_or(word);
        if self.names.iter().any(|name| name == bare) {
            classes = classes.with(Class::Name);
        }
        classes
    }

    /// What "puts" does, if "put" is a verb of answers.
    fn third_person(&self, word: &str) -> Option<Classes> {
        let stem = word
            .strip_suffix("es")
            .filter(|stem| self.map.contains_key(*stem));
        let stem = stem.or_else(|| word.strip_suffix('s'))?;
        let classes = *self.map.get(stem)?;
        // "My heart says go" reports.
        let is_verb = classes.has(Class::WeakVerb) && !classes.has(Class::Noun) && stem != "say";
        is_verb.then(|| Classes::default().with(Class::WeakVerb))
    }

    /// Whether a text has the name of another player in it.
    pub fn knows_player(&self, text: &str) -> bool {
        names(&[text.to_owned()])
            .iter()
            .any(|word| self.names.contains(word))
    }

    /// The option that the words at a place say, how they do, and the place behind them.
    pub fn option_at(&self, tokens: &[Token<'_>], at: usize) -> Option<(&Name, Manner, usize)> {
        if let Some(phrase) = phrases::find(tokens, at, &self.options) {
            let option = self
                .options
                .iter()
                .find(|option| **option == phrase.meaning)?;
            let end = at + phrase.len();
            let is_matter = tokens[end - 1].is_word("no")
                && tokens
                    .get(end)
                    .is_some_and(|next| next.is_word("matter|longer|more"));
            let is_idiom = is_matter || phrase.len() == 1 && is_idiom(tokens, at);
            return (!is_idiom).then_some((option, phrase.manner, at + phrase.len()));
        }
        let said = |option: &&Name| tokens[at].text == **option && !phrases::knows(option);
        let option = self.options.iter().find(said)?;
        Some((option, Manner::Word, at + 1))
    }

    /// The place behind a set phrase that refuses at a place.
    pub fn refused_at(&self, tokens: &[Token<'_>], at: usize) -> Option<usize> {
        let meanings: &[&str] = match self.refusal {
            Some(Action::Pass) => &["refuse", "leave"],
            Some(_) if self.hoards => &["refuse", "hoard"],
            Some(_) => &["refuse"],
            None => return None,
        };
        let end = phrases::find(tokens, at, meanings).map(|phrase| at + phrase.len())?;
        // "Not a cent more" is said of an amount.
        let bounding = [Class::Added, Class::Nearby, Class::Comparing];
        // "I'd rather not go over 75".
        let bounds = |at: usize| {
            let token = tokens.get(at);
            token.is_some_and(|token| token.is_any(&bounding) || token.is_word("to"))
        };
        let is_bound = tokens.get(end).is_some_and(|next| {
            // "Free riding is dominant" says something about it.
            next.is_any(&bounding)
                || next.number().is_some()
                || next.is_word("is|isn't|would|may|might")
                || tokens[end - 1].is_word("not") && bounds(end + 1)
                || tokens[end - 1].text.ends_with("ing") && next.is(Class::Judging)
        });
        (!is_bound).then_some(end)
    }

    /// Whether the speaker can leave for good.
    pub fn may_leave(&self) -> bool {
        self.refusal == Some(Action::Pass)
    }

    /// The word that was meant, if this is a slip of the pen.
    pub fn mended<'a>(&self, word: &'a str) -> &'a str {
        let is_known = !self.classes(word).is_unknown() || phrases::has_word(word);
        if word.len() < 3 || is_known || NO_SLIPS.contains(&word) {
            return word;
        }
        let mut known = OFTEN_MISSPELT.split_whitespace();
        known.find(|known| is_slip(word, known)).unwrap_or(word)
    }
}

/// "Going to stay" is about staying, "go with cheap" about the cheap dish.
fn is_idiom(tokens: &[Token<'_>], at: usize) -> bool {
    let next = |by: usize, words: &str| {
        let token = tokens.get(at + by);
        token.is_some_and(|token| token.is_word(words))
    };
    let there = "the|a|bar|this|that|tonight";
    match tokens[at].text {
        "going" => next(1, "to") && !next(2, there) || next(1, "with|for|up|down"),
        "go" | "goes" => next(1, "with|for|up|down|on"),
        "budget" | "premium" => at > 0 && tokens[at - 1].is(Class::My),
        _ => false,
    }
}

/// The words of names by which somebody can be told, in simple letters.
fn names(others: &[String]) -> Vec<String> {
    let is_between = |letter: char| !letter.is_alphanumeric() && letter != '_';
    let words = others.iter().flat_map(|name| name.split(is_between));
    let words = words.filter(|word| word.chars().count() > 2);
    words.map(str::to_lowercase).collect()
}

/// What it means not to answer: no money, nothing for the pot, or the word for leaving.
fn refusal(ask: &Ask) -> Option<Action> {
    match &ask.form {
        Form::Integer { pass: Some(_), .. } => Some(Action::Pass),
        Form::Amount { min: 0, max: None } => Some(Action::Integer(0)),
        Form::Integer {
            min: Some(0),
            max,
            pass: None,
        } => {
            let is_free =
                ask.role == AskRole::Bid && max.is_none() || ask.role == AskRole::Contribution;
            is_free.then_some(Action::Integer(0))
        }
        _ => None,
    }
}

/// What "nothing" means: no amount, or the word for leaving.
fn nothing(ask: &Ask) -> Option<Action> {
    match ask.form {
        Form::Integer { pass: Some(_), .. } => Some(Action::Pass),
        Form::Integer { .. } | Form::Amount { .. } => Some(Action::Integer(0)),
        Form::Number { .. } => Some(Action::Number(0.0)),
        _ => None,
    }
}

/// Whether a word is another with two letters exchanged, one doubled or undoubled, or, in
/// longer words, one wrong, missing or too many.
fn is_slip(word: &str, known: &str) -> bool {
    /// Shorter words are too much alike.
    const LONG: usize = 5;
    // "Choices" are several.
    if word.strip_suffix('s') == Some(known) {
        return false;
    }
    let (word, known) = (word.as_bytes(), known.as_bytes());
    if word.first() != known.first() || word.len().abs_diff(known.len()) > 1 {
        return false;
    }
    let pairs = word.iter().zip(known);
    let same = pairs.take_while(|(one, other)| one == other).count();
    let (rest, known_rest) = (&word[same..], &known[same..]);
    let is_exchanged = rest.len() >= 2
        && known_rest.len() >= 2
        && rest[0] == known_rest[1]
        && rest[1] == known_rest[0]
        && rest[2..] == known_rest[2..];
    let (shorter, longer) = match rest.len() < known_rest.len() {
        true => (rest, known_rest),
        false => (known_rest, rest),
    };
    let has_one_more = shorter.len() + 1 == longer.len() && longer[1..] == *shorter;
    let is_doubled = has_one_more && same > 0 && longer[0] == known[same - 1];
    let is_wrong =
        rest.len() == known_rest.len() && !rest.is_empty() && rest[1..] == known_rest[1..];
    is_exchanged || is_doubled || known.len() >= LONG && (has_one_more || is_wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_pen_are_mended_and_words_are_left_alone() {
        let ask = Ask {
            seat: 0,
            kind: "bid".into(),
            role: AskRole::Bid,
            form: Form::Amount { min: 0, max: None },
            foul_allowance: 0,
        };
        let vocabulary = Vocabulary::of(&ask, &[]);
        for (word, meant) in [
            ("bdi", "bid"),
            ("bidd", "bid"),
            ("contribut", "contribute"),
            ("tokns", "tokens"),
            ("wiht", "with"),
            ("cheep", "cheap"),
            ("dolars", "dollars"),
            ("acept", "accept"),
            ("except", "except"),
            ("did", "did"),
            ("guest", "guest"),
            ("wealth", "wealth"),
            ("mostly", "mostly"),
            ("big", "big"),
        ] {
            assert_eq!(vocabulary.mended(word), meant);
        }
    }
}
