//! The property that everything is declared: of every parameter and every stream of draws a
//! game says who is told, once, and by which rule. What nobody declared would be looked for
//! by nobody.

use serde_json::Value as Json;

use super::Case;
use super::course::Course;
use super::parameters::resolved;
use super::secrets::ANSWERS;
use crate::disclosure::{Disclosure, Told};

/// Looks for what is declared by nobody, or twice, or without a rule, and for declarations
/// that do not fit the game.
pub(super) fn everything_is_declared(case: &Case) -> Result<(), String> {
    let disclosures = case.game.disclosures();
    let info = case.game.info();
    if disclosures.is_empty() && info.hidden_information {
        return Err("hidden information, but nothing is declared of who is told what".to_owned());
    }
    if let Some(unfounded) = disclosures.iter().find(|one| one.rule.trim().is_empty()) {
        return Err(format!(
            "no rule says who is told of {:?}",
            unfounded.parameters
        ));
    }
    if !info.hidden_information
        && let Some(private) = disclosures.iter().find(|one| one.told == Told::Owner)
    {
        let Disclosure {
            parameters, draws, ..
        } = private;
        return Err(format!(
            "seats have secrets ({parameters:?}, {draws:?}), but the game says that there is no \
             hidden information"
        ));
    }
    let declared: Vec<&str> = disclosures
        .iter()
        .flat_map(|one| one.parameters)
        .copied()
        .collect();
    let schema = (case.registration.schema)();
    let mut paths = Vec::new();
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, node) in properties {
        covered(&schema, node, name, &declared, &mut paths)?;
    }
    if let Some(unknown) = declared
        .iter()
        .find(|path| !paths.iter().any(|known| known == *path))
    {
        return Err(format!(
            "{unknown} is declared, but is no parameter or declared above it"
        ));
    }
    let twice = |(at, path): (usize, &&str)| declared[..at].contains(path);
    if let Some(path) = declared.iter().enumerate().find(|one| twice(*one)) {
        return Err(format!("{} is declared twice", path.1));
    }
    let course = Course::of(case, ANSWERS)?;
    for draw in course.draws() {
        let mut streams = disclosures.iter().flat_map(|one| one.draws);
        if !streams.any(|stream| stream.0 == draw.stream) {
            return Err(format!(
                "nothing is declared of who is told the draws of {}",
                draw.stream
            ));
        }
    }
    Ok(())
}

/// Whether a parameter is declared, or everything in it is; notes what was met.
fn covered(
    schema: &Json,
    node: &Json,
    path: &str,
    declared: &[&str],
    met: &mut Vec<String>,
) -> Result<(), String> {
    if declared.contains(&path) {
        met.push(path.to_owned());
        return Ok(());
    }
    let target = node["$ref"]
        .as_str()
        .map(|target| target.trim_start_matches('#'));
    let node = target
        .and_then(|pointer| schema.pointer(pointer))
        .unwrap_or(node);
    let below = format!("{path}.");
    let is_split = declared.iter().any(|one| one.starts_with(&below));
    let inner = if node["items"].is_null() {
        node
    } else {
        &node["items"]
    };
    let inner = resolved(schema, inner);
    match inner["properties"].as_object().filter(|_| is_split) {
        Some(fields) => fields.iter().try_for_each(|(name, node)| {
            covered(schema, node, &format!("{below}{name}"), declared, met)
        }),
        None => Err(format!(
            "nothing is declared of who is told the parameter {path}"
        )),
    }
}
