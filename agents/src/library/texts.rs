//! Texts that many seats have in common, as the rules of a game are for the same seat of all its
//! sessions: each is kept once, for as long as somebody has it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module.
#[derive(Debug, Default)]
pub struct Texts(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    texts: BTreeSet<Arc<str>>,
    /// How many were still in use when they were last looked through.
    used: usize,
}

/// So many texts are kept before those that nobody has any more are looked for.
const FEW: usize = 64;

impl Texts {
    /// The text, as whoever came first with it has it.
    pub fn shared(&self, text: String) -> Arc<str> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.texts.get(&*text) {
            return Arc::clone(known);
        }
        // At twice as many, so that looking through them costs each text the same.
        if kept.texts.len() >= FEW.max(2 * kept.used) {
            kept.texts.retain(|text| Arc::strong_count(text) > 1);
            kept.used = kept.texts.len();
        }
        let text: Arc<str> = text.into();
        kept.texts.insert(Arc::clone(&text));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_and_those_that_nobody_has_are_let_go() {
        let texts = Texts::default();
        let held = texts.shared("the rules".to_owned());
        for number in 0..10 * FEW {
            texts.shared(format!("the rules of game {number}"));
        }
        let again = texts.shared("the rules".to_owned());
        assert!(Arc::ptr_eq(&held, &again));
        let kept = texts.0.lock().unwrap();
        assert!(kept.texts.len() <= FEW, "{} are kept", kept.texts.len());
    }
}
