//! Results over the sessions that are listed: leaderboards, tables and figures as the command line makes
//! them. Sessions are read on the threads of pages, a slice at a time and only while somebody looks; what
//! was made of them is kept until new ones come.

mod fold;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use agon_report::blocks::{Block, Table, blocks};
use agon_report::plots::{Figure, PlotData};
use agon_report::tables::LEADERBOARD;
use agon_report::{Layout, Tables};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::fold::Fold;
use crate::index::Choices;
use crate::library::{Library, beside, go_on_beside};
use crate::refusal::Refusal;
use crate::wanted::Wanted;

/// Filters whose results are kept.
const MOST_KEPT: usize = 3;

/// How long sessions go on being read after somebody looked last.
const LOOKED_AT: Duration = Duration::from_secs(20);

/// How long the threads of pages are kept by one slice.
const SLICE: Duration = Duration::from_millis(50);

/// Between two slices where nothing else waits.
const REST: Duration = Duration::from_millis(1);

/// What is published beside a table of this name.
const PUBLISHED: &str = "published-";

/// Names of parts, and what they are called.
const PARTS: [(&str, &str); 4] = [
    ("leaderboard", "Leaderboard"),
    ("overall", "Over all games"),
    ("games", "Game by game"),
    ("measures", "Measures"),
];

/// How far results are, and what there is.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Standing {
    /// Sessions that the results rest on so far.
    pub counted: u64,
    /// Sessions that are known and fit.
    pub total: u64,
    /// How many of the counted sessions were answered by a simulated model.
    pub simulated: u64,
    /// The parts that there are.
    pub parts: Vec<Part>,
    /// The published tables that there are, as further parts.
    pub published: Vec<Part>,
    /// Figures that have something to show.
    pub figures: Vec<FigureHead>,
    /// What the results can be narrowed to.
    pub choices: Choices,
    /// Remarks that a reader of the results needs.
    pub notes: Vec<String>,
}

/// A part of the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct Part {
    /// Its name in addresses.
    pub name: String,
    /// What it is called on pages.
    pub title: String,
}

/// A figure in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub struct FigureHead {
    /// Its name, as the command line has it.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// The figure of a paper that it follows.
    pub source: &'static str,
}

impl FigureHead {
    /// That of a figure.
    pub(crate) fn of(plot: &PlotData) -> Self {
        let plot = plot.plot();
        Self {
            name: plot.name,
            about: plot.about,
            source: plot.source,
        }
    }
}

/// A part of the results: tables, and the sentences around them.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = ToldPart)]
pub struct Told {
    /// Sessions that it rests on.
    pub counted: u64,
    /// Tables and sentences, in order.
    pub blocks: Vec<Block>,
}

impl Told {
    /// One of its tables, by its number from 0.
    pub fn table(&self, number: usize) -> Option<&Table> {
        let tables = self.blocks.iter().filter_map(|block| match block {
            Block::Table(table) => Some(table),
            Block::Sentence { .. } => None,
        });
        tables.into_iter().nth(number)
    }
}

/// A figure in words and numbers.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct FigureTold {
    /// Sessions that it rests on.
    pub counted: u64,
    /// What it shows.
    pub title: String,
    /// How to read it.
    pub caption: String,
    /// Its numbers.
    pub points: Table,
}

/// A figure as a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
pub enum FigureFile {
    /// A picture on a white ground.
    #[serde(rename = "figure.svg")]
    Svg,
    /// A picture on a dark ground.
    #[serde(rename = "dark.svg")]
    DarkSvg,
    /// Its numbers.
    #[serde(rename = "figure.csv")]
    Csv,
}

/// See the module.
#[derive(Default)]
pub struct Results {
    /// The one that was looked at last is the last.
    kept: Mutex<Vec<(Wanted, Arc<Kept>)>>,
    /// How often the library had been cleared when the first of them was begun.
    cleared: AtomicU64,
}

/// Results of one filter.
struct Kept {
    fold: Mutex<Fold>,
    /// When somebody looked last, and whether sessions are being read.
    looked: Mutex<(Instant, bool)>,
    /// What was made of so many sessions, by part.
    made: Mutex<BTreeMap<String, Made>>,
}

/// A part of so many sessions.
type Made = (u64, Arc<Vec<Block>>);

impl Results {
    /// How far they are. Goes on reading where new sessions have come.
    ///
    /// # Errors
    /// A thread panicked.
    pub async fn standing(
        &self,
        library: &Arc<Library>,
        wanted: Wanted,
    ) -> Result<Standing, Refusal> {
        let kept = self.look(library, wanted);
        let library = Arc::clone(library);
        beside(move || kept.fold.lock().standing(&library.index.read())).await
    }

    /// A part of them.
    ///
    /// # Errors
    /// There is no such part, or a thread panicked.
    pub async fn part(
        &self,
        library: &Arc<Library>,
        wanted: Wanted,
        part: String,
    ) -> Result<Told, Refusal> {
        let kept = self.look(library, wanted);
        beside(move || kept.part(&part)).await?
    }

    /// A figure in words and numbers.
    ///
    /// # Errors
    /// There is no such figure, or a thread panicked.
    pub async fn figure(
        &self,
        library: &Arc<Library>,
        wanted: Wanted,
        name: String,
    ) -> Result<FigureTold, Refusal> {
        let kept = self.look(library, wanted);
        beside(move || kept.fold.lock().figure(&name)).await?
    }

    /// A figure as a file.
    ///
    /// # Errors
    /// There is no such figure, or a thread panicked.
    pub async fn file(
        &self,
        library: &Arc<Library>,
        wanted: Wanted,
        name: String,
        file: FigureFile,
    ) -> Result<String, Refusal> {
        let kept = self.look(library, wanted);
        beside(move || {
            let figure = kept.fold.lock().plot(&name)?.figure();
            Ok(written(&figure, file))
        })
        .await?
    }

    /// What is kept of a filter. Sessions that are new are read from now on.
    fn look(&self, library: &Arc<Library>, wanted: Wanted) -> Arc<Kept> {
        let kept = {
            let mut all = self.kept.lock();
            let cleared = library.cleared();
            if self.cleared.swap(cleared, Ordering::AcqRel) != cleared {
                all.clear();
            }
            let known = all.iter().position(|(known, _)| *known == wanted);
            let one = match known {
                Some(at) => all.remove(at),
                None => (wanted.clone(), Arc::new(Kept::new(wanted))),
            };
            let kept = Arc::clone(&one.1);
            if all.len() == MOST_KEPT {
                all.remove(0);
            }
            all.push(one);
            kept
        };
        let is_reading = {
            let mut looked = kept.looked.lock();
            looked.0 = Instant::now();
            std::mem::replace(&mut looked.1, true)
        };
        if !is_reading {
            go_on_beside(read(Arc::clone(library), Arc::clone(&kept)));
        }
        kept
    }
}

/// Reads what has come, a slice at a time, for as long as somebody looks.
async fn read(library: Arc<Library>, kept: Arc<Kept>) {
    loop {
        let (library, own) = (Arc::clone(&library), Arc::clone(&kept));
        let is_more = beside(move || {
            let end = Instant::now() + SLICE;
            own.fold.lock().read(&library, || Instant::now() < end)
        });
        // A panic is logged where it happened; whoever looks next begins again.
        let is_more = is_more.await.unwrap_or(false);
        {
            let mut looked = kept.looked.lock();
            if !is_more || looked.0.elapsed() > LOOKED_AT {
                looked.1 = false;
                return;
            }
        }
        tokio::time::sleep(REST).await;
    }
}

impl Kept {
    fn new(wanted: Wanted) -> Self {
        Self {
            fold: Mutex::new(Fold::new(wanted)),
            looked: Mutex::new((Instant::now(), false)),
            made: Mutex::default(),
        }
    }

    fn part(&self, part: &str) -> Result<Told, Refusal> {
        let fold = self.fold.lock();
        let counted = fold.counted();
        let known = self.made.lock().get(part).cloned();
        if let Some((_, blocks)) = known.filter(|(of, _)| *of == counted) {
            let blocks = blocks.to_vec();
            return Ok(Told { counted, blocks });
        }
        let made = part_of(fold.tables(), part);
        let made = made.ok_or_else(|| Refusal::Missing(format!("part {part} of the results")))?;
        let made = Arc::new(blocks(&made));
        let told = Told {
            counted,
            blocks: made.to_vec(),
        };
        self.made.lock().insert(part.to_owned(), (counted, made));
        Ok(told)
    }
}

/// The parts that there are of some tables.
pub(crate) fn parts(tables: &Tables) -> (Vec<Part>, Vec<Part>) {
    let part = |name: &str, title: &str| Part {
        name: name.to_owned(),
        title: title.to_owned(),
    };
    if tables.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let shown = PARTS.iter().filter(|(name, _)| match *name {
        "leaderboard" => tables.has_leaderboard(),
        _ => true,
    });
    let published = tables.published_tables().into_iter();
    let published = published.filter(|name| *name != LEADERBOARD);
    (
        shown.map(|(name, title)| part(name, title)).collect(),
        published
            .map(|name| part(&format!("{PUBLISHED}{name}"), name))
            .collect(),
    )
}

/// A part in lines of JSON; `None` where there is no such part.
pub(crate) fn part_of(tables: &Tables, part: &str) -> Option<String> {
    let layout = Layout::Json;
    Some(match part {
        "leaderboard" => tables.beside_published(LEADERBOARD, layout)?,
        "overall" => tables.standings().overall(layout).unwrap_or_default(),
        "games" => tables.standings().by_game(true, layout),
        "measures" => tables.render(layout),
        _ => tables.beside_published(part.strip_prefix(PUBLISHED)?, layout)?,
    })
}

/// A figure in words and numbers.
pub(crate) fn told(plot: &PlotData, counted: u64) -> FigureTold {
    let figure = plot.figure();
    FigureTold {
        counted,
        title: figure.title.unwrap_or_default(),
        caption: figure.caption.unwrap_or_default(),
        points: plot.points(),
    }
}

/// A figure as a file.
pub(crate) fn written(figure: &Figure, file: FigureFile) -> String {
    match file {
        FigureFile::Svg => figure.svg(),
        FigureFile::DarkSvg => figure.svg_on_dark(),
        FigureFile::Csv => figure.csv(),
    }
}
