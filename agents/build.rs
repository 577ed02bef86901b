//! Lists the prompt templates under `src/prompts`, so that every file put there
//! is compiled in without being named anywhere. Fails when the folder cannot be
//! read; used by `src/library.rs`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

const FOLDER: &str = "src/prompts";

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed={FOLDER}");
    let mut paths = Vec::new();
    collect(Path::new(FOLDER), &mut paths)?;
    let mut names: Vec<String> = paths.iter().filter_map(|path| name(path)).collect();
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        let _ = writeln!(
            list,
            "({name:?}, include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/{FOLDER}/{name}\"))),"
        );
    }
    list.push(']');
    let out = env::var_os("OUT_DIR").ok_or(io::ErrorKind::NotFound)?;
    fs::write(Path::new(&out).join("templates.rs"), list)
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, paths)?;
        } else if path.extension().is_some_and(|extension| extension == "j2") {
            paths.push(path);
        }
    }
    Ok(())
}

/// The path inside the template folder, with `/` on every system.
fn name(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(FOLDER).ok()?;
    let parts: Vec<&str> = inside.iter().filter_map(|part| part.to_str()).collect();
    Some(parts.join("/"))
}
