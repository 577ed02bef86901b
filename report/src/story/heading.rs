//! The first lines of a session: what was played, of which experiment, and by whom.
//! Tells nothing that happened. Called by `story.rs`.

use agon_engine::{PlayerKind, PlayerSpec, registry};

use super::notes;
use super::teller::Teller;
use super::words::json;
use crate::session::{in_words, name_value};

/// Settings that are named before all others, without their names.
const FIRST: [&str; 2] = ["strategy", "model"];

/// Tells it.
pub fn tell(teller: &mut Teller<'_>) {
    let record = teller.record;
    let spec = &record.spec;
    let title = registry::find(&spec.game).map_or(spec.game.as_str(), |game| game.info.title);
    teller.line(0, format!("{title}, session {}", record.session));
    let mut parts = vec![format!("experiment {}", spec.experiment)];
    let axes = spec.setting.iter().filter(|(axis, _)| *axis != "game");
    parts.extend(axes.map(|(axis, value)| name_value(axis, value)));
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
        .map(|(name, value)| format!("{} {}", name.replace('_', " "), json(value)))
        .collect();
    let head = words.join(" ");
    if others.is_empty() {
        head
    } else {
        format!("{head} ({})", others.join(", "))
    }
}
