//! Canonical JSON of a spec: every object with its keys in order, written
//! straight from the structs because each session pays for it once. The structs
//! are taken apart by name, so a new field cannot be left out of the session id.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::Value;

use super::{Origin, PlayerSpec, SessionSpec, Settings};
use crate::chance::Luck;

/// Writes a spec.
pub(super) struct Spec<'a>(pub(super) &'a SessionSpec);

impl Serialize for Spec<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SessionSpec {
            experiment,
            setting,
            luck,
            game,
            outside,
            rules_version,
            params,
            seats,
            prompts_version,
            prompt_bundle,
            origins,
        } = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("experiment", experiment)?;
        map.serialize_entry("game", game)?;
        map.serialize_entry("luck", &Chance(*luck))?;
        if !origins.is_empty() {
            map.serialize_entry("origins", &Origins(origins))?;
        }
        if let Some(outside) = outside {
            // Its fields stand in the order of their names.
            map.serialize_entry("outside", outside)?;
        }
        map.serialize_entry("params", &Map(params))?;
        if let Some(bundle) = prompt_bundle {
            map.serialize_entry("prompt_bundle", bundle)?;
        }
        if let Some(version) = prompts_version {
            map.serialize_entry("prompts_version", version)?;
        }
        map.serialize_entry("rules_version", rules_version)?;
        map.serialize_entry("seats", &Players(seats))?;
        map.serialize_entry("setting", &Map(setting))?;
        map.end()
    }
}

struct Origins<'a>(&'a BTreeMap<String, Origin>);

impl Serialize for Origins<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let origins = self.0.iter().map(|(model, origin)| {
            let Origin {
                provider_kind,
                endpoint,
                provider_model,
                additions,
            } = origin;
            let named = [
                ("additions", additions),
                ("endpoint", endpoint),
                ("provider_kind", provider_kind),
                ("provider_model", provider_model),
            ];
            // Where nothing is added, origins stay what they were.
            let named = &named[usize::from(additions.is_empty())..];
            (model, named.iter().copied().collect::<BTreeMap<_, _>>())
        });
        serializer.collect_map(origins)
    }
}

struct Players<'a>(&'a [PlayerSpec]);

impl Serialize for Players<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(Player))
    }
}

struct Player<'a>(&'a PlayerSpec);

impl Serialize for Player<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let PlayerSpec {
            name,
            kind,
            settings,
        } = self.0;
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("name", name)?;
        map.serialize_entry("settings", &Map(settings))?;
        map.end()
    }
}

/// Writes a session's luck.
pub(super) struct Chance(pub(super) Luck);

impl Serialize for Chance {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Luck {
            seed,
            repeat,
            place,
        } = self.0;
        // In order of their names; the first place of a series is left out.
        let pairs = [
            ("place", u64::from(place)),
            ("repeat", u64::from(repeat)),
            ("seed", seed),
        ];
        serializer.collect_map(pairs.into_iter().skip(usize::from(place == 0)))
    }
}

/// Settings are in order at the top, whatever their values hold.
struct Map<'a>(&'a Settings);

impl Serialize for Map<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, Sorted(value))))
    }
}

/// JSON with sorted keys, whichever map type the JSON library was built with.
struct Sorted<'a>(&'a Value);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(map) => {
                let mut entries: Vec<(&String, &Value)> = map.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                serializer.collect_map(entries.into_iter().map(|(key, value)| (key, Sorted(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(Sorted)),
            other => other.serialize(serializer),
        }
    }
}
