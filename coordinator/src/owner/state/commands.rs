//! Commands about whole experiments, and questions about them: each goes to the queue, and its answer
//! waits for the journal. Called by the owner's state.

use super::OwnerState;
use crate::owner::messages::Message;
use crate::specs::KnownExperiment;

impl OwnerState {
    /// Carries out a command, and answers it once what comes of it is in the journal.
    pub(super) fn on_command(&mut self, command: Message) {
        let now = self.now;
        match command {
            Message::Submit {
                submitted,
                document,
                mut stored,
                accept_new,
                pause,
                reply,
            } => {
                let name = submitted.name.clone();
                let key = self.removals.check(&name).and_then(|()| {
                    let pause = pause.as_deref();
                    self.queue.submit(submitted, accept_new, pause, now)
                });
                if let Ok(key) = key
                    && let Some(submitted) = self.queue.submitted(key)
                {
                    if let Some(before) = self.specs.get(key) {
                        stored.keep_templates(&before.stored);
                    }
                    let known = KnownExperiment::new(submitted.clone(), document, *stored);
                    self.specs.put(known);
                }
                let answer = key.and_then(|_| self.queue.progress(&name));
                self.answer(reply, answer);
            }
            Message::Cancel { name, reply } => {
                let answer = self.queue.cancel(&name, now);
                self.answer(reply, answer);
            }
            Message::Pause { name, why, reply } => {
                let answer = self.queue.pause_by_hand(&name, &why);
                self.answer(reply, answer);
            }
            Message::Retry {
                name,
                positions,
                reply,
            } => {
                let answer = self.queue.retry(&name, positions.as_deref(), now);
                self.answer(reply, answer);
            }
            Message::Resume {
                name,
                budget,
                only_for,
                reply,
            } => {
                let answer = self.queue.resume(&name, budget, only_for.as_deref(), now);
                self.answer(reply, answer);
            }
            Message::HoldName { name, reply } => {
                let answer = self.removals.hold(&name);
                self.answer(reply, answer);
            }
            Message::Delete { name, reply } => {
                let answer = self.queue.delete(&name);
                if let Ok(key) = answer {
                    self.specs.remove(key);
                }
                self.answer(reply, answer);
            }
            Message::Progress {
                name,
                unless,
                reply,
            } => {
                let version = self.queue.version(&name);
                let answer = match version.filter(|version| unless != Some(*version)) {
                    None if version.is_some() => Ok(None),
                    version => self
                        .queue
                        .progress(&name)
                        .map(|progress| Some((version.unwrap_or_default(), progress))),
                };
                self.answer(reply, answer);
            }
            Message::List { reply } => {
                let answer = Ok(self.queue.list());
                self.answer(reply, answer);
            }
            Message::Finished {
                name,
                after,
                most,
                reply,
            } => {
                let answer = self.finished(&name, after, most);
                self.answer(reply, answer);
            }
            _ => {}
        }
    }
}
