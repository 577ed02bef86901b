//! `agon replay`: recorded games, played again through the engine. Reads files and
//! counts; what a difference is, the engine's `replay` decides. Started by
//! `commands.rs`.

use std::path::{Path, PathBuf};

use agon_engine::replay::{RecordedGame, replay};
use agon_outlets::InLine as _;
use serde::Serialize;

use crate::failure::Failure;
use crate::lines::{self, LineError, MOST_UNREADABLE};
use crate::output;
use from_text::Readings;

mod from_text;

const EXAMPLES: &str = "Examples:
  agon replay recorded/gamma               a folder of recorded games
  agon replay recorded/*.jsonl.gz --json   one JSON object
  agon replay --from-text recorded/wac.jsonl.gz
                                           with bids read from the replies

A mismatch, and a reply that is read as another answer than the recorded one, end with exit code 1; \
a reply that is read as none is listed, and its recorded answer is played.";

/// Unreadable lines that are named.
const NAMED: usize = 5;

/// How the records begin that `agon run` writes.
const OWN_RECORD: &str = "{\"agon_record\":";

/// Arguments of `agon replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Replay {
    /// Files (.jsonl or .jsonl.gz), folders of them, or - for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON object instead of text
    #[arg(long)]
    json: bool,
    /// Take the answers from the recorded replies in prose, as those of players are read,
    /// instead of the recorded answers; also takes files of single replies
    #[arg(long)]
    from_text: bool,
}

/// What came out, in the form that `--json` prints.
#[derive(Debug, Default, Serialize)]
struct Summary {
    games: usize,
    matched: usize,
    mismatched: Vec<Mismatch>,
    /// Games whose records have a fault of their own and match up to it; they count
    /// in neither number above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faulty_records: Vec<Mismatch>,
    /// With --from-text, what became of the replies.
    #[serde(skip_serializing_if = "Option::is_none")]
    readings: Option<Readings>,
    /// Lines and files that could not be read; they count as no game.
    #[serde(skip)]
    unreadable: usize,
}

#[derive(Debug, Serialize)]
struct Mismatch {
    id: String,
    why: String,
}

/// Replays everything named, in the order named.
///
/// # Errors
/// Exit 1 on a mismatch, 2 on unreadable input (which wins).
pub fn run(arguments: &Replay) -> Result<(), Failure> {
    let mut summary = Summary {
        readings: arguments.from_text.then(Readings::default),
        ..Summary::default()
    };
    for path in &arguments.files {
        for file in lines::files(path) {
            match file {
                Ok(file) => replay_file(&file, arguments.json, &mut summary),
                Err(error) => unreadable(&error, &mut summary),
            }
        }
    }
    report(arguments.json, &summary)
}

fn replay_file(path: &Path, json: bool, summary: &mut Summary) {
    let before = summary.unreadable;
    for line in lines::read(path) {
        if summary.unreadable - before >= MOST_UNREADABLE {
            let path = path.in_line();
            output::tell(&format!(
                "unreadable: {path}: not read on after {MOST_UNREADABLE} unreadable lines"
            ));
            return;
        }
        let line = match line {
            Ok(line) => line,
            Err(error) => {
                unreadable(&error, summary);
                continue;
            }
        };
        if let Some(readings) = &mut summary.readings
            && readings.of_reply(&line.text, json)
        {
            continue;
        }
        if line.text.starts_with(OWN_RECORD) {
            summary.unreadable += 1;
            let path = path.in_line();
            output::tell(&format!(
                "unreadable: {path} holds records of Agon itself: play them again with `agon verify \
                 {path}`"
            ));
            return;
        }
        match RecordedGame::from_json(&line.text) {
            Err(error) => {
                let error = LineError::at(&line, agon_service_kit::tasks::with_causes(&error));
                unreadable(&error, summary);
            }
            Ok(mut game) => {
                if let Some(readings) = &mut summary.readings {
                    readings.of_game(&mut game, json);
                }
                let verdict = replay(&game);
                if let Some(why) = verdict.record_fault.clone().filter(|_| verdict.matched()) {
                    let id = verdict.id;
                    if !json {
                        output::print(&format!("faulty record {id}: {why}"));
                    }
                    summary.faulty_records.push(Mismatch { id, why });
                    continue;
                }
                summary.games += 1;
                if verdict.matched() {
                    summary.matched += 1;
                    continue;
                }
                let why = verdict.mismatches.join("; ");
                if !json {
                    output::print(&format!("mismatch {}: {why}", verdict.id));
                }
                summary.mismatched.push(Mismatch {
                    id: verdict.id,
                    why,
                });
            }
        }
    }
}

fn unreadable(error: &LineError, summary: &mut Summary) {
    summary.unreadable += 1;
    match summary.unreadable {
        ..=NAMED => output::tell(&format!("unreadable: {error}")),
        further if further == NAMED + 1 => output::tell("unreadable: further lines are not listed"),
        _ => {}
    }
}

fn report(json: bool, summary: &Summary) -> Result<(), Failure> {
    let Summary {
        games,
        matched,
        mismatched,
        faulty_records,
        readings,
        unreadable,
    } = summary;
    let replies = readings.as_ref().map_or(0, Readings::replies);
    let misread = readings.as_ref().map_or(0, Readings::misread);
    if json {
        let text = serde_json::to_string(summary).map_err(Failure::surroundings)?;
        output::print_json(&text);
    } else {
        let share = if *games == 0 {
            0.0
        } else {
            100.0 * *matched as f64 / *games as f64
        };
        let apart = match faulty_records.len() {
            0 => String::new(),
            faulty => format!("; {faulty} more up to a fault of their record"),
        };
        if let Some(readings) = readings.as_ref().filter(|_| replies > 0) {
            output::print(&readings.in_words());
        }
        if *games > 0 || (replies == 0 && *unreadable == 0) {
            output::print(&format!(
                "{matched} of {games} games matched ({share:.1} %){apart}"
            ));
        }
    }
    if *unreadable > 0 {
        let lines = output::counted(*unreadable as u64, "line");
        let is = if *unreadable == 1 { "is" } else { "are" };
        return Err(Failure::BadInput(match games + replies {
            0 => {
                "no recorded games were found, and what could not be read is named above; files of \
                  recorded games hold one JSON object per line"
                    .to_owned()
            }
            _ => format!("{lines} {is} no recorded game, see above; all others were replayed"),
        }));
    }
    if readings.is_some() && replies == 0 {
        let message = "no recorded replies were found; --from-text needs some";
        return Err(Failure::BadInput(message.to_owned()));
    }
    if *games == 0 && faulty_records.is_empty() && replies == 0 {
        return Err(Failure::BadInput("no recorded games were found".to_owned()));
    }
    match mismatched.len() {
        0 if misread == 1 => Err(Failure::BadNews(
            "1 reply was read as another answer than the one that was used".to_owned(),
        )),
        0 if misread > 0 => Err(Failure::BadNews(format!(
            "{misread} replies were read as other answers than those that were used"
        ))),
        0 => Ok(()),
        1 => Err(Failure::BadNews("1 game did not match".to_owned())),
        several => Err(Failure::BadNews(format!("{several} games did not match"))),
    }
}
