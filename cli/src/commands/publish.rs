//! `agon publish`: a static site of any runs, for any host that serves files. What it holds is made by
//! `publishing.rs`. Started by `commands.rs`.

use std::path::PathBuf;

use agon_outlets::InLine as _;
use agon_web::site::LeftOut;

use crate::failure::Failure;
use crate::gathering::{named_by, place};
use crate::output::{self, counted};
use crate::publishing::{Publication, publish};
use crate::role::{DataArguments, LogArguments, runtime};

const EXAMPLES: &str = "Examples:
  agon publish my-niche -o site           one run
  agon publish lb-gpt-4o lb-my-model -o site
                                          several, with one leaderboard
  agon publish results/ -o site --without prompts
                                          without the calls of models
  python3 -m http.server -d site          look at it, as any host would serve it
  cd site && sha256sum -c SHA256SUMS      check its files
  agon verify site/records/my-niche       play its records again

The same runs give the same bytes. A site that is there is replaced if nobody has changed it; files of \
others are never overwritten.";

/// Megabytes in a site, by default: hosts of static files rarely take more.
const MOST_MEGABYTES: u64 = 1_000;

/// Arguments of `agon publish`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Publish {
    /// Names of experiments, folders of results or of a coordinator's archive, or files of records
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<String>,
    /// The folder of the site
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    data: DataArguments,
    /// What is left out to keep the site small; records are always there
    #[arg(long, value_enum, value_name = "PART", value_delimiter = ',')]
    without: Vec<Without>,
    /// Megabytes that the site may come to
    #[arg(long, value_name = "MB", default_value_t = MOST_MEGABYTES)]
    most: u64,
    /// Show no progress
    #[arg(long, short)]
    quiet: bool,
}

/// What may be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Without {
    /// How each seat saw its session
    Seats,
    /// The calls of models: prompts, replies, tokens and costs
    Prompts,
}

/// Writes it.
///
/// # Errors
/// Exit 2 when there is no such run, the folder holds files of others or the site would be too large; 3
/// when it cannot be written.
pub fn run(arguments: &Publish, log: &LogArguments) -> Result<(), Failure> {
    let by_default = arguments.data.runs();
    let named = arguments.runs.iter();
    let paths = named.map(|named| place(named, &by_default));
    let publication = Publication {
        paths: paths.collect::<Result<_, _>>()?,
        out: arguments.out.components().collect(),
        left_out: LeftOut {
            seats: arguments.without.contains(&Without::Seats),
            calls: arguments.without.contains(&Without::Prompts),
        },
        most_megabytes: arguments.most,
        tells: !arguments.quiet,
        compared: named_by,
    };
    let published = runtime()?.block_on(async {
        let guard = log.start("publish", true)?;
        let published = publish(&publication).await;
        guard.shutdown().await;
        published
    })?;
    let out = publication.out.in_line();
    output::print(&format!(
        "{} in {out}: {}, {:.1} MB",
        counted(published.sessions, "session"),
        counted(published.files as u64, "file"),
        published.bytes as f64 / 1e6
    ));
    output::print(&format!(
        "look at it: python3 -m http.server -d {out}, or any other web server; browsers do not open \
         it from the disk"
    ));
    output::print(&format!("check it in {out}: sha256sum -c SHA256SUMS"));
    for command in &published.verify {
        output::print(&format!("                 {command}"));
    }
    Ok(())
}
