//! What numbers over a run leave out, and why. Told with the run and with everything that is reckoned
//! from it. Part of `index.rs`.

use std::collections::BTreeSet;

/// Lines that cannot be read are told one by one up to this number.
const MOST_NOTES: usize = 20;

/// See the module.
#[derive(Default)]
pub(super) struct Gaps {
    /// What is wrong with lines that cannot be read.
    unreadable: BTreeSet<String>,
    /// How many these are.
    lines: usize,
    /// How many sessions cannot be had for now, and why the last of them.
    pub missing: Option<(usize, String)>,
    /// Sessions that stand in a run that was read before.
    pub elsewhere: usize,
}

impl Gaps {
    pub fn note_unreadable(&mut self, note: String) {
        self.lines += 1;
        if self.unreadable.len() < MOST_NOTES {
            self.unreadable.insert(note);
        }
    }

    /// All of it, line by line.
    pub fn notes(&self) -> Vec<String> {
        self.unreadable
            .iter()
            .cloned()
            .chain(self.counts())
            .collect()
    }

    /// How many sessions each reason leaves out.
    pub fn counts(&self) -> impl Iterator<Item = String> {
        let missing = self.missing.as_ref().map(|(count, why)| {
            format!(
                "missing here: {count} of its sessions, which cannot be fetched for now ({why})"
            )
        });
        let lines = (self.lines > 0).then(|| {
            format!(
                "missing here: {} of its lines, which cannot be read",
                self.lines
            )
        });
        let elsewhere = (self.elsewhere > 0).then(|| {
            let count = self.elsewhere;
            format!("{count} of its sessions stand in another run as well, and are listed there.")
        });
        [missing, lines, elsewhere].into_iter().flatten()
    }
}
