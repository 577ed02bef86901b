//! Names of experiments that are being removed: nothing is submitted under them until nobody writes a
//! segment of the old experiment any more and its files are gone. In memory only: whatever a coordinator
//! leaves behind when it dies, the next removal of that name finds. Called by the
//! owner's state.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use tokio::sync::oneshot;

use crate::queue::Refusal;

/// Keeps a name from being submitted; dropped, it is free again.
#[derive(Debug)]
pub struct HeldName {
    _holder: Arc<()>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Removals {
    held: BTreeMap<String, Weak<()>>,
    /// Who waits until nobody writes a segment of these experiments.
    waiting: Vec<(u32, oneshot::Sender<()>)>,
}

impl Removals {
    /// Holds a name.
    ///
    /// # Errors
    /// Somebody holds it already.
    pub fn hold(&mut self, name: &str) -> Result<HeldName, Refusal> {
        self.check(name)?;
        self.held.retain(|_, holder| holder.strong_count() > 0);
        let holder = Arc::new(());
        self.held.insert(name.to_owned(), Arc::downgrade(&holder));
        Ok(HeldName { _holder: holder })
    }

    /// Whether something may be submitted under a name.
    ///
    /// # Errors
    /// What had that name is still being removed.
    pub fn check(&self, name: &str) -> Result<(), Refusal> {
        let holder = self.held.get(name);
        match holder.is_some_and(|holder| holder.strong_count() > 0) {
            true => Err(Refusal::BeingRemoved(name.to_owned())),
            false => Ok(()),
        }
    }

    /// Answers once nobody writes a segment of an experiment.
    pub fn wait(&mut self, experiment: u32, reply: oneshot::Sender<()>) {
        self.waiting.push((experiment, reply));
    }

    /// Answers those who need not wait any more.
    pub fn answer(&mut self, is_written: impl Fn(u32) -> bool) {
        let due = self.waiting.extract_if(.., |(key, _)| !is_written(*key));
        for (_, reply) in due {
            // Whoever asked may have gone.
            let _ = reply.send(());
        }
    }
}
