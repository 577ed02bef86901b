//! `agon diff`: two finished sessions line by line, as `agon show` tells them: what differs in what
//! was played, and from where on they went apart. Started by `commands.rs`.

use std::path::PathBuf;

use agon_engine::record::StoredRecord;
use agon_outlets::InLine as _;
use agon_report::{Telling, story};
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

use crate::failure::Failure;
use crate::output;
use crate::role::{DataArguments, LogArguments, runtime};
use crate::sessions::{Sessions, Source};

const EXAMPLES: &str = "Examples:
  agon diff 3f9a 81cc             two sessions, by the beginnings of their ids
  agon diff 3f9a 81cc --replies   with all that their players said
  agon diff 3f9a 3f9a --other ~/colleague/results
                                  the same session in two places

Lines of the first session alone begin with -, those of the second with +.";

/// Lines around a difference.
const CONTEXT: usize = 2;

/// Arguments of `agon diff`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Diff {
    /// A session's id, or its beginning
    #[arg(value_name = "SESSION")]
    one: String,
    /// The session that it is compared with
    #[arg(value_name = "SESSION")]
    other: String,
    /// Folder or file with the records of both [default: DATA/runs]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// Folder or file with the record of the second, where that is another
    #[arg(long = "other", value_name = "DIR")]
    other_results: Option<PathBuf>,
    #[command(flatten)]
    data: DataArguments,
    /// With plans and beliefs
    #[arg(long)]
    notes: bool,
    /// With all that was said in the answers that counted
    #[arg(long)]
    replies: bool,
}

/// Prints it.
///
/// # Errors
/// Exit 1 when they differ, 2 when there is no such session.
pub fn run(arguments: &Diff, log: &LogArguments) -> Result<(), Failure> {
    runtime()?.block_on(async {
        let guard = log.start("diff", true)?;
        let compared = compare(arguments).await;
        guard.shutdown().await;
        compared
    })
}

async fn compare(arguments: &Diff) -> Result<(), Failure> {
    let by_default = || arguments.data.runs();
    let first = arguments.results.clone().unwrap_or_else(by_default);
    let second = arguments
        .other_results
        .clone()
        .unwrap_or_else(|| first.clone());
    let one = record(first, &arguments.one).await?;
    let other = record(second, &arguments.other).await?;
    let telling = Telling {
        plans: arguments.notes,
        beliefs: arguments.notes,
        replies: arguments.replies,
        ..Telling::default()
    };
    let mut differences = specs(&one, &other);
    let (told, told_other) = (story::tell(&one, telling), story::tell(&other, telling));
    let diff = TextDiff::from_lines(&told, &told_other);
    for (place, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if place > 0 {
            differences.push("...".to_owned());
        }
        for change in group.iter().flat_map(|change| diff.iter_changes(change)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            differences.push(format!("{sign} {}", change.value().trim_end()));
        }
    }
    if differences.is_empty() {
        output::print("the two sessions tell the same");
        return Ok(());
    }
    output::print(&differences.join("\n"));
    Err(Failure::BadNews(format!(
        "{} and {} differ",
        one.session.as_str().in_line(),
        other.session.as_str().in_line()
    )))
}

async fn record(place: PathBuf, wanted: &str) -> Result<StoredRecord, Failure> {
    let sessions = Sessions::look(&Source::Folder(place, None), Some(wanted)).await?;
    let found = sessions.the_one(wanted)?;
    StoredRecord::from_line(&found.line).map_err(Failure::input)
}

/// What differs in what was played, by path.
fn specs(one: &StoredRecord, other: &StoredRecord) -> Vec<String> {
    let [one, other] = [one, other].map(|record| serde_json::to_value(&record.spec));
    let mut differences = Vec::new();
    if let (Ok(one), Ok(other)) = (one, other) {
        walk("spec", &one, &other, &mut differences);
    }
    differences
}

fn walk(path: &str, one: &Value, other: &Value, differences: &mut Vec<String>) {
    if one == other {
        return;
    }
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            let mut keys: Vec<&String> = one.keys().chain(other.keys()).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                let of = |side: &serde_json::Map<String, Value>| {
                    side.get(key).cloned().unwrap_or(Value::Null)
                };
                walk(&format!("{path}.{key}"), &of(one), &of(other), differences);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            for (place, (one, other)) in one.iter().zip(other).enumerate() {
                walk(&format!("{path}[{place}]"), one, other, differences);
            }
        }
        _ => {
            differences.push(format!("- {path} = {one}"));
            differences.push(format!("+ {path} = {other}"));
        }
    }
}
