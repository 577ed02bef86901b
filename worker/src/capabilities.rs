//! What this worker can play: the versions of records and rules of this program. A coordinator grants
//! it nothing that requires others. Prompts are compared when a session is set up, because which of
//! them it uses depends on its players.

use agon_engine::record::FIRST_VERSION;
use agon_engine::{registry, versions};
use agon_proto::capabilities::{RECORDS, rules_of};
use agon_proto::v1::Capability;
use agon_referee::Games;

/// The versions, by the names that coordinators use.
pub fn capabilities(games: &Games) -> Vec<Capability> {
    let rules = registry::GAMES.iter().map(|game| Capability {
        name: rules_of(&game.info.name),
        versions: vec![versions::rules(game.info.rules_version).to_string()],
    });
    // A record is written in the oldest version that can hold it, so this worker can also play
    // sessions that require an older one.
    let known = FIRST_VERSION..=versions::record();
    let records = Capability {
        name: RECORDS.to_owned(),
        versions: known.map(|version| version.to_string()).collect(),
    };
    let elsewhere = games.descriptions().map(|game| Capability {
        name: rules_of(&game.name),
        versions: vec![game.rules_version.to_string()],
    });
    rules.chain(elsewhere).chain([records]).collect()
}
