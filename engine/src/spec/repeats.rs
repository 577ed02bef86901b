//! The specs of sessions that differ in nothing but their luck, as the repeats of one cell do. What
//! they have in common is put into JSON once, for whoever tells or checks many of them: a coordinator
//! does both for each session.

use serde::Serialize;

use super::{SessionId, SessionSpec, canonical};
use crate::chance::Luck;

/// See the module.
pub struct Repeats {
    canonical: Frame,
    recorded: Frame,
}

impl Repeats {
    /// The sessions that have everything of this spec but its luck.
    pub fn of(spec: &SessionSpec) -> Self {
        // Another last digit, and as many of them.
        let seed = spec.luck.seed ^ 1;
        let luck = Luck { seed, ..spec.luck };
        let other = SessionSpec {
            luck,
            ..spec.clone()
        };
        Self {
            canonical: Frame::of(&spec.canonical_json(), &other.canonical_json()),
            recorded: Frame::of(&json(spec), &json(&other)),
        }
    }

    /// [`SessionSpec::identified`] of the session with this luck.
    pub fn identified(&self, luck: Luck) -> (SessionId, String) {
        let json = self.canonical.around(&json(&canonical::Chance(luck)));
        (SessionId::of(&json), json)
    }

    /// Whether a text is the spec with this luck, byte by byte as this program writes it into records.
    /// Another text may say the same.
    pub fn is_recorded_as(&self, luck: Luck, text: &str) -> bool {
        self.recorded.is_around(text, &json(&luck))
    }
}

/// Specs and luck hold strings, numbers and maps with string keys: none of them can fail to serialise.
pub(super) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A spec's JSON before and behind its luck.
struct Frame {
    before: String,
    behind: String,
}

impl Frame {
    /// Of the JSON of two specs that differ in a digit of their luck, which holds no other object.
    fn of(one: &str, other: &str) -> Self {
        let same = one.bytes().zip(other.bytes());
        let same = same.take_while(|(one, other)| one == other).count();
        let begins = one[..same].rfind('{').unwrap_or(same);
        let ends = one[same..].find('}').map_or(same, |found| same + found + 1);
        Self {
            before: one[..begins].to_owned(),
            behind: one[ends..].to_owned(),
        }
    }

    fn around(&self, luck: &str) -> String {
        [&self.before, luck, &self.behind].concat()
    }

    fn is_around(&self, text: &str, luck: &str) -> bool {
        let rest = text.strip_prefix(self.before.as_str());
        let rest = rest.and_then(|rest| rest.strip_prefix(luck));
        rest == Some(self.behind.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::spec::{PlayerKind, PlayerSpec, Settings};

    fn spec(luck: Luck) -> SessionSpec {
        let setting = json!({"luck": {"seed": 7, "repeat": 0}, "{": "\"luck\":{\"seed\":7}"});
        let settings: Settings = serde_json::from_value(setting).unwrap();
        let player = PlayerSpec {
            name: "me".to_owned(),
            kind: PlayerKind::Rule,
            settings: settings.clone(),
        };
        SessionSpec {
            experiment: "luck {".to_owned(),
            setting: settings,
            luck,
            game: "guess_two_thirds".to_owned(),
            outside: None,
            rules_version: 1,
            params: BTreeMap::new(),
            seats: vec![player.clone(), player],
            prompts_version: None,
            prompt_bundle: None,
            origins: BTreeMap::new(),
        }
    }

    #[test]
    fn sessions_have_the_id_and_the_json_of_their_own_spec_whatever_their_luck() {
        let lucks = [0, 7, 10, u64::MAX].into_iter().flat_map(|seed| {
            let first = Luck::new(seed, 0);
            [
                first,
                first.at(3),
                Luck::new(seed, 1_000),
                Luck::new(seed, 12).at(1),
            ]
        });
        let lucks: Vec<_> = lucks.collect();
        for known in &lucks {
            let repeats = Repeats::of(&spec(*known));
            for luck in &lucks {
                let made = spec(*luck);
                assert_eq!(repeats.identified(*luck), made.identified());
                let text = json(&made);
                assert!(repeats.is_recorded_as(*luck, &text));
                for (other, text) in [
                    (known, text.clone()),
                    (luck, text.replacen("guess", "Guess", 1)),
                    (luck, format!("{text} ")),
                    (luck, text[1..].to_owned()),
                ] {
                    assert!(
                        other == luck && text == json(&made)
                            || !repeats.is_recorded_as(*other, &text)
                    );
                }
            }
        }
    }
}
