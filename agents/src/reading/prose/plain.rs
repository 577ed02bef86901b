//! A text in simple letters: lower case, one form of apostrophe, dash and digit, without
//! emphasis, without what is struck out, and with the commands of LaTeX written as what they
//! mean. Remembers where capital letters stood. Called by `prose.rs` before words are cut.

use agon_engine::numerals::simplified;

/// A text in simple letters.
pub struct Plain {
    /// The text.
    pub text: String,
    /// Places of letters that were capital, in order.
    capitals: Vec<usize>,
}

/// Abbreviations whose stops end no sentence, and what stands for them.
const ABBREVIATIONS: [(&str, &str); 14] = [
    ("tl;dr", "summary"),
    ("i.e.", "ie"),
    ("e.g.", "eg"),
    ("p.s.", "ps"),
    ("vs.", "vs"),
    ("approx.", "approx"),
    ("etc.", "etc"),
    ("no. ", "no "),
    ("nr. ", "no "),
    ("resp.", "resp"),
    ("2day", "today"),
    ("2nite", "tonight"),
    ("4 me", "for me"),
    ("w/ ", "with "),
];

/// Commands of LaTeX and what they mean in a line of text.
const COMMANDS: [(&str, &str); 18] = [
    ("\\$", "$"),
    ("\\%", "%"),
    ("\\cdot", "*"),
    ("\\times", "*"),
    ("\\approx", "≈"),
    ("\\rightarrow", ":"),
    ("\\left", ""),
    ("\\right", ""),
    ("\\(", " "),
    ("\\)", " "),
    ("\\[", " "),
    ("\\]", " "),
    ("\\,", ""),
    ("\\text", ""),
    ("\\mathrm", ""),
    ("\\mathbf", ""),
    ("\\_", "_"),
    ("\\boxed", "\nfinal answer:"),
];

impl Plain {
    /// A text in simple letters.
    pub fn new(text: &str) -> Self {
        let text = without_commands(text);
        let mut plain = Self {
            text: String::with_capacity(text.len()),
            capitals: Vec::new(),
        };
        let mut rest = &*text;
        let mut is_inside_word = false;
        while let Some(letter) = rest.chars().next() {
            if let Some(behind) = behind_struck(rest) {
                rest = behind;
                continue;
            }
            if let Some(behind) = behind_blank(rest) {
                plain.text.push(' ');
                rest = behind;
                is_inside_word = false;
                continue;
            }
            if let Some((label, behind)) = tag(rest) {
                plain.text.push('\n');
                plain.text.push_str(&label);
                rest = behind;
                is_inside_word = false;
                continue;
            }
            if let Some((short, stand_in)) = (!is_inside_word).then(|| abbreviation(rest)).flatten()
            {
                plain.text.push_str(stand_in);
                is_inside_word = !stand_in.ends_with(' ');
                rest = &rest[short.len()..];
                continue;
            }
            rest = &rest[letter.len_utf8()..];
            // An underscore joins words or is emphasis.
            let joins = is_inside_word && rest.starts_with(char::is_alphanumeric);
            if letter == '_' && !joins {
                continue;
            }
            is_inside_word = letter.is_alphanumeric();
            plain.push(letter);
        }
        plain
    }

    /// Whether a capital letter stood at a place.
    pub fn is_capital(&self, at: usize) -> bool {
        self.capitals.binary_search(&at).is_ok()
    }

    fn push(&mut self, letter: char) {
        if letter.is_uppercase() {
            self.capitals.push(self.text.len());
        }
        match letter {
            '\u{2026}' => self.text.push_str("..."),
            letter => self.text.extend(simplified(letter)),
        }
    }
}

/// What stands behind something struck out at the start of a text.
fn behind_struck(text: &str) -> Option<&str> {
    /// More letters than anybody strikes out in a line; bounds the search for an end.
    const LONGEST: usize = 200;
    let inside = text.strip_prefix("~~")?;
    let end = inside
        .char_indices()
        .take(LONGEST)
        .find(|(at, _)| inside[*at..].starts_with("~~"));
    end.map(|(at, _)| &inside[at + 2..])
}

/// What stands behind a blank that was to be filled in: `<amount or "withdraw">`.
fn behind_blank(text: &str) -> Option<&str> {
    /// More letters than stand in any blank; bounds the search for its end.
    const LONGEST: usize = 60;
    let inside = text.strip_prefix('<')?;
    let mut letters = inside.char_indices().take(LONGEST);
    let (end, _) = letters.find(|(_, letter)| *letter == '>')?;
    let words = &inside[..end];
    let is_word = |letter: char| letter.is_alphanumeric() || " ,.'\"_-".contains(letter);
    let is_blank =
        words.starts_with(char::is_alphabetic) && words.contains(' ') && words.chars().all(is_word);
    is_blank.then(|| &inside[end + 1..])
}

/// A tag at the start of a text as a label, or as nothing where it closes, and what stands
/// behind it: `<bid>` names what follows.
fn tag(text: &str) -> Option<(String, &str)> {
    /// Longer than any name of an answer.
    const LONGEST: usize = 24;
    /// Tags that only say how something looks.
    const LOOKS: &[&str] = &[
        "a", "b", "i", "u", "p", "em", "br", "hr", "li", "ul", "ol", "h1", "h2", "h3", "div",
        "img", "svg", "code", "span", "strong", "script", "style", "iframe", "details", "html",
        "body",
    ];
    let inside = text.strip_prefix('<')?;
    let name = inside.strip_prefix('/').unwrap_or(inside);
    let length = name.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')?;
    let (name, rest) = name.split_at(length);
    let behind = rest.strip_prefix('>')?;
    let name = name.to_ascii_lowercase();
    if name.is_empty() || name.len() > LONGEST || LOOKS.contains(&&*name) {
        return None;
    }
    let label = match inside.starts_with('/') {
        true => String::new(),
        false => format!("{}: ", name.replace('_', " ")),
    };
    Some((label, behind))
}

fn abbreviation(text: &str) -> Option<(&'static str, &'static str)> {
    if !text.starts_with(|letter: char| letter.is_ascii_alphabetic() || "24".contains(letter)) {
        return None;
    }
    let known = ABBREVIATIONS.iter().find(|(short, _)| {
        let start = text.get(..short.len());
        start.is_some_and(|start| start.eq_ignore_ascii_case(short))
    });
    // "No. I bid 40" is an answer, "no. 6" a label.
    let is_label = |short: &str| {
        !short.starts_with('n')
            || text[short.len()..].starts_with(|letter: char| letter.is_ascii_digit())
    };
    known.copied().filter(|(short, _)| is_label(short))
}

/// A text whose LaTeX is written out; most texts have none.
fn without_commands(text: &str) -> std::borrow::Cow<'_, str> {
    if !text.contains('\\') {
        return text.into();
    }
    let mut plain = text.to_owned();
    for (command, meaning) in COMMANDS {
        if plain.contains(command) {
            plain = plain.replace(command, meaning);
        }
    }
    with_fractions(&plain).into()
}

/// `\frac{2}{3}` as 2/3.
fn with_fractions(text: &str) -> String {
    /// Longer than any fraction; bounds the search for its end.
    const LONGEST: usize = 32;
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("\\frac{") {
        plain.push_str(&rest[..at]);
        let inside = &rest[at + "\\frac{".len()..];
        let start = inside
            .char_indices()
            .nth(LONGEST)
            .map_or(inside, |(end, _)| &inside[..end]);
        let parts = start.split_once("}{").and_then(|(above, rest)| {
            let (below, _) = rest.split_once('}')?;
            let is_number =
                |part: &str| part.len() < 12 && part.bytes().all(|letter| letter.is_ascii_digit());
            let behind = &inside[above.len() + below.len() + "}{}".len()..];
            (is_number(above) && is_number(below)).then_some((above, below, behind))
        });
        match parts {
            Some((above, below, behind)) => {
                plain.push_str(above);
                plain.push('/');
                plain.push_str(below);
                rest = behind;
            }
            None => rest = inside,
        }
    }
    plain.push_str(rest);
    plain
}
