//! Targets that are files people write: experiments, configurations of the gateway with prices, teams
//! and tokens, and prompt templates. Their corpora are the presets, the example configuration and built-in templates.

use std::collections::BTreeMap;
use std::fs;

use agon_agent_gateway::GatewayConfig;
use agon_agent_gateway::catalogue::PriceTable;
use agon_coordinator::experiment::{
    AgentPlan, Estimates, ExperimentFile, Range, Writes, expand, plan,
};
use agon_identity::identity_file;
use agon_service_kit::tasks::with_causes;
use agon_tests::tree;
use tempfile::TempDir;

use super::Target;

/// Plans without what the agents add.
const ESTIMATES: Estimates<'_> = Estimates {
    writes: &|_, _, _| Writes::answers(1_024),
    agent: &|_, _| AgentPlan {
        own_calls: Range {
            expected: 0,
            most: 0,
        },
        own_calls_reason: false,
        reasons: false,
        own_prompts: false,
    },
};
use super::bytes::{change, changed};
use super::draw::Draw;

/// Sessions of an experiment that are looked at one by one.
const SESSIONS: usize = 20;

/// Values for keys of any kind.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "1000",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "0.5",
    "1e308",
    "-0.0",
    "nan",
    "inf",
    "true",
    "\"\"",
    "\"x\"",
    "\"0.01\"",
    "\"1h\"",
    "\"99999999999 days\"",
    "\"$1\"",
    "\"99999999999999999999.99\"",
    "[]",
    "[[]]",
    "[1, 2, 3]",
    "{}",
    "{ a = 1 }",
    "[0, 0.5, \"x\"]",
    "{ from = 0, to = 9, step = 1 }",
    "1970-01-01",
    "9999-12-31T23:59:59Z",
    "\"\\u0000\"",
];

const EXPERIMENT_WORDS: &[&str] = &[
    "name",
    "repeats",
    "seed",
    "budget",
    "[players.x]",
    "kind = \"rule\"",
    "kind = \"model\"",
    "strategy",
    "[[games]]",
    "game = \"pirate\"",
    "seats",
    "[games.grid]",
    "[games.params]",
    "rounds = 3",
    "[series]",
    "prompts",
    "model",
    "[report]",
    "worlds",
    "[games.world]",
    "temperature",
];

const GATEWAY_WORDS: &[&str] = &[
    "[providers.p]",
    "[models.m]",
    "[teams.t]",
    "[gateway]",
    "base_url",
    "keys",
    "env = \"X\"",
    "file = \"x\"",
    "requests_per_minute",
    "tokens_per_minute",
    "price",
    "limits",
    "weight",
    "patience = \"1s\"",
    "provider = \"p\"",
    "[[prices]]",
    "from = 2025-01-01",
    "models = [\"m\"]",
    "input",
    "output",
    "kind = \"gemini\"",
];

const IDENTITY_WORDS: &[&str] = &[
    "[teams.t]",
    "[tokens.t]",
    "sessions",
    "scopes",
    "scopes = [\"admin\"]",
    "team = \"red\"",
    "env = \"PATH\"",
    "file = \"/dev/zero\"",
    "file = \".\"",
];

const TEMPLATE_WORDS: &[&str] = &[
    "{{ me }}",
    "{% for a in range(900) %}",
    "{% endfor %}",
    "{% if me %}",
    "{% endif %}",
    "{% set a = ",
    "{% include \"shared/answer.j2\" %}",
    "|join",
    "|replace(",
    "|first",
    "range(1000)",
    " ~ ",
    "|named(",
    "|times(",
    "|sort",
    "|length",
    "{% raw %}",
    "{% endraw %}",
    "{% with a = 1 %}",
    "{% endwith %}",
    "[0]",
    ".a",
    "loop.index",
    " is odd",
    " if 1 else 2",
    " and ",
    "not ",
    "|default(1)",
    "[::-1]",
    "//0",
    "%0",
    "-9223372036854775808",
];

/// Lines of TOML with other values, doubled, moved and dropped, then bytes.
fn toml(draw: &mut Draw, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    if draw.one_in(3) {
        return changed(draw, corpus, words);
    }
    let text = String::from_utf8_lossy(draw.pick::<Vec<u8>>(corpus)).into_owned();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    for _ in 0..=draw.below(4) {
        let at = draw.below(lines.len());
        match draw.below(6) {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let line = lines.remove(at);
                lines.insert(draw.below(lines.len() + 1), line);
            }
            3 => lines.insert(at, format!("{} = {}", draw.pick(words), draw.pick(VALUES))),
            4 => lines.insert(at, (*draw.pick(words)).to_owned()),
            _ => {
                let keyed = (0..lines.len()).map(|step| (at + step) % lines.len());
                let keyed = keyed.into_iter().find(|line| lines[*line].contains('='));
                if let Some(line) = keyed {
                    let (key, _) = lines[line].split_once('=').unwrap_or_default();
                    lines[line] = format!("{key}= {}", draw.pick(VALUES));
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    let mut text = lines.join("\n").into_bytes();
    if draw.one_in(4) {
        change(draw, &mut text, corpus, words);
    }
    text
}

fn read(paths: impl IntoIterator<Item = std::path::PathBuf>) -> Vec<Vec<u8>> {
    let texts = paths
        .into_iter()
        .map(|path| fs::read(path).expect("a file of the project"));
    texts.collect()
}

/// Experiment files: read, checked, expanded, planned.
pub struct Experiments(Vec<Vec<u8>>);

impl Experiments {
    pub fn new() -> Self {
        let presets = tree::files(".toml").into_iter();
        Self(read(presets.filter(|path| {
            tree::short(path).starts_with("experiments/")
        })))
    }
}

impl Target for Experiments {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        toml(draw, &self.0, EXPERIMENT_WORDS)
    }

    fn run(&self, input: &[u8]) {
        let file = match ExperimentFile::parse_bytes("x.toml", input) {
            Ok(file) => file,
            Err(errors) => return drop(errors.to_string()),
        };
        let _ = file.missing_worlds();
        match file.check() {
            Err(errors) => drop(errors.to_string()),
            Ok(document) => {
                let _ = plan(&document, ESTIMATES);
                if let Ok(expansion) = expand(&document) {
                    let _ = expansion.into_sessions().take(SESSIONS).count();
                }
            }
        }
    }
}

/// The gateway's configuration, each of its models, and the table of prices.
pub struct Configurations(Vec<Vec<u8>>);

impl Configurations {
    pub fn new() -> Self {
        let root = tree::root();
        let files = [
            "agent-gateway/gateway.example.toml",
            "agent-gateway/prices.toml",
        ];
        let mut texts = read(files.map(|file| root.join(file)));
        let small = "[providers.p]\nbase_url = 'http://127.0.0.1:9/v1'\n[models.m]\nprovider = 'p'\n\
            [teams.t]\nweight = 2\n[gateway]\npatience = '1m'\n";
        texts.push(small.as_bytes().to_vec());
        Self(texts)
    }
}

impl Target for Configurations {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        toml(draw, &self.0, GATEWAY_WORDS)
    }

    fn run(&self, input: &[u8]) {
        let text = String::from_utf8_lossy(input);
        match GatewayConfig::parse("fuzz/x.toml", &text) {
            Err(error) => drop(error.to_string()),
            Ok(config) => {
                for model in ["m", "fast", "openai/gpt-4o", "p/x", ""] {
                    let _ = config
                        .resolve_without_keys(model)
                        .map_err(|error| error.to_string());
                }
            }
        }
        let _ = PriceTable::parse("x.toml", &text).map_err(|error| error.to_string());
    }
}

/// Teams and tokens, with the files of tokens that they name.
pub struct IdentityFiles {
    texts: Vec<Vec<u8>>,
    folder: TempDir,
}

impl IdentityFiles {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let token = folder.path().join("token");
        fs::write(&token, "a-token-of-many-characters").expect("a writable folder");
        let token = token.display();
        let small = format!(
            "[teams.red]\nsessions = 9\n[tokens.a]\nteam = 'red'\nscopes = ['submit', 'play']\n\
             file = '{token}'\n[tokens.b]\nscopes = ['worker']\nenv = 'PATH'\n"
        );
        let deployed = tree::root().join("deploy/identity.toml");
        let mut texts = read([deployed]);
        texts.push(small.into_bytes());
        Self { texts, folder }
    }
}

impl Target for IdentityFiles {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        toml(draw, &self.texts, IDENTITY_WORDS)
    }

    fn run(&self, input: &[u8]) {
        let file = self.folder.path().join("identity.toml");
        fs::write(&file, input).expect("a writable folder");
        let _ = identity_file::read(&file).map_err(|error| with_causes(&error));
    }
}

/// Templates in the place of built-in ones; each is rendered on a rehearsal of its games.
pub struct Templates {
    paths: Vec<String>,
    texts: Vec<Vec<u8>>,
}

impl Templates {
    pub fn new() -> Self {
        let folder = "agents/src/prompts/";
        let files: Vec<_> = tree::files(".j2")
            .into_iter()
            .filter_map(|path| Some((tree::short(&path).strip_prefix(folder)?.to_owned(), path)))
            .collect();
        let (paths, files): (_, Vec<_>) = files.into_iter().unzip();
        Self {
            paths,
            texts: read(files),
        }
    }
}

impl Target for Templates {
    fn input(&self, draw: &mut Draw) -> Vec<u8> {
        let mut chosen = draw.below(self.texts.len());
        if self.paths[chosen].starts_with("shared/") && !draw.one_in(10) {
            // Those are tried on every game, which takes long.
            chosen = draw.below(self.texts.len());
        }
        let mut text = self.texts[chosen].clone();
        for _ in 0..=draw.below(5) {
            if draw.one_in(2) {
                let at = draw.below(text.len() + 1);
                let word = draw.pick(TEMPLATE_WORDS).bytes();
                text.splice(at..at, word);
            } else {
                change(draw, &mut text, &self.texts, TEMPLATE_WORDS);
            }
        }
        let mut input = format!("{}\n", self.paths[chosen]).into_bytes();
        input.extend(text);
        input
    }

    fn run(&self, input: &[u8]) {
        let input = String::from_utf8_lossy(input);
        let (path, text) = input.split_once('\n').unwrap_or_default();
        let overrides = BTreeMap::from([(path.to_owned(), text.to_owned())]);
        match agon_agents::replaced(overrides) {
            Err(error) => drop(error.to_string()),
            Ok(library) => drop(library.render(path, minijinja::context! {})),
        }
    }
}
