//! Records to be judged: an experiment of the game `judging` plays one entry per judged
//! player. Reads records and changes the experiment's file before it is checked; what
//! judges are told of a record, the report crate writes. Called by
//! `experiment_arguments.rs`.

mod assigning;

use std::collections::BTreeSet;
use std::path::PathBuf;

use agon_agents::narrator::{Narrator, Telling};
use agon_agents::settings::DEFAULT_PROMPT;
use agon_agents::{PlayerSettings, PromptLibrary};
use agon_coordinator::experiment::ExperimentFile;
use agon_engine::record::StoredRecord;
use agon_engine::session::info_of;
use agon_engine::spec::Settings;
use agon_engine::{PlayerKind, PlayerSpec, Seat, View};
use agon_outlets::InLine as _;
use agon_report::story;
use agon_service_kit::tasks::with_causes;
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::inviting;
use crate::lines::{self, LineError, MOST_UNREADABLE};
use crate::output;
use crate::run_folder;

/// The game that judges play.
const JUDGING: &str = "judging";

/// The setting of a player that says which model it is.
const MODEL: &str = "model";

/// Digits of a session's id in labels.
const DIGITS: usize = 8;

/// Before the labels of those who judge themselves; tables count their marks apart.
const PERSONS: &str = "persons";

/// How many are judged unless said otherwise (Mao et al., arXiv 2311.03220, section 7).
pub const USUAL: u32 = 30;

/// Heading of the help text.
const HEADING: &str = "Judging";

/// Whose play is judged, and by whom.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct JudgingArguments {
    /// For an experiment that judges: the finished sessions whose players are judged, a
    /// run's folder or a file of records
    #[arg(long, value_name = "RESULTS", help_heading = HEADING)]
    pub records: Option<PathBuf>,
    /// With --records: how many players are judged; which ones, follows from their sessions
    #[arg(long, value_name = "N", default_value_t = USUAL, requires = "records", help_heading = HEADING,
          value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub judged: u32,
    /// With --records: how many of the seated judges rate each record, in turn, so that all rate
    /// equally many, and each two about equally often the same [default: all]
    #[arg(long, value_name = "K", requires = "records", help_heading = HEADING, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub judges: Option<u32>,
    /// With --records: people rate their own games, each person the records in which it played, and
    /// no others; their marks are counted apart
    #[arg(long, requires = "records", conflicts_with = "judges", help_heading = HEADING)]
    pub own: bool,
}

impl JudgingArguments {
    /// As typed, of what is not usual.
    pub fn changes(&self) -> Vec<String> {
        let Some(records) = &self.records else {
            return Vec::new();
        };
        let mut changes = vec![
            format!("--records {}", records.to_string_lossy()),
            format!("--judged {}", self.judged),
        ];
        changes.extend(self.judges.map(|judges| format!("--judges {judges}")));
        changes.extend(self.own.then(|| "--own".to_owned()));
        changes
    }
}

/// One player of one session.
struct Judged {
    /// Sorts players in an order that has nothing to do with what they did.
    lot: String,
    /// The name under which its person was invited, if it was one.
    person: Option<String>,
    /// Which record it is, and which seat.
    place: (usize, Seat),
    label: String,
    has_persona: bool,
    params: Value,
}

/// Puts the players of the records into the file that is judged, if there are any: half with a
/// persona and half without, as far as there are as many of each. Which ones, follows from
/// their sessions' ids alone.
///
/// # Errors
/// The file's only game is not `judging`; a record cannot be read; there is none; there are
/// fewer judges than each record is to have.
pub fn add(file: &mut ExperimentFile, arguments: &JudgingArguments) -> Result<(), Failure> {
    let Some(records) = &arguments.records else {
        return Ok(());
    };
    let flag = format!("--records {}", records.in_line());
    let entry = match file.games() {
        [only] if only.get("game").and_then(Value::as_str) == Some(JUDGING) => only.clone(),
        _ => {
            return Err(Failure::BadInput(format!(
                "{flag}: records are judged by an experiment whose only game is \"{JUDGING}\", \
                 such as alympics/judging"
            )));
        }
    };
    let mut judged = read(records)?;
    if judged.is_empty() {
        return Err(Failure::BadInput(format!(
            "{flag}: there are no finished sessions"
        )));
    }
    if arguments.own {
        judged.retain(|one| one.person.is_some());
        if judged.is_empty() {
            return Err(Failure::BadInput(format!(
                "{flag}: no person played in these sessions, so nobody can judge their own; people \
                 are players with the model `human/NAME`"
            )));
        }
    }
    let mut judged = drawn(judged, arguments.judged as usize);
    judged.sort_by_key(|one| one.place);
    let mut entries: Vec<Value> = judged.iter().map(|one| with_record(&entry, one)).collect();
    if arguments.own {
        for (entry, judged) in entries.iter_mut().zip(&judged) {
            let Some(door) = &judged.person else { continue };
            assigning::seat_person(file, entry, door)?;
        }
    } else if let Some(each) = arguments.judges {
        assigning::take_turns(&mut entries, each as usize)?;
    }
    file.replace_games(entries, &flag);
    Ok(())
}

/// At most `most` of the players, in order of their lots: half of them with a persona, as the
/// paper draws 15 and 15 (section 7), as far as there are as many of each kind.
fn drawn(mut judged: Vec<Judged>, most: usize) -> Vec<Judged> {
    judged.sort_by(|one, other| one.lot.cmp(&other.lot));
    let (mut with, mut without): (Vec<Judged>, Vec<Judged>) =
        judged.into_iter().partition(|one| one.has_persona);
    let half = most / 2;
    let of_those_with = half.max(most.saturating_sub(without.len()));
    with.truncate(of_those_with);
    without.truncate(most - with.len());
    with.extend(without);
    with
}

/// Every model player of every record; where none plays, every player.
fn read(records: &std::path::Path) -> Result<Vec<Judged>, Failure> {
    let bad = |error: LineError| Failure::BadInput(error.to_string());
    let mut judged = Vec::new();
    // A session may lie in several of the folders.
    let mut seen = BTreeSet::new();
    // Of a folder of results what it shows: one run, not several mixed.
    for file in run_folder::records::below(records, None)?.shown {
        let file = file.map_err(bad)?;
        let mut unreadable = 0;
        for line in lines::read(&file) {
            if unreadable == MOST_UNREADABLE {
                break;
            }
            let read = line.and_then(|line| {
                let record = StoredRecord::from_line(&line.text);
                record.map_err(|error| LineError::at(&line, with_causes(&error)))
            });
            let record = match read {
                Ok(record) => record,
                // As `agon show` does: what a crash cut off is no reason to judge nothing.
                Err(error) => {
                    unreadable += 1;
                    output::tell(&format!("unreadable: {error}"));
                    continue;
                }
            };
            if record.spec.game == JUDGING {
                continue;
            }
            let place = seen.len();
            if seen.insert(record.session.clone()) {
                judged.extend(players(&record, place));
            }
        }
    }
    Ok(judged)
}

fn players(record: &StoredRecord, session: usize) -> Vec<Judged> {
    let seats = &record.spec.seats;
    let thinks = |seat: &Seat| seats[*seat].kind == PlayerKind::Model;
    let thinking: Vec<Seat> = (0..seats.len()).filter(thinks).collect();
    let all = if thinking.is_empty() {
        (0..seats.len()).collect()
    } else {
        thinking
    };
    let id = record.session.to_string();
    let players = all.into_iter().map(|seat| {
        let name = story::name_in_game(record, seat);
        let has_persona = story::persona(record, seat).is_some();
        // An id is a hash; turned by the seat it is another one.
        let turn = (seat * 5 + 1) % id.len();
        let model = seats[seat].settings.get(MODEL).and_then(Value::as_str);
        Judged {
            lot: format!("{}{}", &id[turn..], &id[..turn]),
            person: model.and_then(inviting::door_of).map(str::to_owned),
            place: (session, seat),
            label: format!("{}-{seat}-{}", plain(&name), &id[..DIGITS]),
            has_persona,
            params: json!({
                "record": told(record, seat, &name),
                "judged": name,
                "has_persona": has_persona,
            }),
        }
    });
    players.collect()
}

/// What judges are told of a player: the rules as players are told them, and what it saw,
/// said and concluded.
fn told(record: &StoredRecord, seat: Seat, name: &str) -> String {
    match in_words(record, seat) {
        Some((rules, told)) => {
            let happened = story::for_judges(record, seat, told);
            format!(
                "This is the game as {name} saw it. In the rules and in what happened, \"you\" is \
                 {name}.\n\n{rules}\n\n{happened}"
            )
        }
        None => story::for_judges(record, seat, Vec::new()),
    }
}

/// The rules in the words of the built-in prompts, of the version that the player had if it was
/// a model, and each event, if the seat was told of it; none for a game without any prompts.
fn in_words(record: &StoredRecord, seat: Seat) -> Option<(String, Vec<String>)> {
    let own = record.spec.seats.get(seat)?.settings.get("prompt");
    let prompt = own.cloned().unwrap_or_else(|| DEFAULT_PROMPT.into());
    let anybody = PlayerSpec {
        name: "anybody".to_owned(),
        kind: PlayerKind::Model,
        settings: Settings::from([
            ("model".to_owned(), "any".into()),
            ("prompt".to_owned(), prompt),
        ]),
    };
    let settings = PlayerSettings::read(&anybody, &[]).ok()?;
    let info = info_of(&record.spec)?;
    let mut narrator = Narrator::new(&settings, &info, seat, PromptLibrary::builtin());
    let mut rules = None;
    let events = record.events.iter().map(|event| {
        let mut told = Vec::new();
        for sight in View::new(seat, std::slice::from_ref(event)).sights() {
            match narrator.tell(&sight.to_event()).ok()? {
                Telling::Rules(text) => rules = Some(text),
                Telling::News(text) | Telling::Result(text) => told.push(text),
                Telling::Nothing => {}
            }
        }
        Some(told.join("\n"))
    });
    let told = events.collect::<Option<Vec<String>>>()?;
    Some((rules?, told))
}

/// A name in the letters that labels may have.
fn plain(name: &str) -> String {
    /// Letters of a label that are left for a name.
    const LONGEST: usize = 60;
    let letters = name.chars().take(LONGEST);
    letters
        .map(|letter| {
            if letter.is_ascii_alphanumeric() || letter == '_' {
                letter
            } else {
                '-'
            }
        })
        .collect()
}

/// The experiment's entry for one judged player.
fn with_record(entry: &Value, judged: &Judged) -> Value {
    let mut entry = entry.as_object().cloned().unwrap_or_default();
    let params = entry.entry("params").or_insert_with(|| json!({}));
    let own = judged.params.as_object().cloned().unwrap_or_default();
    let given = params.as_object().cloned().unwrap_or_default();
    *params = Value::Object(given.into_iter().chain(own).collect::<Map<_, _>>());
    // A label of the file's own tells whose marks these are.
    let given = entry.get("label").and_then(Value::as_str);
    let label = match given {
        Some(given) => format!("{given}-{}", judged.label),
        None => judged.label.clone(),
    };
    entry.insert("label".to_owned(), label.into());
    Value::Object(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn players(with: usize, without: usize) -> Vec<Judged> {
        let kinds = std::iter::repeat_n(true, with).chain(std::iter::repeat_n(false, without));
        let one = |(place, has_persona): (usize, bool)| Judged {
            lot: format!("{:02}", place * 37 % 100),
            person: None,
            place: (place, 0),
            label: String::new(),
            has_persona,
            params: Value::Null,
        };
        kinds.enumerate().map(one).collect()
    }

    #[test]
    fn half_of_those_who_are_judged_have_a_persona() {
        let cases = [
            ((40, 40), 30, (15, 15)),
            ((4, 40), 30, (4, 26)),
            ((40, 4), 30, (26, 4)),
            ((5, 5), 30, (5, 5)),
            ((40, 40), 1, (0, 1)),
            ((40, 0), 1, (1, 0)),
        ];
        for ((with, without), most, expected) in cases {
            let all = players(with, without);
            let drawn = drawn(all, most);
            let found = drawn.iter().filter(|one| one.has_persona).count();
            assert_eq!(
                (found, drawn.len() - found),
                expected,
                "{with} and {without}"
            );
            let mut lots = drawn
                .iter()
                .filter(|one| one.has_persona)
                .map(|one| &one.lot);
            assert!(lots.clone().is_sorted() && lots.all(|lot| lot.len() == 2));
        }
    }
}
