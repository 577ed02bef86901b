//! The prompt templates: the built-in ones, and those of a user that replace some.
//!
//! Templates are minijinja, strict about undefined variables and bounded in size,
//! nesting, work and memory, so that no template can hang a worker or take it down.
//! Files are not read here: whoever calls hands the texts in. `docs/prompts.md` tells
//! template authors which variables there are.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock};

use agon_engine::names::{is_identifier, nearest};
use agon_engine::spec::bundle::digest;
use agon_engine::{registry, versions};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, ErrorKind, UndefinedBehavior, Value};

use crate::agent::AgentError;
use crate::settings::DEFAULT_PROMPT;

mod budget;
pub mod engine_fault;
mod filters;
mod operands;
mod scan;
mod texts;

use texts::Texts;

/// Raised whenever the code of this crate changes what is sent to a model, or how
/// its replies are read.
pub const AGENTS_VERSION: u32 = 4;

/// Path inside the template folder, and text, in the order of paths.
type Templates = [(&'static str, &'static str)];

static BUILT_IN: &Templates = include!(concat!(env!("OUT_DIR"), "/templates.rs"));

static BUILT_IN_LIBRARY: LazyLock<PromptLibrary> = LazyLock::new(|| {
    let mut environment = empty_environment();
    for (path, text) in BUILT_IN {
        // A built-in template that does not parse fails the first test of this
        // crate; without it, whoever needs it gets a "missing" error.
        let _ = add_template(&mut environment, path, text);
    }
    PromptLibrary {
        environment: Arc::new(environment),
        digest: None,
        replaced: Arc::default(),
        trial: None,
        texts: Arc::default(),
    }
});

/// Game and version of every folder of built-in templates.
static FOLDERS: LazyLock<BTreeSet<(&str, &str)>> = LazyLock::new(built_in_folders);

/// The version of each folder: a grid over ten thousand models asks for it as often.
static VERSIONS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let folders = FOLDERS
        .iter()
        .map(|(game, version)| format!("{game}/{version}/"));
    let versions = folders.map(|folder| {
        let version = prompts_version(BUILT_IN, std::slice::from_ref(&folder));
        (folder, version)
    });
    versions.collect()
});

/// Folder of the parts that all games share.
const SHARED: &str = "shared/";

/// Folder of the words for games that are played elsewhere and bring none of their own, and of the
/// folders of those that do: `outside/GAME/v1`.
const OUTSIDE: &str = "outside";

/// Instructions that one rendering may take: in a short game the longest built-in template
/// takes less than a fortieth of it.
const FUEL: u64 = 200_000;

/// Depth of includes, which count 10 each, and nested blocks; built-in templates stay
/// under 30.
const DEPTH: usize = 100;

/// Bytes of all templates that replace built-in ones; those have 184,000 in all.
const MOST_BYTES: usize = 1024 * 1024;

/// Work of all renderings while templates are tried out, a step or sixteen bytes each: the
/// built-in ones take 12 million in all games.
const TRIAL_WORK: u64 = 30_000_000;

/// Longest message about a template: it may quote a value.
const MESSAGE_LETTERS: usize = 300;

/// A set of templates. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PromptLibrary {
    environment: Arc<Environment<'static>>,
    digest: Option<String>,
    /// Paths of the built-in templates that others stand in the place of.
    replaced: Arc<BTreeSet<String>>,
    /// What is left of the work that trying them out may take, while they are tried out.
    trial: Option<Arc<AtomicU64>>,
    texts: Arc<Texts>,
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
    /// A path is not one of a built-in template; a text is no template, too long or
    /// nested too deeply. Whether they render is for [`crate::replaced`] to find out; until
    /// [`PromptLibrary::tried`], all renderings together are bounded.
    pub(crate) fn with_overrides(overrides: BTreeMap<String, String>) -> Result<Self, AgentError> {
        let mut library = Self::builtin();
        if overrides.is_empty() {
            return Ok(library);
        }
        if overrides.values().map(String::len).sum::<usize>() > MOST_BYTES {
            return Err(AgentError::Template {
                template: overrides.into_keys().next().unwrap_or_default(),
                message: format!("and those beside it have more than {MOST_BYTES} bytes"),
            });
        }
        library.digest = Some(digest(
            overrides.iter().map(|(path, text)| (&**path, &**text)),
        ));
        library.replaced = Arc::new(overrides.keys().cloned().collect());
        let mut environment = (*library.environment).clone();
        for (path, text) in overrides {
            if !is_built_in(&path) && !is_of_outside_game(&path) {
                return Err(unknown_path(path));
            }
            add_template(&mut environment, &path, &text)?;
        }
        library.environment = Arc::new(environment);
        library.texts = Arc::default();
        library.trial = Some(Arc::new(AtomicU64::new(TRIAL_WORK)));
        Ok(library)
    }

    /// The same library for play: each rendering is bounded by itself.
    pub(crate) fn tried(self) -> Self {
        Self {
            trial: None,
            ..self
        }
    }

    /// Digest of the templates that replace built-in ones, if any do.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Version of the agents and of the built-in templates in these folders and in the one
    /// that all games share: [`AGENTS_VERSION`] and a digest.
    pub(crate) fn version_of(folders: &[String]) -> String {
        let known = match folders {
            [folder] => VERSIONS.get(folder).cloned(),
            _ => None,
        };
        known.unwrap_or_else(|| prompts_version(BUILT_IN, folders))
    }

    /// Every built-in template in these folders, and of those that all games share: path and
    /// text, in the order of paths.
    pub(crate) fn templates_in(folders: &[String]) -> Vec<(&'static str, &'static str)> {
        let all = BUILT_IN.iter().copied();
        all.filter(|(path, _)| is_used(path, folders)).collect()
    }

    /// Whether templates in these folders, or those that all games share, are replaced.
    pub(crate) fn replaces(&self, folders: &[String]) -> bool {
        self.replaced.iter().any(|path| is_used(path, folders))
    }

    /// The prompt versions in the folder of a game, in order; none for a game without prompts.
    pub fn versions(&self, folder: &str) -> Vec<&str> {
        let all = FOLDERS.iter().copied();
        let built_in = all.filter(|(found, _)| *found == folder);
        let brought = self.replaced.iter().filter_map(|path| {
            let (version, file) = path
                .strip_prefix(folder)?
                .strip_prefix('/')?
                .split_once('/')?;
            let is_here = is_of_outside_game(path) && !file.contains('/');
            is_here.then_some(version)
        });
        let versions = built_in.map(|(_, version)| version).chain(brought);
        versions.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The folder in which the words for a game are: its own, or that of games which bring none.
    pub fn folder_of(&self, game: &str) -> String {
        if registry::find(game).is_ok() {
            return game.to_owned();
        }
        let own = format!("{OUTSIDE}/{game}");
        match self.versions(&own).is_empty() {
            true => OUTSIDE.to_owned(),
            false => own,
        }
    }

    /// Every game and version whose templates are replaced, in order; all of them where those are
    /// that all games share.
    pub(crate) fn touched(&self) -> Vec<(&'static str, &'static str)> {
        let all = FOLDERS.iter().copied();
        all.filter(|(game, version)| self.replaces(&[format!("{game}/{version}/")]))
            .collect()
    }

    /// Whether there is a template at this path.
    pub fn has(&self, path: &str) -> bool {
        is_built_in(path) || self.replaced.contains(path)
    }

    /// A text that other seats may have as well, kept once for all of them.
    pub fn shared(&self, text: String) -> Arc<str> {
        self.texts.shared(text)
    }

    /// Renders a template and trims blanks around it.
    ///
    /// # Errors
    /// There is no such template, or it does not render with these values.
    pub fn render(&self, path: &str, values: Value) -> Result<String, AgentError> {
        let mut written = budget::Written::default();
        let rendered = engine_fault::caught(|| {
            let template = self.environment.get_template(path)?;
            let rendered = template.render_captured_to(values, &mut written)?;
            Ok(budget::work(rendered.state(), &written))
        });
        let rendered = rendered.map_err(|message| AgentError::Template {
            template: path.to_owned(),
            message,
        })?;
        let work = rendered.map_err(|error: minijinja::Error| template_error(path, &error))?;
        if let Some(left) = &self.trial {
            let enough = left.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(work));
            enough.map_err(|_| AgentError::Template {
                template: path.to_owned(),
                message: format!(
                    "trying it in every game it is for takes more than {TRIAL_WORK} steps"
                ),
            })?;
        }
        Ok(written.text())
    }
}

/// An environment with what templates may use, and no more: nothing escapes marks, no filter
/// makes much of little.
fn empty_environment() -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    environment.set_recursion_limit(DEPTH);
    environment.set_syntax(syntax());
    filters::add_to(&mut environment);
    environment
}

/// Lines that hold only a block leave nothing behind.
fn syntax() -> SyntaxConfig {
    let syntax = SyntaxConfig::builder()
        .trim_blocks(true)
        .lstrip_blocks(true)
        .keep_trailing_newline(true)
        .build();
    // Only delimiters can make a syntax impossible, and they are the usual ones.
    syntax.unwrap_or_default()
}

/// Checks a template, then compiles it.
fn add_template(
    environment: &mut Environment<'static>,
    path: &str,
    text: &str,
) -> Result<(), AgentError> {
    let text = scan::bounded(text, &syntax()).map_err(|fault| AgentError::Template {
        template: path.to_owned(),
        message: format!("line {}: {}", fault.line, fault.message),
    })?;
    let added = engine_fault::caught(|| environment.add_template_owned(path.to_owned(), text));
    let added = added.map_err(|message| AgentError::Template {
        template: path.to_owned(),
        message,
    })?;
    added.map_err(|error| template_error(path, &error))
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

fn prompts_version(templates: &Templates, folders: &[String]) -> String {
    let used = templates.iter().copied();
    let digest = digest(used.filter(|(path, _)| is_used(path, folders)));
    let version = AGENTS_VERSION + versions::raised().prompts;
    format!("{version}-{digest}")
}

/// Whether a template lies in one of these folders, or where all games share it.
fn is_used(path: &str, folders: &[String]) -> bool {
    path.starts_with(SHARED) || folders.iter().any(|folder| path.starts_with(folder))
}

fn is_built_in(path: &str) -> bool {
    let found = BUILT_IN.binary_search_by_key(&path, |(known, _)| known);
    found.is_ok()
}

/// Whether a game that is played elsewhere may bring a template at this path.
fn is_of_outside_game(path: &str) -> bool {
    let parts: Vec<&str> = path.split('/').collect();
    let [OUTSIDE, game, version, file] = parts[..] else {
        return false;
    };
    let names = [Some(game), Some(version), file.strip_suffix(".j2")];
    names.iter().all(|name| name.is_some_and(is_identifier))
}

/// Where a template of a game that is played elsewhere stands in a library.
pub fn path_of_outside(game: &str, file: &str) -> String {
    format!("{OUTSIDE}/{game}/{DEFAULT_PROMPT}/{file}")
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
    let error = innermost(error);
    let template = error.name().unwrap_or(path).to_owned();
    let what = match (error.kind(), error.detail()) {
        (ErrorKind::WriteFailure, _) => {
            format!("more than {} bytes are written", budget::MOST_WRITTEN)
        }
        (_, Some(detail)) => detail.chars().take(MESSAGE_LETTERS).collect(),
        (kind, None) => kind.to_string(),
    };
    let message = match error.line() {
        Some(line) => format!("line {line}: {what}"),
        None => what,
    };
    AgentError::Template { template, message }
}

/// The error inside an included part: those around it only say that it is there.
fn innermost(error: &minijinja::Error) -> &minijinja::Error {
    let mut found = error;
    while let Some(inner) = found.source().and_then(|inner| inner.downcast_ref()) {
        found = inner;
    }
    found
}

#[cfg(test)]
mod tests;
