//! Reads a user's folder of prompt templates into texts. Whether they are good
//! templates is checked by `agon-agents`. Called for experiments that name a folder,
//! and by `agon verify`.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use agon_agents::PromptLibrary;
use agon_outlets::InLine as _;
use agon_service_kit::files::read_whole;
use agon_service_kit::folder::Folder;

use crate::data_folder::cannot;
use crate::failure::Failure;
use crate::run_folder::{TEMPLATES, history};

/// Ending of template files.
const ENDING: &str = "j2";

/// Templates are some kilobytes; what may be compiled is bounded by `agon-agents`.
const MOST_BYTES: u64 = 1 << 20;

/// Folders within folders: games have one, variants another.
const DEEPEST: usize = 8;

/// The library that the records of a file were played with: the built-in templates, with those
/// that lie beside the file or in `named` in their place.
///
/// # Errors
/// As [`read`]; or they are no templates.
pub fn played_with(named: Option<&Path>, records: &Path) -> Result<PromptLibrary, Failure> {
    let beside = history::beside(records, TEMPLATES);
    let folder = match named {
        Some(folder) => Some(folder),
        None => Some(beside.as_path()).filter(|folder| folder.is_dir()),
    };
    match folder {
        None => Ok(PromptLibrary::builtin()),
        Some(folder) => agon_agents::replaced(read(folder)?).map_err(Failure::input),
    }
}

/// Every template below a folder: path inside it, with `/`, to text.
///
/// # Errors
/// There is no such folder, it or a file in it cannot be read, or there is no template in it.
pub fn read(folder: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let root = folder.canonicalize().map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::BadInput(format!(
            "there is no folder of templates at {}",
            folder.in_line()
        )),
        _ => cannot("read", folder, &error),
    })?;
    let mut collected = Collected {
        root,
        texts: BTreeMap::new(),
    };
    collected.take(folder, "", 0)?;
    let texts = collected.texts;
    if texts.is_empty() {
        let folder = folder.in_line();
        return Err(Failure::BadInput(format!(
            "no .{ENDING} template in {folder}; `agon prompts GAME --out {folder}` writes some to start \
             from"
        )));
    }
    Ok(texts)
}

/// Writes templates into a folder, each under its path with `/`, where no file is yet.
///
/// # Errors
/// There is one, a link stands where a folder of ours belongs, or the disk refuses.
pub fn write_new(out: &Path, templates: &[(&str, &str)]) -> Result<(), Failure> {
    let root = Folder::create(out).map_err(|error| cannot("create", out, &error))?;
    for (name, text) in templates {
        let path = out.join(name);
        write_one(&root, name, text).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Failure::BadInput(format!(
                "{} already exists; choose another folder with --out",
                path.in_line()
            )),
            _ => cannot("create", &path, &error),
        })?;
    }
    Ok(())
}

fn write_one(root: &Folder, name: &str, text: &str) -> io::Result<()> {
    let mut made = match name.split_once('/') {
        Some((folder, rest)) => return write_one(&root.folder(folder)?, rest, text),
        None => root.new_file(name)?,
    };
    made.write_all(text.as_bytes())
}

/// A folder of templates, as far as it has been read.
struct Collected {
    /// Free of links.
    root: PathBuf,
    texts: BTreeMap<String, String>,
}

impl Collected {
    /// What lies below a folder. Names that begin with a dot belong to other programs; a link leads
    /// to where it leads, but not out of the folder.
    fn take(&mut self, folder: &Path, prefix: &str, depth: usize) -> Result<(), Failure> {
        if depth > DEEPEST {
            return Err(Failure::BadInput(format!(
                "{} is more than {DEEPEST} folders deep; is there a link that leads back?",
                folder.in_line()
            )));
        }
        let entries = fs::read_dir(folder).map_err(|error| cannot("read", folder, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| cannot("read", folder, &error))?;
            let path = entry.path();
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.starts_with('.') {
                continue;
            }
            let is_template = path.extension().is_some_and(|ending| ending == ENDING);
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !is_template && !path.is_dir() {
                continue;
            }
            if is_link {
                self.refuse_a_way_out(&path)?;
            }
            let name = format!("{prefix}{name}");
            if path.is_dir() {
                self.take(&path, &format!("{name}/"), depth + 1)?;
            } else {
                let text = read_whole(&path, MOST_BYTES).and_then(|bytes| {
                    String::from_utf8(bytes).map_err(|_| io::Error::other("it is no UTF-8 text"))
                });
                let text = text.map_err(|error| cannot("read", &path, &error))?;
                self.texts.insert(name, text);
            }
        }
        Ok(())
    }

    fn refuse_a_way_out(&self, link: &Path) -> Result<(), Failure> {
        let real = link
            .canonicalize()
            .map_err(|error| cannot("read", link, &error))?;
        if real.starts_with(&self.root) {
            return Ok(());
        }
        Err(Failure::BadInput(format!(
            "{} is a link that leads out of the folder of templates; put the file itself there",
            link.in_line()
        )))
    }
}
