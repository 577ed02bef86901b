//! The sessions of one filter, taken in one after the other: what there is to read, what was made of it,
//! and what could not be read.

use std::collections::{HashMap, VecDeque};

use agon_report::Tables;
use agon_report::plots::{PlotData, PlotSet, every_for_games};

use super::{FigureHead, FigureTold, Standing, parts, told};
use crate::index::{Index, Place};
use crate::library::{Library, Sessions};
use crate::refusal::Refusal;
use crate::wanted::Wanted;

/// Files that are open at once: experiments that are played side by side fill one each.
const MOST_OPEN: usize = 64;

/// Faults that are told.
const MOST_NOTES: usize = 5;

/// See the module.
pub(super) struct Fold {
    wanted: Wanted,
    /// How many of the listed sessions were looked at.
    scanned: usize,
    /// What fits and was not read yet.
    pending: VecDeque<Place>,
    open: HashMap<u32, Box<dyn Sessions>>,
    tables: Tables,
    plots: PlotSet,
    counted: u64,
    simulated: u64,
    unreadable: u64,
    faults: Vec<String>,
}

impl Fold {
    pub fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            scanned: 0,
            pending: VecDeque::new(),
            open: HashMap::new(),
            tables: Tables::default(),
            plots: PlotSet::new(every_for_games),
            counted: 0,
            simulated: 0,
            unreadable: 0,
            faults: Vec::new(),
        }
    }

    /// Takes sessions in while it may go on; whether there are more.
    pub fn read(&mut self, library: &Library, may_go_on: impl Fn() -> bool) -> bool {
        self.scan(&library.index.read());
        while let Some(place) = self.pending.pop_front() {
            self.take(library, place);
            if !may_go_on() {
                return true;
            }
        }
        // Files stay open where they are: those of experiments that are being played go on.
        false
    }

    /// Looks through what was listed since.
    fn scan(&mut self, index: &Index) {
        self.pending
            .extend(index.wanted(&self.wanted, self.scanned));
        self.scanned = index.len();
    }

    fn take(&mut self, library: &Library, place: Place) {
        if self.open.len() == MOST_OPEN && !self.open.contains_key(&place.file) {
            self.open.clear();
        }
        let open = self.open.entry(place.file);
        let file = open.or_insert_with(|| library.sessions(place.file));
        match file.at(place) {
            Ok((record, telemetry)) => {
                self.tables.add(&record, &telemetry);
                self.plots.add(&record);
                self.counted += 1;
                self.simulated += u64::from(record.simulated);
            }
            Err(fault) => {
                self.unreadable += 1;
                if self.faults.len() < MOST_NOTES {
                    self.faults.push(format!("unreadable: {fault}"));
                }
            }
        }
    }

    /// How far it is. Looks through what was listed since, so that all sessions that fit are counted.
    pub fn standing(&mut self, index: &Index) -> Standing {
        self.scan(index);
        let figures = self.plots.iter().map(FigureHead::of);
        let (parts, published) = parts(&self.tables);
        Standing {
            counted: self.counted,
            total: self.counted + self.unreadable + self.pending.len() as u64,
            simulated: self.simulated,
            parts,
            published,
            figures: figures.collect(),
            choices: index.choices(),
            notes: [index.notes_of(&self.wanted), self.faults.clone()].concat(),
        }
    }

    pub fn counted(&self) -> u64 {
        self.counted
    }

    pub fn tables(&self) -> &Tables {
        &self.tables
    }

    pub fn figure(&self, name: &str) -> Result<FigureTold, Refusal> {
        Ok(told(self.plot(name)?, self.counted))
    }

    pub fn plot(&self, name: &str) -> Result<&PlotData, Refusal> {
        let mut plots = self.plots.iter();
        let found = plots.find(|plot| plot.name() == name);
        found.ok_or_else(|| Refusal::Missing(format!("figure {name} of these sessions")))
    }
}
