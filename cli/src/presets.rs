//! The experiments of the papers, inside the binary, and the rule by which a
//! name on the command line finds a file or a preset.

use std::io::ErrorKind;
use std::path::Path;

use agon_coordinator::experiment::ExperimentFile;
use agon_coordinator::experiment::limits::MOST_FILE_BYTES;
use agon_engine::names::{among, meant};
use agon_outlets::InLine as _;
use agon_service_kit::files::read_whole;
use rust_embed::Embed;

use crate::data_folder::cannot;
use crate::failure::Failure;

#[derive(Embed)]
#[folder = "$CARGO_MANIFEST_DIR/../experiments"]
struct Experiments;

/// Where the worlds lie among them.
const WORLDS: &str = "worlds/";

const ENDING: &str = ".toml";

/// Where the rosters lie, and how their files end.
const ROSTERS: (&str, &str) = ("rosters/", ".txt");

/// An experiment's text and where it came from.
pub struct Source {
    /// File name or preset name, for messages.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Names of all presets, without the ending.
pub fn names() -> Vec<String> {
    let files = Experiments::iter().filter(|path| !path.starts_with(WORLDS));
    let mut names: Vec<String> = files
        .filter_map(|path| Some(path.strip_suffix(ENDING)?.to_owned()))
        .collect();
    names.sort();
    names
}

/// Names of the rosters of the papers' models.
pub fn rosters() -> Vec<String> {
    let (folder, ending) = ROSTERS;
    let names = Experiments::iter().filter_map(|path| {
        let name = path.strip_prefix(folder)?.strip_suffix(ending)?;
        Some(name.to_owned())
    });
    names.collect()
}

/// The roster of this name; `None` where there is none.
pub fn roster(name: &str) -> Option<String> {
    let (folder, ending) = ROSTERS;
    let file = Experiments::get(&format!("{folder}{name}{ending}"))?;
    String::from_utf8(file.data.into_owned()).ok()
}

/// The file of this path, or else the preset of this name.
///
/// # Errors
/// There is neither, or the file is no UTF-8 text.
pub fn find(name: &str) -> Result<Source, Failure> {
    let path = Path::new(name);
    if path.is_file() {
        return text(name, read(path)?);
    }
    let stem = name
        .trim_end_matches(ENDING)
        .trim_start_matches("experiments/");
    let built_in = Some(stem).filter(|stem| !stem.starts_with(WORLDS));
    if let Some(preset) = built_in.and_then(|stem| Experiments::get(&format!("{stem}{ENDING}"))) {
        return text(name, preset.data.into_owned());
    }
    if path.is_dir() {
        return Err(Failure::BadInput(format!(
            "{name} is a folder; name one experiment file"
        )));
    }
    let presets = names();
    let of_family = presets.iter().filter(|preset| {
        let rest = preset.strip_prefix(stem.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.starts_with('/'))
    });
    let family: Vec<&str> = of_family.map(String::as_str).collect();
    let guess = meant(stem, presets.iter().map(String::as_str));
    let guess = match (&*family, guess) {
        ([], guess) => guess.map(|near| format!("; did you mean {near}?")),
        (family, _) => Some(format!(", but there are {};", family.join(", "))),
    };
    Err(Failure::BadInput(format!(
        "no experiment file {name}, and no preset of that name{} `agon presets` lists them",
        guess.unwrap_or_else(|| ";".to_owned())
    )))
}

/// Adds the worlds that an experiment names: `experiment` is its file or preset.
///
/// # Errors
/// One is not found, or is wrong.
pub fn add_worlds(file: &mut ExperimentFile, experiment: &str) -> Result<(), Failure> {
    for name in file.missing_worlds() {
        let world = world(&name, experiment)?;
        let added = file.add_world(&name, &world.name, &world.text);
        added.map_err(|errors| Failure::BadInput(errors.to_string()))?;
    }
    Ok(())
}

/// The world of a name that an experiment gives: the file of this path, looked for beside the
/// experiment (of a preset, in the working folder), or else the built-in one.
///
/// # Errors
/// There is neither, or the file is no UTF-8 text.
fn world(name: &str, experiment: &str) -> Result<Source, Failure> {
    // A preset lies beside nothing: a name is that of a file in the working folder.
    let file = Some(Path::new(experiment)).filter(|file| file.is_file());
    let beside = file.and_then(Path::parent).unwrap_or(Path::new(""));
    let path = beside.join(name);
    if path.is_file() {
        let bytes = read(&path)?;
        return text(&path.to_string_lossy(), bytes);
    }
    let stem = name.trim_end_matches(ENDING);
    if let Some(world) = Experiments::get(&format!("{WORLDS}{stem}{ENDING}")) {
        return text(&format!("world {stem}"), world.data.into_owned());
    }
    let worlds = Experiments::iter();
    let known: Vec<String> = worlds
        .filter_map(|path| {
            Some(
                path.strip_prefix(WORLDS)?
                    .trim_end_matches(ENDING)
                    .to_owned(),
            )
        })
        .collect();
    Err(Failure::BadInput(format!(
        "no world file {}, and no built-in world of that name{}",
        path.in_line(),
        among(stem, known.iter().map(String::as_str))
    )))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    read_whole(path, MOST_FILE_BYTES).map_err(|error| match error.kind() {
        ErrorKind::FileTooLarge => Failure::BadInput(format!("{}: {error}", path.in_line())),
        _ => cannot("read", path, &error),
    })
}

fn text(name: &str, bytes: Vec<u8>) -> Result<Source, Failure> {
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..at]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        Failure::BadInput(format!("{name}:{line}: not UTF-8 text"))
    })?;
    Ok(Source {
        name: name.to_owned(),
        text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_no_preset_is_told_those_that_are_meant() {
        let told = |name: &str| match find(name) {
            Err(Failure::BadInput(told)) => told,
            _ => panic!("{name} is no preset"),
        };
        let of_family = told("k-level");
        assert!(
            of_family.contains(", but there are k-level/guessing, k-level/"),
            "{of_family}"
        );
        let mistyped = told("k-level/gessing");
        assert!(
            mistyped.contains("did you mean k-level/guessing?"),
            "{mistyped}"
        );
        assert!(told("k-lev").contains("no preset of that name; `agon"));
    }
}
