//! The property that everything is declared: of every parameter and every stream of draws a
//! game says who is told, once, and by which rule. What nobody declared would be looked for
//! by nobody.

use serde_json::Value as Json;

use super::course::Course;
use super::parameters::resolved;
use super::secrets::ANSWERS;
use super::{Case, ensure};
use crate::disclosure::{Disclosure, Told};

/// Looks for what is declared by nobody, or twice, or without a rule, and for declarations
/// that do not fit the game.
pub(super) fn everything_is_declared(case: &Case<'_>) -> Result<(), String> {
    let disclosures = case.game.disclosures();
    let info = case.game.info();
    ensure!(
        !(disclosures.is_empty() && info.hidden_information),
        "hidden information, but nothing is declared of who is told what"
    );
    for Disclosure {
        parameters,
        draws,
        told,
        rule,
        ..
    } in &disclosures
    {
        ensure!(
            !rule.trim().is_empty(),
            "no rule says who is told of {parameters:?}"
        );
        ensure!(
            info.hidden_information || *told != Told::Owner,
            "seats have secrets ({parameters:?}, {draws:?}), but the game says that there is no \
             hidden information"
        );
    }
    let declared: Vec<&str> = disclosures
        .iter()
        .flat_map(|one| one.parameters)
        .copied()
        .collect();
    let schema = case.registration.schema();
    let mut paths = Vec::new();
    let properties = schema["properties"].as_object().into_iter().flatten();
    for (name, node) in properties {
        covered(&schema, node, name, &declared, &mut paths)?;
    }
    for (at, path) in declared.iter().enumerate() {
        ensure!(
            paths.iter().any(|known| known == path),
            "{path} is declared, but is no parameter or declared above it"
        );
        ensure!(!declared[..at].contains(path), "{path} is declared twice");
    }
    let course = Course::of(case, ANSWERS)?;
    for draw in course.draws() {
        let mut streams = disclosures.iter().flat_map(|one| one.draws);
        ensure!(
            streams.any(|stream| stream.0 == draw.stream),
            "nothing is declared of who is told the draws of {}",
            draw.stream
        );
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
    let node = resolved(schema, node);
    let below = format!("{path}.");
    let is_split = declared.iter().any(|one| one.starts_with(&below));
    let items = Some(&node["items"]).filter(|items| !items.is_null());
    let inner = resolved(schema, items.unwrap_or(node));
    match inner["properties"].as_object().filter(|_| is_split) {
        Some(fields) => fields.iter().try_for_each(|(name, node)| {
            covered(schema, node, &format!("{below}{name}"), declared, met)
        }),
        None => Err(format!(
            "nothing is declared of who is told the parameter {path}"
        )),
    }
}
