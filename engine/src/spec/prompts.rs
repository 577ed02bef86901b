//! Versions of prompts in specs. Which templates a player uses is known to the agents alone;
//! whoever expands an experiment is told, and joins what it is told for the players of a session.

use std::collections::BTreeSet;

use super::PlayerSpec;

/// Digits of the digest in a version.
const DIGITS: usize = 16;

/// What decides which prompts a player is given: its game, its agent and its version of the
/// prompts, as its settings have them (`-` where they say nothing).
pub fn key(game: &str, player: &PlayerSpec) -> String {
    let setting = |name: &str| {
        let value = player.settings.get(name);
        value.and_then(serde_json::Value::as_str).unwrap_or("-")
    };
    let (agent, prompt) = (setting("agent"), setting("prompt"));
    format!("{game} {agent} {prompt}")
}

/// One version (`NUMBER-DIGEST`) of the prompts of several players; none when there are none.
pub fn joint_version(of_players: &BTreeSet<&str>) -> Option<String> {
    let first = of_players.first()?;
    if of_players.len() == 1 {
        return Some((*first).to_owned());
    }
    let mut hasher = blake3::Hasher::new();
    for version in of_players {
        hasher.update(version.as_bytes());
        hasher.update(b"\n");
    }
    let number = first.split('-').next().unwrap_or_default();
    let digest = hasher.finalize().to_hex();
    Some(format!("{number}-{}", &digest[..DIGITS]))
}
