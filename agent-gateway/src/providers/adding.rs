//! Puts what the configuration adds into the body of a request. Objects are merged; where both
//! set the same field, the call is refused rather than one of them silently lost. The order of
//! fields stays what it was, since models answer in the order of their schema. Called by
//! `caller.rs`.

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Refusal;
use super::reading::give_up;

/// The body with these fields.
pub(super) fn added(body: Vec<u8>, extra: &Map<String, Value>) -> Result<Vec<u8>, Refusal> {
    if extra.is_empty() {
        return Ok(body);
    }
    let unreadable = |error: serde_json::Error| give_up(format!("cannot be written: {error}"));
    let own: Fields = serde_json::from_slice(&body).map_err(unreadable)?;
    let merged = own.with(extra, "").map_err(give_up)?;
    serde_json::to_vec(&merged).map_err(unreadable)
}

/// The fields of an object in their order.
struct Fields(Vec<(String, Box<RawValue>)>);

impl Fields {
    fn with(mut self, extra: &Map<String, Value>, within: &str) -> Result<Self, String> {
        for (name, value) in extra {
            let path = format!("{within}{name}");
            let written = match self.0.iter_mut().find(|(known, _)| known == name) {
                None => {
                    let value = serde_json::value::to_raw_value(value);
                    self.0
                        .push((name.clone(), value.map_err(|error| error.to_string())?));
                    continue;
                }
                Some((_, written)) => written,
            };
            let own = serde_json::from_str::<Self>(written.get()).ok();
            let (Some(own), Value::Object(extra)) = (own, value) else {
                return Err(format!(
                    "extra_body sets {path}, which the request sets already; remove it from one of \
                     them"
                ));
            };
            let merged = own.with(extra, &format!("{path}."))?;
            *written =
                serde_json::value::to_raw_value(&merged).map_err(|error| error.to_string())?;
        }
        Ok(self)
    }
}

impl Serialize for Fields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct JsonVisitor;
        impl<'de> Visitor<'de> for JsonVisitor {
            type Value = Fields;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Fields, A::Error> {
                let mut fields = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    let value: &RawValue = map.next_value()?;
                    let value = RawValue::from_string(value.get().to_owned());
                    fields.push((name, value.map_err(A::Error::custom)?));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(JsonVisitor)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn with(body: &str, extra: Value) -> Result<String, String> {
        let extra = extra.as_object().unwrap();
        let added = added(body.as_bytes().to_vec(), extra).map_err(|refusal| refusal.reason)?;
        Ok(String::from_utf8(added).unwrap())
    }

    #[test]
    fn objects_are_merged_in_their_order() {
        let body = r#"{"z":1,"config":{"y":2,"b":{"q":[1]}},"a":"x"}"#;
        assert_eq!(
            with(
                body,
                json!({"config": {"b": {"c": 3}, "m": null}, "k": {"u": 1}})
            )
            .unwrap(),
            r#"{"z":1,"config":{"y":2,"b":{"q":[1],"c":3},"m":null},"a":"x","k":{"u":1}}"#
        );
        assert_eq!(with(body, json!({})).unwrap(), body);
    }

    #[test]
    fn field_that_both_set_is_a_fault_that_names_it() {
        let body = r#"{"temperature":0.5,"config":{"b":{"q":1}}}"#;
        for (extra, path) in [
            (json!({"temperature": 0.5}), "sets temperature,"),
            (json!({"config": 1}), "sets config,"),
            (json!({"config": {"b": {"q": {}}}}), "sets config.b.q,"),
            (json!({"temperature": {"a": 1}}), "sets temperature,"),
        ] {
            let reason = with(body, extra).unwrap_err();
            assert!(reason.contains(path), "{reason}");
        }
    }
}
