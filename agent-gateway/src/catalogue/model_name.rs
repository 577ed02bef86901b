//! A provider's own name of a model, as it may be written into an address: letters, digits and
//! `-._:@+` in parts that `/` divides. Experiments and callers name models, so whatever else an
//! address gives a meaning (`..`, `?`, `#`, `%`, `\`, white space) is refused where names come in,
//! and what is left is percent-encoded where addresses are made. Called by `config.rs`.

use std::fmt;
use std::ops::Deref;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// The longest that any provider uses is below a hundred.
const LONGEST: usize = 200;

/// Besides letters and digits.
const MARKS: &str = "-._:@+";

/// What has no meaning in a part of a path (RFC 3986, section 2.3: unreserved characters).
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// See the module.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ModelName(String);

impl ModelName {
    /// The name, if it is one.
    ///
    /// # Errors
    /// It is none; says what a name is made of.
    pub fn parse(name: &str) -> Result<Self, String> {
        let is_part = |part: &str| {
            let legal = |letter: char| letter.is_ascii_alphanumeric() || MARKS.contains(letter);
            part.chars().all(legal) && part.chars().any(|letter| letter.is_ascii_alphanumeric())
        };
        if name.len() <= LONGEST && name.split('/').all(is_part) {
            return Ok(Self(name.to_owned()));
        }
        Err(format!(
            "{:?} is no model name: it has at most {LONGEST} letters, digits and any of \"{MARKS}\", \
             in parts separated by /, each with a letter or digit",
            name.chars().take(LONGEST).collect::<String>()
        ))
    }

    /// As part of an address: `/` still divides.
    pub fn in_path(&self) -> String {
        let parts: Vec<String> = self.0.split('/').map(encoded).collect();
        parts.join("/")
    }

    /// As a single part of an address.
    pub fn as_one_part(&self) -> String {
        encoded(&self.0)
    }
}

fn encoded(part: &str) -> String {
    utf8_percent_encode(part, ENCODED).to_string()
}

impl Deref for ModelName {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ModelName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of real models, and how they stand in a path.
    const NAMES: &[(&str, &str)] = &[
        ("gpt-4o-mini", "gpt-4o-mini"),
        ("gemini-2.5-pro", "gemini-2.5-pro"),
        ("models/gemini-2.5-pro", "models/gemini-2.5-pro"),
        (
            "meta-llama/Llama-3.1-70B-Instruct",
            "meta-llama/Llama-3.1-70B-Instruct",
        ),
        (
            "accounts/fireworks/models/qwen3",
            "accounts/fireworks/models/qwen3",
        ),
        ("qwen2.5:7b", "qwen2.5%3A7b"),
        ("deepseek/deepseek-r1:free", "deepseek/deepseek-r1%3Afree"),
        ("ft:gpt-4o:lab::a1", "ft%3Agpt-4o%3Alab%3A%3Aa1"),
        ("@cf/meta/llama-3", "%40cf/meta/llama-3"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4%4020250514"),
        ("x+y", "x%2By"),
    ];

    /// What would lead elsewhere, or is no name.
    const OTHERS: &[&str] = &[
        "",
        "/",
        "..",
        ".",
        "../x",
        "x/..",
        "x/../../../y",
        "x/./y",
        "x//y",
        "/x",
        "x/",
        "x?y=1",
        "x#y",
        "x%2e%2e",
        "%2e%2e/x",
        "x y",
        "x\ny",
        "x\r\nHost: y",
        "x\0",
        "x\\..\\y",
        "x;y",
        "x&y",
        "x=y",
        "{x}",
        "<x>",
        "x\"y",
        "é",
        "x\u{202e}y",
        "http://x",
        ":",
        "@",
        "+",
        "x|y",
        "x`y",
        "~x",
    ];

    #[test]
    fn names_of_models_are_names_and_stand_in_paths_as_parts() {
        for (name, in_path) in NAMES {
            let parsed = ModelName::parse(name).unwrap_or_else(|why| panic!("{name}: {why}"));
            assert_eq!(parsed.in_path(), *in_path);
            assert!(!parsed.as_one_part().contains('/'));
        }
    }

    #[test]
    fn what_leads_elsewhere_is_no_name() {
        for name in OTHERS {
            assert!(ModelName::parse(name).is_err(), "{name:?}");
        }
        assert!(ModelName::parse(&"x".repeat(LONGEST)).is_ok());
        assert!(ModelName::parse(&"x".repeat(LONGEST + 1)).is_err());
    }
}
