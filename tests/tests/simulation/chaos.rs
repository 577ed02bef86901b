//! Chaos, and people: what breaks, what somebody asks for, and who looks after the experiments.
//! Commands are answered once they are in the journal.

use std::time::Duration;

use agon_coordinator::owner::messages::Message;
use agon_coordinator::queue::{Progress, Refusal};
use tokio::sync::oneshot;

use crate::Outcome;
use crate::experiments::{NAMES, VERSIONS};
use crate::owning::Coordinator;
use crate::world::{Event, WORKERS, World};

/// Something that a person has asked for.
pub struct Command {
    pub at: usize,
    pub name: &'static str,
    pub what: What,
}

pub enum What {
    Submit(usize, oneshot::Receiver<Result<Progress, Refusal>>),
    Cancel(oneshot::Receiver<Result<(), Refusal>>),
    Resume(oneshot::Receiver<Result<(), Refusal>>),
    Delete(oneshot::Receiver<Result<u32, Refusal>>),
}

impl What {
    fn name(&self) -> &'static str {
        match self {
            Self::Submit(..) => "submitting",
            Self::Cancel(_) => "cancelling",
            Self::Resume(_) => "resuming",
            Self::Delete(_) => "deleting",
        }
    }
}

impl World {
    pub fn chaos(&mut self) -> Outcome {
        let pause = self.chance.ms(200, 4_000);
        self.after(pause, Event::Chaos);
        let (worker, at) = (self.chance.index(WORKERS), self.chance.index(2));
        match self.chance.below(100) {
            0..8 => self.kill_worker(worker),
            8..16 => {
                let stopped = self.chance.ms(500, 30_000);
                self.workers[worker].stopped_until = self.now + stopped;
                self.note(format!("w{worker} is stopped for {stopped:?}"));
            }
            16..22 if self.workers[worker].up => self.drain(worker),
            22..32 => {
                if let Some(stream) = self.workers[worker].stream {
                    self.note(format!("the stream of w{worker} is cut"));
                    self.cut(stream, false);
                }
            }
            32..40 => self.kill_coordinator(at),
            40..48 => {
                let stopped = self.chance.ms(500, 20_000);
                self.coordinators[at].stopped_until = self.now + stopped;
                self.note(format!("c{at} is stopped for {stopped:?}"));
            }
            48..53 => {
                self.count("outage");
                let outage = self.chance.ms(200, 12_000);
                self.outage_until = self.now + outage;
                self.note(format!("the journal is away for {outage:?}"));
            }
            53..57 => self.lose_tail(),
            _ => self.command()?,
        }
        Ok(())
    }

    fn lose_tail(&mut self) {
        let most = 1 + self.chance.index(4);
        if let Some(simulated) = &self.simulated {
            let end = simulated.lose_tail(most);
            self.note(format!(
                "the journal loses its tail and ends at batch {}",
                end.0
            ));
        }
    }

    fn in_charge(&self) -> Option<usize> {
        let up = |one: &Coordinator| one.owner.is_some() && one.stopped_until <= self.now;
        (0..self.coordinators.len()).find(|at| up(&self.coordinators[*at]))
    }

    /// Somebody asks for something; one thing at a time.
    fn command(&mut self) -> Outcome {
        let Some(at) = self.in_charge().filter(|_| self.commands.is_empty()) else {
            return Ok(());
        };
        let number = self.chance.index(NAMES.len());
        let id = NAMES[number];
        let name = id.to_owned();
        let drawn = self.chance.below(20);
        self.note(format!("c{at} is asked about {id} ({drawn})"));
        let message = match drawn {
            0..8 => {
                let version = self.chance.index(VERSIONS[number].len());
                return self.submit(at, number, version);
            }
            8..10 => {
                let (reply, answer) = oneshot::channel();
                self.commands.push(Command {
                    at,
                    name: id,
                    what: What::Cancel(answer),
                });
                Message::Cancel { name, reply }
            }
            10..14 => Message::Retry {
                name,
                positions: None,
                reply: oneshot::channel().0,
            },
            14..19 => return self.resume(at, id),
            _ => {
                let (reply, answer) = oneshot::channel();
                self.commands.push(Command {
                    at,
                    name: id,
                    what: What::Delete(answer),
                });
                Message::Delete { name, reply }
            }
        };
        self.tell(at, message)
    }

    /// As the door of experiments does it: after a look into the archive.
    fn submit(&mut self, at: usize, number: usize, which: usize) -> Outcome {
        let version = &VERSIONS[number][which];
        let mut submitted = version.submitted.clone();
        let Ok(listed) = self.block_on(self.archive.list(&submitted.name)) else {
            self.note("the archive cannot be listed: the submission is refused".to_owned());
            return Ok(());
        };
        submitted.first_segment = listed.into_iter().max().map_or(1, |last| last + 1);
        let (reply, answer) = oneshot::channel();
        self.commands.push(Command {
            at,
            name: NAMES[number],
            what: What::Submit(which, answer),
        });
        let message = Message::Submit {
            submitted,
            document: version.document.clone(),
            stored: Box::default(),
            accept_new: false,
            pause: None,
            reply,
        };
        self.tell(at, message)
    }

    fn resume(&mut self, at: usize, id: &'static str) -> Outcome {
        let (reply, answer) = oneshot::channel();
        self.commands.push(Command {
            at,
            name: id,
            what: What::Resume(answer),
        });
        self.tell(
            at,
            Message::Resume {
                name: id.to_owned(),
                budget: None,
                only_for: None,
                reply,
            },
        )
    }

    /// Somebody looks after the experiments: what is missing is submitted, in the end what pauses is
    /// resumed.
    pub fn care(&mut self) -> Outcome {
        self.after(Duration::from_secs(2), Event::Care);
        let Some(at) = self.in_charge().filter(|_| self.commands.is_empty()) else {
            return Ok(());
        };
        let Some(owner) = &self.coordinators[at].owner else {
            return Ok(());
        };
        let queue = owner.state.queue();
        let missing = (0..NAMES.len()).find(|number| queue.number(NAMES[*number]).is_err());
        if let Some(number) = missing {
            return self.submit(at, number, 0);
        }
        let paused = |id: &&str| queue.progress(id).is_ok_and(|told| !told.paused.is_empty());
        let paused = NAMES.into_iter().find(|id| self.calm && paused(id));
        match paused {
            Some(id) => self.resume(at, id),
            None => Ok(()),
        }
    }

    /// Who asked for something is answered: it is in the journal then.
    pub fn collect_commands(&mut self, at: usize) -> Outcome {
        let last = self.coordinators[at]
            .owner
            .as_ref()
            .map(|owner| owner.epoch.0);
        let is_last = last == Some(self.seen.last_epoch);
        let mut waiting = Vec::new();
        for mut command in std::mem::take(&mut self.commands) {
            match self.answer_to(&mut command) {
                None => waiting.push(command),
                Some(durable) if is_last && !durable => {
                    return Err(format!(
                        "invariant_what_is_acknowledged_is_durable: {} {} is not",
                        command.what.name(),
                        command.name
                    ));
                }
                Some(_) => {}
            }
        }
        self.commands = waiting;
        Ok(())
    }

    /// Whether what was asked for is in the journal, once it was answered.
    fn answer_to(&mut self, command: &mut Command) -> Option<bool> {
        let facts = &self.seen.facts;
        let key = facts.key(command.name);
        let number = NAMES.iter().position(|name| *name == command.name)?;
        Some(match &mut command.what {
            What::Submit(version, answer) => {
                let answer = answer.try_recv().ok()?;
                let document = &VERSIONS[number][*version].submitted.document;
                answer.is_err() || key.is_some_and(|key| facts.documents[&key] == *document)
            }
            What::Cancel(answer) => {
                let answer = answer.try_recv().ok()?;
                answer.is_err() || key.is_some_and(|key| facts.cancelled.contains(&key))
            }
            What::Resume(answer) => {
                let answer = answer.try_recv().ok()?;
                answer.is_err() || key.is_some_and(|key| !facts.paused.contains(&key))
            }
            What::Delete(answer) => {
                let deleted = answer.try_recv().ok()?;
                if let Ok(number) = deleted {
                    self.seen.removed.insert(number);
                    self.seen
                        .archive
                        .retain(|(name, _), _| name != command.name);
                    let removed = self.block_on(self.archive.delete(command.name));
                    removed.expect("an archive in memory");
                }
                deleted.is_err() || key.is_none()
            }
        })
    }
}
