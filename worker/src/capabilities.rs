//! What this worker can play: the versions of records and rules of this program. A coordinator grants
//! it nothing that requires others.

use agon_engine::record::RECORD_VERSION;
use agon_engine::registry;
use agon_proto::v1::Capability;

/// The versions, by the names that coordinators use.
pub fn capabilities() -> Vec<Capability> {
    let rules = registry::GAMES.iter().map(|game| Capability {
        name: format!("rules of {}", game.info.name),
        versions: vec![game.info.rules_version.to_string()],
    });
    let records = Capability {
        name: "records".to_owned(),
        versions: vec![RECORD_VERSION.to_string()],
    };
    rules.chain([records]).collect()
}
