//! What a run leaves in its folder: an entry that says what was run before anything is played, the
//! results as far as it got, and in the end what became of it. Plays nothing and follows nothing.
//! Called by `agon run`, `agon play` and `agon results pull`.

use std::collections::BTreeMap;

use agon_coordinator::experiment::ExperimentDocument;
use agon_engine::versions;
use agon_outlets::InLine as _;
use agon_proto::v1::{SubmitExperimentResponse, WatchExperimentResponse};
use agon_report::grouped;
use agon_service_kit::secrets::shown_address;
use agon_service_kit::secrets::without_what_looks_like_keys as without_keys;
use agon_worker::Transport;

use crate::coordinators;
use crate::experiment_arguments::{CheckedExperiment, as_file};
use crate::failure::Failure;
use crate::fetching::{self, FETCHED, FetchError, Fetched};
use crate::output::{self, counted};
use crate::progress::CountProgress;
use crate::results::{self, Results};
use crate::run_folder::account::{Counts, Outcome, Source, State, Versions};
use crate::run_folder::{self as files, Account, Entry, RunFolder, digest, history};

/// Results that cannot be read and are named one by one.
const MOST_UNREADABLE: usize = 5;

/// Templates that replace built-in ones, by their path.
type Templates = BTreeMap<String, String>;

/// Shows a run's results beside the history, and says what was kept from being replaced.
///
/// # Errors
/// They cannot be written.
pub fn publish(folder: &RunFolder, entry: &Entry) -> Result<(), Failure> {
    for kept in folder.publish(entry)? {
        let kept = kept.in_line();
        output::tell(&format!(
            "a results file was changed since agon wrote it, and is kept as {kept}"
        ));
    }
    Ok(())
}

/// A run that leaves something.
pub struct Keeping {
    folder: RunFolder,
    entry: Entry,
    document: ExperimentDocument,
    /// What the coordinator said when the experiment was handed in.
    submitted: SubmitExperimentResponse,
    /// Whether results are fetched over the network, so that what was fetched is kept whatever
    /// happens.
    is_remote: bool,
    /// Whether it is not shown how much is fetched.
    quiet: bool,
}

impl Keeping {
    /// Makes the entry of a run that begins now, with all that is run.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin(
        folder: RunFolder,
        checked: &CheckedExperiment,
        state: State,
    ) -> Result<Self, Failure> {
        let CheckedExperiment {
            document,
            templates,
            ..
        } = checked;
        let account = Account {
            changes: checked.changes.iter().map(|flag| discreet(flag)).collect(),
            source: Source {
                name: checked.source.clone(),
                digest: digest(checked.text.as_bytes()),
            },
            ..account(document, templates, state)
        };
        let mut this = Self::start(folder, account, document, templates)?;
        this.entry.write(files::ORIGINAL, &checked.text)?;
        this.entry.account.versions.rules.clone_from(&checked.rules);
        this.entry.write_account()?;
        Ok(this)
    }

    /// Makes the entry of what is fetched from a coordinator, that was handed in by somebody else.
    /// The rules are those of the records.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn begin_pull(
        folder: RunFolder,
        document: &ExperimentDocument,
        templates: &Templates,
        state: State,
    ) -> Result<Self, Failure> {
        let account = Account {
            source: Source {
                name: format!("experiment {}", document.name),
                digest: digest(&document.to_json()),
            },
            ..account(document, templates, state)
        };
        Self::start(folder, account, document, templates)
    }

    fn start(
        folder: RunFolder,
        account: Account,
        document: &ExperimentDocument,
        templates: &Templates,
    ) -> Result<Self, Failure> {
        let is_remote = account.state.coordinator.is_some();
        let entry = folder.begin(account)?;
        let file = as_file(document, templates, files::TEMPLATES)?;
        entry.write(files::EXPERIMENT, &file)?;
        let text = serde_json::to_string_pretty(document).map_err(Failure::surroundings)?;
        entry.write(files::DOCUMENT, &(text + "\n"))?;
        entry.write_all(files::TEMPLATES, templates)?;
        Ok(Self {
            folder,
            entry,
            document: document.clone(),
            submitted: SubmitExperimentResponse::default(),
            is_remote,
            quiet: true,
        })
    }

    /// Shows how much is fetched.
    pub fn show_fetching(&mut self) {
        self.quiet = false;
    }

    /// Fetches what is finished and not in the entry yet, of a coordinator elsewhere.
    ///
    /// # Errors
    /// The coordinator does not answer, or the entry cannot be written.
    pub async fn fetch(&self, experiments: Transport, finished: u64) -> Result<Fetched, Failure> {
        let mut client = results::experiment_client(experiments);
        let mut progress =
            CountProgress::start(self.quiet, "fetched", "finished session", Some(finished));
        // Admins name an experiment with its team, which its document does not.
        let name = &self.submitted.experiment_id;
        let fetched = fetching::fetch(&mut client, name, &self.entry, &mut progress).await;
        fetched.map_err(|error| match error {
            FetchError::File(failure) => failure,
            FetchError::Refused(refusal) => results::refused("the coordinator", &refusal),
        })
    }

    /// Where the files of this run are, for good.
    pub fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Notes what a coordinator said when the experiment was handed in. What an earlier run had
    /// fetched of the same results is taken over.
    ///
    /// # Errors
    /// The account cannot be written, or the file not be moved.
    pub fn submitted(&mut self, submitted: &SubmitExperimentResponse) -> Result<(), Failure> {
        self.submitted = submitted.clone();
        self.document.origins = agon_coordinator::origins(&submitted.origins);
        self.entry.account.models.clone_from(&self.document.origins);
        if self.is_remote {
            self.folder.take_over(&self.entry, FETCHED)?;
        }
        self.entry.write_account()
    }

    /// Says of each model that answers elsewhere than in the run before this one: its sessions are
    /// other ones now, and someone who only moved a server should know how to go on.
    pub fn moved_models(&self) -> Vec<String> {
        let results = history::results(self.folder.path());
        let runs = results.map_or_else(Vec::new, |results| results.runs);
        let mut earlier = runs.into_iter().rev().filter_map(|run| run.account);
        let now = &self.entry.account;
        let before = earlier.find(|account| account.run < now.run && !account.models.is_empty());
        before.map_or_else(Vec::new, |before| moved(&before, now))
    }

    /// Keeps what is done and prints its tables; says how many sessions that is.
    ///
    /// # Errors
    /// The coordinator does not answer, or the folder cannot be written.
    pub async fn collect(
        &mut self,
        experiments: Transport,
        state: &WatchExperimentResponse,
    ) -> Result<u64, Failure> {
        let (tables, done) = self.keep(experiments, state).await?;
        output::print(&tables);
        Ok(done)
    }

    /// Fetches what is done and keeps it; answers its tables, and how many sessions that is.
    ///
    /// # Errors
    /// The coordinator does not answer, or the folder cannot be written.
    pub async fn keep(
        &mut self,
        experiments: Transport,
        state: &WatchExperimentResponse,
    ) -> Result<(String, u64), Failure> {
        let results = match self.is_remote {
            true => Results::Fetched(self.fetch(experiments, state.done).await?.in_order()),
            false => {
                let client = results::experiment_client(experiments);
                Results::stream(client, &self.document.name).await?
            }
        };
        let (grid, all) = (self.submitted.grid, self.submitted.sessions);
        let collected = results::collect(results, &self.document, grid, &self.entry).await?;
        let done = collected.done;
        if self.is_remote && done == all {
            self.entry.remove_unfinished(FETCHED)?;
        }
        let rules = &mut self.entry.account.versions.rules;
        if rules.is_empty() {
            *rules = collected.rules;
        }
        let heading = self.heading(done, all);
        let summary = format!("{heading}\n\n{}", collected.tables);
        self.entry
            .write(files::SUMMARY, &output::printed(&summary))?;
        let aside = state.parked.iter().chain(&state.dead);
        self.entry.account.sessions = Some(Counts {
            all,
            done,
            done_before: self.submitted.already_done,
            set_aside: aside
                .map(|one| (one.session_id.clone(), one.reason.clone()))
                .collect(),
        });
        self.entry.write_account()?;
        // A run that was stopped before its first result does not replace the results of another.
        if done > 0 || !self.folder.shows_results()? {
            publish(&self.folder, &self.entry)?;
        }
        if collected.strangers > 0 {
            let strangers = counted(collected.strangers, "session");
            output::tell(&format!(
                "left out {strangers} of another version of {}: it was submitted again during this run",
                self.document.name
            ));
        }
        let unreadable = &collected.unreadable;
        for (session, fault) in unreadable.iter().take(MOST_UNREADABLE) {
            output::tell(&format!(
                "left out session {session}, whose result in the coordinator's store cannot be read: {fault}"
            ));
        }
        if let Some(more) = unreadable.len().checked_sub(MOST_UNREADABLE + 1) {
            let more = counted(more as u64 + 1, "further session");
            output::tell(&format!("left out {more} for such reasons"));
        }
        Ok((format!("{heading}\n\n{}", collected.shown), done))
    }

    /// The first line of the tables: which run they show.
    fn heading(&self, done: u64, all: u64) -> String {
        let Account {
            run,
            experiment,
            started,
            changes,
            ..
        } = &self.entry.account;
        let changed = match changes.is_empty() {
            true => String::new(),
            false => format!(", with {}", changes.join(" ")),
        };
        let (done, all) = (grouped(done), grouped(all));
        format!("Run {run} of {experiment}, {started}: {done} of {all} sessions{changed}")
    }

    /// Where everything is, in words.
    pub fn whereabouts(&self) -> String {
        let (folder, entry) = (self.folder.path(), self.entry.path());
        let runs = history::results(folder).map_or(1, |results| results.runs.len());
        let others = match runs.saturating_sub(1) {
            0 => String::new(),
            others => format!(
                "; {} beside it, `agon runs {}` lists them",
                counted(others as u64, "other run"),
                folder.in_line()
            ),
        };
        format!(
            "results in {}\nthis run is kept in {}{others}\nstate {}",
            folder.in_line(),
            entry.in_line(),
            self.entry.account.state.in_words()
        )
    }

    /// What Ctrl-C says while results are fetched.
    pub fn stopped(&self) -> Failure {
        Failure::Interrupted(format!(
            "what was fetched is kept in {}, and the same command continues from there",
            self.entry.path().in_line()
        ))
    }

    /// Completes the account: what became of the run.
    ///
    /// # Errors
    /// How it ended, or else that the account cannot be written.
    pub fn finish(self, ended: Result<(), Failure>) -> Result<(), Failure> {
        let outcome = match &ended {
            Ok(()) => Outcome::Complete,
            Err(Failure::BadNews(_)) => Outcome::BadNews,
            Err(Failure::Paused(_)) => Outcome::Paused,
            Err(Failure::Interrupted(_)) => Outcome::Interrupted,
            Err(Failure::BadInput(_) | Failure::Surroundings(_)) => Outcome::Failed,
        };
        self.finish_as(outcome, ended)
    }

    /// Completes the account of what ended well without coming to its end.
    ///
    /// # Errors
    /// As [`Keeping::finish`].
    pub fn finish_as(
        mut self,
        outcome: Outcome,
        ended: Result<(), Failure>,
    ) -> Result<(), Failure> {
        let account = &mut self.entry.account;
        account.ended = Some(files::now());
        account.outcome = outcome;
        let reason = ended.as_ref().err().map(ToString::to_string);
        account.reason = reason.map(|reason| without_keys(&reason));
        let written = self.entry.write_account();
        ended.and(written)
    }
}

fn account(document: &ExperimentDocument, templates: &Templates, state: State) -> Account {
    let templates = templates.iter();
    Account {
        command: command(std::env::args()),
        document: digest(&document.to_json()),
        versions: Versions {
            agon: env!("CARGO_PKG_VERSION").to_owned(),
            record: versions::record(),
            prompts: document.prompts.clone(),
            ..Versions::default()
        },
        prompt_bundle: document.prompt_bundle.clone(),
        templates: templates
            .map(|(path, text)| (path.clone(), digest(text.as_bytes())))
            .collect::<BTreeMap<_, _>>(),
        state: State {
            data: state.data,
            redis: state.redis.map(|url| shown_address(&url)),
            coordinator: state.coordinator.map(|urls| coordinators::shown(&urls)),
        },
        ..Account::default()
    }
}

fn moved(before: &Account, now: &Account) -> Vec<String> {
    let moved = now.models.iter().filter_map(|(model, origin)| {
        let was = before.models.get(model)?;
        (was != origin).then(|| {
            let (run, endpoint) = (before.run, &was.endpoint);
            format!(
                "in run {run}, {model} was {was}. Sessions played at another address count as \
                 different sessions, so the results of run {run} are not used. If the same model \
                 has only moved, add `--endpoint {endpoint}` (in agon.toml: `endpoint` of its \
                 provider)"
            )
        })
    });
    moved.collect()
}

/// A command line without secrets.
fn command(arguments: impl Iterator<Item = String>) -> Vec<String> {
    arguments.map(|argument| discreet(&argument)).collect()
}

/// A word of the command line without the secrets that addresses may hold, and without anything
/// that looks like a key.
fn discreet(argument: &str) -> String {
    let (flag, value) = match argument.split_once('=') {
        Some((flag, value)) if flag.starts_with("--") => (format!("{flag}="), value),
        _ => (String::new(), argument),
    };
    let value = match value.contains("://") {
        true => shown_address(value),
        false => value.to_owned(),
    };
    without_keys(&format!("{flag}{value}"))
}

#[cfg(test)]
mod tests {
    use agon_engine::spec::Origin;

    use super::*;

    fn at(run: u32, endpoint: &str) -> Account {
        let origin = Origin {
            provider_kind: "openai".to_owned(),
            endpoint: endpoint.to_owned(),
            provider_model: "m-1".to_owned(),
            additions: String::new(),
        };
        Account {
            run,
            models: BTreeMap::from([("m".to_owned(), origin)]),
            ..Account::default()
        }
    }

    #[test]
    fn model_that_moved_is_mentioned_with_the_way_to_go_on() {
        assert!(moved(&at(1, "a"), &at(2, "a")).is_empty());
        let lines = moved(&at(1, "http://a/v1"), &at(2, "b"));
        assert_eq!(lines.len(), 1);
        for words in [
            "in run 1, m was m-1 at http://a/v1",
            "--endpoint http://a/v1",
        ] {
            assert!(lines[0].contains(words), "`{words}` is not in {}", lines[0]);
        }
    }

    #[test]
    fn command_line_is_kept_shown_address() {
        for (typed, kept) in [
            ("run", "run"),
            ("--redis", "--redis"),
            ("redis://me:word@host:1/0", "redis://host:1/0"),
            ("--redis=redis://:word@host", "--redis=redis://host"),
            ("http://me:word@host/v1?key=word", "http://host/v1"),
            ("--base-url=https://host/v1", "--base-url=https://host/v1"),
            ("--set=params.rounds=1", "--set=params.rounds=1"),
            ("players.a.note=sk-0123456789abcdef", "players.a.note=[key]"),
        ] {
            assert_eq!(discreet(typed), kept);
        }
    }
}
