//! Lines that a person types, or a program pipes in. A thread of its own reads them,
//! because reading cannot be called off; the process does not wait for it at its end.

use std::io::{BufRead as _, IsTerminal as _, stdin};
use std::thread;

use tokio::sync::mpsc;

/// Lines that wait until they are wanted; a pipe may bring all of them at once.
const WAITING: usize = 16;

/// The keyboard, or what stands in its place.
pub struct Typing {
    lines: mpsc::Receiver<String>,
    /// Whether somebody sits there.
    pub is_terminal: bool,
}

impl Typing {
    /// Starts to read.
    pub fn start() -> Self {
        let (sender, lines) = mpsc::channel(WAITING);
        thread::spawn(move || {
            for line in stdin().lock().lines() {
                let Ok(line) = line else { return };
                if sender.blocking_send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            lines,
            is_terminal: stdin().is_terminal(),
        }
    }

    /// The next line; `None` when there will be no more.
    pub async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }
}
