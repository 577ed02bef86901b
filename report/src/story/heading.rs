//! The first lines of a session: what was played, of which experiment, and by whom.
//! Tells nothing that happened. Called by `story.rs`.

use agon_engine::session::info_of;
use agon_engine::{PlayerKind, PlayerSpec};
use serde_json::Value as Json;

use super::notes;
use super::teller::Teller;
use super::words::json;
use crate::axes::{AxisNames, in_words};

/// Settings that are named before all others, without their names.
const FIRST: [&str; 2] = ["strategy", "model"];

/// Tells it.
pub fn tell(teller: &mut Teller<'_>) {
    let record = teller.record;
    let spec = &record.spec;
    let info = info_of(spec);
    let title = info
        .as_ref()
        .map_or(spec.game.as_str(), |info| &*info.title);
    teller.line(0, format!("{title}, session {}", record.session));
    let mut parts = vec![format!("experiment {}", spec.experiment)];
    let mut names = AxisNames::default();
    names.add(spec);
    parts.extend(Some(names.setting(spec)).filter(|setting| !setting.is_empty()));
    parts.push(format!(
        "seed {}, repeat {}",
        spec.luck.seed, spec.luck.repeat
    ));
    if spec.luck.place > 0 {
        parts.push(format!("place {} of its series", spec.luck.place));
    }
    if record.simulated {
        parts.push("simulated".to_owned());
    }
    teller.line(0, parts.join(", "));
    teller.gap();
    for seat in teller.seats() {
        let (name, what) = (teller.name(seat), who(&spec.seats[seat]));
        teller.line(0, format!("{name}: {what}"));
    }
    notes::tell_carried(teller);
    if teller.telling.seat.is_some() {
        let seats = spec.seats.len();
        teller.line(0, format!("Told as this one of {seats} seats saw it."));
    }
}

fn kind(player: &PlayerSpec) -> &'static str {
    match player.kind {
        PlayerKind::Rule => "rule",
        PlayerKind::Model => "model",
    }
}

fn who(player: &PlayerSpec) -> String {
    let first = FIRST.iter().filter_map(|name| player.settings.get(*name));
    let mut words = vec![kind(player).to_owned()];
    words.extend(first.map(in_words));
    let others = player.settings.iter();
    let others = others.filter(|(name, _)| !FIRST.contains(&name.as_str()));
    let others: Vec<String> = others
        .map(|(name, value)| format!("{} {}", name.replace('_', " "), json(&named(value))))
        .collect();
    let head = words.join(" ");
    if others.is_empty() {
        head
    } else {
        format!("{head} ({})", others.join(", "))
    }
}

/// A setting in which whatever has a name and a text is its name: a world tells every
/// player of all its personas, which would fill the page before anything happens.
fn named(value: &Json) -> Json {
    match value {
        Json::Object(map) => match (map.get("name"), map.get("text")) {
            (Some(name), Some(_)) => name.clone(),
            _ => {
                let fields = map.iter();
                let fields = fields.map(|(key, inner)| (key.clone(), named(inner)));
                Json::Object(fields.collect())
            }
        },
        Json::Array(entries) => entries.iter().map(named).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json as value;

    use super::*;

    #[test]
    fn what_has_a_name_and_a_text_is_told_by_its_name() {
        let personas =
            value!([{ "name": "a", "text": "You like a." }, { "name": "b", "text": "b" }]);
        let world = value!({ "own": ["a"], "personas": personas });
        assert_eq!(
            named(&world),
            value!({ "own": ["a"], "personas": ["a", "b"] })
        );
        for kept in [
            value!({ "text": "You are a poet." }),
            value!([1, "x"]),
            value!(null),
        ] {
            assert_eq!(named(&kept), kept);
        }
    }
}
