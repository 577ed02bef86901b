//! Sessions that wait behind all others, in the order in which they came. Called by the sessions of an
//! experiment.

use std::collections::BTreeMap;

/// Sessions in the order in which they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Line {
    entered: u64,
    order: BTreeMap<u64, u32>,
    places: BTreeMap<u32, u64>,
}

impl Line {
    /// The last one from now on.
    pub fn enter(&mut self, position: u32) {
        self.entered += 1;
        self.order.insert(self.entered, position);
        self.places.insert(position, self.entered);
    }

    /// It waits no more.
    pub fn leave(&mut self, position: u32) {
        if let Some(place) = self.places.remove(&position) {
            self.order.remove(&place);
        }
    }

    /// Whose turn it is.
    pub fn first(&self) -> Option<u32> {
        self.order.first_key_value().map(|(_, position)| *position)
    }

    /// All of them, the first one first.
    pub fn in_order(&self) -> impl Iterator<Item = u32> {
        self.order.values().copied()
    }
}
