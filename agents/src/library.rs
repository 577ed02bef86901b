//! The prompt templates: the built-in ones, and those of a user that replace some.
//!
//! Templates are minijinja, strict about undefined variables and bounded in work
//! and depth, so that no template can hang a worker. Files are not read here:
//! whoever calls hands the texts in. `docs/prompts.md` tells template authors
//! which variables there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use agon_engine::names::nearest;
use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value};

use crate::agent::AgentError;
use crate::rehearsal;

mod filters;

/// Raised whenever the code of this crate changes what is sent to a model, or how
/// its replies are read.
pub const AGENTS_VERSION: u32 = 3;

/// Path inside the template folder, and text, in the order of paths.
type Templates = [(&'static str, &'static str)];

static BUILT_IN: &Templates = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

static BUILT_IN_LIBRARY: LazyLock<PromptLibrary> = LazyLock::new(|| {
    let mut environment = empty_environment();
    for (path, text) in BUILT_IN {
        // A built-in template that does not parse fails the first test of this
        // crate; without it, whoever needs it gets a "missing" error.
        let _ = environment.add_template(path, text);
    }
    PromptLibrary {
        environment: Arc::new(environment),
        digest: None,
        replaced: Arc::default(),
    }
});

/// Folder of the parts that all games share.
const SHARED: &str = "shared/";

/// Instructions that one rendering may take: the longest built-in template takes
/// less than a thousandth of it, and it is used up in well under a second.
const FUEL: u64 = 1_000_000;

/// Depth of includes and nested blocks; built-in templates stay under 30.
const DEPTH: usize = 100;

/// Digits of the digests: enough to tell any two sets of templates apart.
const DIGEST_DIGITS: usize = 16;

/// A set of templates. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PromptLibrary {
    environment: Arc<Environment<'static>>,
    digest: Option<String>,
    /// Paths of the built-in templates that others stand in the place of.
    replaced: Arc<BTreeSet<String>>,
}

impl PromptLibrary {
    /// The built-in templates.
    pub fn builtin() -> Self {
        BUILT_IN_LIBRARY.clone()
    }

    /// The built-in templates, some of them replaced: path inside the template
    /// folder (`guess_two_thirds/v1/system.j2`) to text.
    ///
    /// # Errors
    /// A path is not one of a built-in template; a text is no template, or uses
    /// a variable that does not exist, or does too much work. Every replaced
    /// template is tried on a game with default parameters.
    pub fn with_overrides(overrides: BTreeMap<String, String>) -> Result<Self, AgentError> {
        let mut library = Self::builtin();
        if overrides.is_empty() {
            return Ok(library);
        }
        library.digest = Some(digest(
            overrides.iter().map(|(path, text)| (&**path, &**text)),
        ));
        library.replaced = Arc::new(overrides.keys().cloned().collect());
        let mut environment = (*library.environment).clone();
        let mut touched = BTreeSet::new();
        for (path, text) in overrides {
            if !BUILT_IN.iter().any(|(known, _)| *known == path) {
                return Err(unknown_path(path));
            }
            touched.insert(touched_folder(&path));
            let added = environment.add_template_owned(path.clone(), text);
            added.map_err(|error| template_error(&path, &error))?;
        }
        library.environment = Arc::new(environment);
        for (game, version) in built_in_folders() {
            let folder = format!("{game}/{version}/");
            if touched.contains(&folder) || touched.contains(SHARED) {
                rehearsal::rehearse(&library, game, version)?;
            }
        }
        if touched.contains(SHARED) {
            rehearsal::rehearse_shared(&library)?;
        }
        Ok(library)
    }

    /// Digest of the templates that replace built-in ones, if any do.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Version of the agents and of the built-in templates in these folders and in the one
    /// that all games share: [`AGENTS_VERSION`] and a digest.
    pub(crate) fn version_of(folders: &[String]) -> String {
        prompts_version(BUILT_IN, folders)
    }

    /// Every built-in template in these folders, and of those that all games share: path and
    /// text, in the order of paths.
    pub(crate) fn templates_in(folders: &[String]) -> Vec<(&'static str, &'static str)> {
        let all = BUILT_IN.iter().copied();
        all.filter(|(path, _)| is_used(path, folders)).collect()
    }

    /// Whether templates in these folders, or those that all games share, are replaced.
    pub(crate) fn replaces(&self, folders: &[String]) -> bool {
        let mut replaced = self.replaced.iter();
        replaced.any(|path| is_used(path, folders))
    }

    /// The prompt versions of a game, in order; none for a game without prompts.
    pub fn versions(&self, game: &str) -> Vec<&'static str> {
        let all = built_in_folders().into_iter();
        all.filter(|(found, _)| *found == game)
            .map(|(_, version)| version)
            .collect()
    }

    /// Whether there is a template at this path.
    pub fn has(&self, path: &str) -> bool {
        BUILT_IN
            .binary_search_by_key(&path, |(known, _)| known)
            .is_ok()
    }

    /// Renders a template and trims blanks around it.
    ///
    /// # Errors
    /// There is no such template, or it does not render with these values.
    pub fn render(&self, path: &str, values: Value) -> Result<String, AgentError> {
        let template = self.environment.get_template(path);
        let rendered = template.and_then(|template| template.render(values));
        let text = rendered.map_err(|error| template_error(path, &error))?;
        Ok(text.trim().to_owned())
    }
}

fn empty_environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH);
    // Lines that hold only a block leave nothing behind.
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    // Only delimiters can make a syntax impossible, and they are the usual ones.
    environment.set_syntax(syntax.unwrap_or_default());
    filters::add_to(&mut environment);
    environment
}

/// Every game and version that has built-in templates, in order.
fn built_in_folders() -> BTreeSet<(&'static str, &'static str)> {
    let folders = BUILT_IN.iter().filter_map(|(path, _)| {
        let (game, rest) = path.split_once('/')?;
        let (version, _) = rest.split_once('/')?;
        Some((game, version))
    });
    folders.collect()
}

fn touched_folder(path: &str) -> String {
    let end = path.rfind('/').map_or(0, |slash| slash + 1);
    path[..end].to_owned()
}

fn prompts_version(templates: &Templates, folders: &[String]) -> String {
    let used = templates.iter().copied();
    let digest = digest(used.filter(|(path, _)| is_used(path, folders)));
    format!("{AGENTS_VERSION}-{digest}")
}

/// Whether a template lies in one of these folders, or where all games share it.
fn is_used(path: &str, folders: &[String]) -> bool {
    path.starts_with(SHARED) || folders.iter().any(|folder| path.starts_with(folder))
}

fn digest<'a>(templates: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in templates.flat_map(|(path, text)| [path, text]) {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..DIGEST_DIGITS].to_owned()
}

fn unknown_path(path: String) -> AgentError {
    let known = BUILT_IN.iter().map(|(known, _)| *known);
    let near = nearest(&path, known).join(", ");
    let message = format!("replaces no built-in template; near names are {near}");
    AgentError::Template {
        template: path,
        message,
    }
}

fn template_error(path: &str, error: &minijinja::Error) -> AgentError {
    // An error inside an included part names that part.
    let template = error.name().unwrap_or(path).to_owned();
    let what = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    let message = match error.line() {
        Some(line) => format!("line {line}: {what}"),
        None => what,
    };
    AgentError::Template { template, message }
}

#[cfg(test)]
mod tests;
