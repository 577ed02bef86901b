//! The paths that a grid may vary, of axes and of rows. Knows no document and no value. Called when
//! a document is read; `grid.rs` relies on it.

use agon_engine::names::among;

use super::path::TreePath;

/// What a grid may vary.
const ROOTS: [&str; 7] = [
    "params", "players", "model", "seats", "world", "game", "seed",
];

/// Whether a grid may vary this path.
///
/// # Errors
/// It may not; says what it may.
pub fn check(path: &str) -> Result<(), String> {
    let root_of = |path: &TreePath| path.first_key().unwrap_or_default().to_owned();
    let path = TreePath::read(path)?;
    let root = root_of(&path);
    if !ROOTS.contains(&root.as_str()) {
        return Err(format!(
            "a grid cannot vary \"{root}\"{}",
            among(&root, ROOTS)
        ));
    }
    let depth = path.steps().len();
    match (root.as_str(), depth) {
        ("params", 1) => Err("name one parameter, as params.rounds".to_owned()),
        ("players", 1) => Err("name one player, as players.subject".to_owned()),
        ("model", 1) => Err("name one setting, as model.temperature".to_owned()),
        ("game" | "seed", 2..) => Err(format!("{root} has nothing inside it")),
        _ => Ok(()),
    }
}
