//! Coordinators: they claim the journal, load the queue with the owner's own code, and hand messages and
//! time to the owner's state. What comes of that is carried out by its loop.

use std::time::Duration;

use agon_coordinator::archive::{ArchiveError, Entry};
use agon_coordinator::journal::{Claim, Epoch, JournalError};
use agon_coordinator::owner::loading::load;
use agon_coordinator::owner::messages::Message;
use agon_coordinator::owner::segments::SegmentKey;
use agon_coordinator::owner::state::OwnerState;
use agon_coordinator::queue::Queue;
use agon_coordinator::specs::Specs;
use agon_proto::packed::pack;

use crate::Outcome;
use crate::broken::Broken;
use crate::invariants::Told;
use crate::journal::WithoutTheLast;
use crate::leading::UnderWay;
use crate::world::{Event, LEASE, OWNERSHIP, World};

/// How long workers of the owner before have to come back.
const RETURN_WITHIN: Duration = Duration::from_secs(3);

const TICK: Duration = Duration::from_secs(1);

pub struct Coordinator {
    pub up: bool,
    pub stopped_until: Duration,
    /// Counts its processes.
    pub life: u64,
    /// Counts its times in charge, and their ends.
    pub term: u64,
    pub owner: Option<Owner>,
}

pub struct Owner {
    pub epoch: Epoch,
    since: Duration,
    pub state: OwnerState,
    pub specs: Specs,
    pub under_way: Option<UnderWay>,
}

impl Coordinator {
    pub fn new() -> Self {
        Self {
            up: true,
            stopped_until: Duration::ZERO,
            life: 1,
            term: 1,
            owner: None,
        }
    }
}

impl World {
    /// A standby looks whether it is to take over.
    pub fn look(&mut self, at: usize) -> Outcome {
        self.after(Duration::from_millis(500), Event::Look(at));
        let known = &self.coordinators[at];
        if !known.up || known.owner.is_some() || self.outage_until > self.now {
            return Ok(());
        }
        if let Some((epoch, until)) = self.claimed
            && until <= self.now
        {
            // The claim has run out; a real journal counts that by its own clock.
            self.block_on(self.journal.resign(epoch))
                .map_err(|error| error.to_string())?;
            self.claimed = None;
        }
        let claim = self.block_on(
            self.journal
                .claim(&format!("c{at}"), Duration::from_secs(3600)),
        );
        match claim.map_err(|error| error.to_string())? {
            Claim::Granted(epoch) => self.take_over(at, epoch),
            Claim::Held { .. } => Ok(()),
        }
    }

    fn take_over(&mut self, at: usize, epoch: Epoch) -> Outcome {
        self.claimed = Some((epoch, self.now + OWNERSHIP));
        self.seen.last_epoch = self.seen.last_epoch.max(epoch.0);
        let end = self
            .block_on(self.journal.end())
            .map_err(|error| error.to_string())?;
        self.seen.ends_at(end)?;
        let queue = Queue::new(epoch.0, LEASE);
        let journal = self.journal.clone();
        let loaded = match self.broken {
            Some(Broken::ReadsNotAll) => {
                self.block_on(load(&WithoutTheLast(&*journal), &self.archive, queue))
            }
            _ => self.block_on(load(&*journal, &self.archive, queue)),
        };
        let mut loaded = loaded.map_err(|error| format!("the journal cannot be read: {error}"))?;
        self.note(format!("c{at} takes over behind batch {}", end.0));
        self.count("take-over");
        self.invariant_new_owner_has_what_is_durable(&loaded.queue)?;
        if loaded.unfinished {
            loaded.queue.keep_quiet_until(RETURN_WITHIN);
        }
        let specs = loaded.specs.clone();
        let state = OwnerState::new(loaded.queue, loaded.segments, loaded.specs, loaded.next);
        let known = &mut self.coordinators[at];
        known.term += 1;
        let term = known.term;
        known.owner = Some(Owner {
            epoch,
            since: self.now,
            state,
            specs,
            under_way: None,
        });
        self.after(TICK, Event::Tick(at, term));
        self.after(OWNERSHIP / 3, Event::Renew(at, term));
        Ok(())
    }

    /// It is in charge no longer; its streams end.
    pub fn end_term(&mut self, at: usize) {
        let known = &mut self.coordinators[at];
        if known.owner.take().is_none() {
            return;
        }
        known.term += 1;
        self.note(format!("c{at} is in charge no longer"));
        self.commands.retain(|command| command.at != at);
        let of_it = self
            .streams
            .iter()
            .filter(|(_, stream)| stream.coordinator == at);
        let numbers: Vec<u64> = of_it.map(|(number, _)| *number).collect();
        for number in numbers {
            self.hang_up(number, false);
        }
    }

    pub fn kill_coordinator(&mut self, at: usize) {
        if !self.coordinators[at].up {
            return;
        }
        self.note(format!("c{at} is killed"));
        self.end_term(at);
        let known = &mut self.coordinators[at];
        known.up = false;
        known.life += 1;
        known.stopped_until = Duration::ZERO;
        let pause = self.chance.ms(500, 12_000);
        self.after(pause, Event::CoordinatorStarts(at));
    }

    pub fn renew(&mut self, at: usize) -> Outcome {
        let Some(owner) = &mut self.coordinators[at].owner else {
            return Ok(());
        };
        let epoch = owner.epoch;
        let term = self.coordinators[at].term;
        self.after(OWNERSHIP / 3, Event::Renew(at, term));
        if self.outage_until > self.now {
            let now = self.now;
            if let Some(owner) = &mut self.coordinators[at].owner {
                owner.state.doubt(now - owner.since + OWNERSHIP / 2);
            }
            return Ok(());
        }
        match self.block_on(self.journal.renew(epoch, Duration::from_secs(3600))) {
            Ok(()) => {
                if self.claimed.is_some_and(|(claimed, _)| claimed == epoch) {
                    self.claimed = Some((epoch, self.now + OWNERSHIP));
                }
                Ok(())
            }
            Err(JournalError::Deposed) => {
                self.end_term(at);
                Ok(())
            }
            Err(error) => Err(error.to_string()),
        }
    }

    /// A message for the owner, if this coordinator is one.
    pub fn tell(&mut self, at: usize, message: Message) -> Outcome {
        let now = self.now;
        let registers = matches!(message, Message::Register { .. });
        let Some(owner) = &mut self.coordinators[at].owner else {
            return Ok(());
        };
        let before = Told::of(owner.state.queue());
        owner.state.set_now(now - owner.since);
        owner.state.on_message(message);
        self.invariant_nothing_of_a_pause_is_granted(at, &before, registers)?;
        self.check(at, &before)?;
        self.pump(at)
    }

    /// The same, once what is going on is done.
    pub fn tell_later(&mut self, at: usize, message: Message) {
        let term = self.coordinators[at].term;
        self.after(Duration::ZERO, Event::Tell(at, term, Box::new(message)));
    }

    pub fn tick(&mut self, at: usize) -> Outcome {
        let (now, broken) = (self.now, self.broken);
        let term = self.coordinators[at].term;
        self.after(TICK, Event::Tick(at, term));
        let Some(owner) = &mut self.coordinators[at].owner else {
            return Ok(());
        };
        let before = Told::of(owner.state.queue());
        owner.state.set_now(now - owner.since);
        if broken != Some(Broken::LosesNoWorker) {
            owner.state.on_tick();
        }
        self.check(at, &before)?;
        if broken == Some(Broken::ArchivesBeforeItIsDurable) {
            self.archive_too_early(at);
        }
        self.pump(at)?;
        self.write_segments(at);
        Ok(())
    }

    fn write_segments(&mut self, at: usize) {
        let known = &mut self.coordinators[at];
        let (life, term) = (known.life, known.term);
        let Some(owner) = &mut known.owner else {
            return;
        };
        for (key, name, entries) in owner.state.segments_to_write() {
            let took = match self.chance.once_in(10) {
                true => self.chance.ms(500, 9_000),
                false => self.chance.ms(5, 300),
            };
            self.after(took, Event::Archived(at, life, term, key, name, entries));
        }
    }

    pub fn archived(
        &mut self,
        at: usize,
        term: u64,
        key: SegmentKey,
        name: &str,
        entries: Vec<Entry>,
    ) -> Outcome {
        let trusting = self.broken == Some(Broken::TrustsTheArchive);
        let fails = !self.calm && self.chance.once_in(12);
        let failed = fails || !self.archive_segment(key, name, entries)?;
        self.count(if failed { "failed segment" } else { "segment" });
        if self.coordinators[at].term != term {
            return Ok(());
        }
        if let Some(owner) = &mut self.coordinators[at].owner {
            owner.state.on_segment_written(key, !failed || trusting);
        }
        self.pump(at)?;
        self.write_segments(at);
        Ok(())
    }

    /// Writes a segment as the owner's loop does; false when other entries have its number.
    fn archive_segment(
        &mut self,
        key: SegmentKey,
        name: &str,
        entries: Vec<Entry>,
    ) -> Result<bool, String> {
        // What was deleted meanwhile is removed by whoever deleted it.
        if !self.seen.facts.names.contains_key(&key.0) {
            return Ok(true);
        }
        let write = self.archive.write(name, key.1, entries.clone());
        match self.block_on(write) {
            Ok(()) => {
                let there = (name.to_owned(), key.1);
                self.seen.archive.insert(there, entries);
                Ok(true)
            }
            Err(ArchiveError::Taken { .. }) => {
                self.count("segment that was there");
                let there = self.block_on(self.archive.read(name, key.1));
                let there = there.map_err(|error| error.to_string())?;
                let same = |one: &Entry| (one.position, one.digest);
                let found = there.iter().map(same).take(entries.len());
                Ok(found.eq(entries.iter().map(same)))
            }
            Err(error) => Err(error.to_string()),
        }
    }
}

impl World {
    /// Of [`Broken::ArchivesBeforeItIsDurable`]: what a closed segment holds in memory is written.
    fn archive_too_early(&mut self, at: usize) {
        let known = &self.coordinators[at];
        let Some(owner) = &known.owner else { return };
        for entry in owner.state.queue().list() {
            let found = owner.state.finished(&entry.name, None, 1_000);
            let Ok(page) = found else { continue };
            let key = page.experiment;
            let segment = owner.state.queue().open_segment(key);
            let entries = page.sessions.into_iter().filter_map(|one| {
                let finished = owner.state.queue().finished_at(key, one.position)?;
                let record = self.record(&entry.name, &one.whereabouts)?;
                let here = finished.segment == segment;
                here.then_some((finished, one.position, record))
            });
            let mut entries: Vec<_> = entries.collect();
            entries.sort_by_key(|(finished, ..)| finished.entry);
            let entries = entries
                .into_iter()
                .map(|(finished, position, record)| Entry {
                    position,
                    session: String::new(),
                    digest: finished.digest,
                    record,
                    telemetry: pack("{}"),
                });
            let entries: Vec<Entry> = entries.collect();
            if !entries.is_empty() {
                let late = Duration::from_millis(1);
                let event = Event::Archived(at, known.life, 0, (key, segment), entry.name, entries);
                self.events_later.push((late, event));
            }
        }
        for (late, event) in std::mem::take(&mut self.events_later) {
            self.after(late, event);
        }
    }
}
