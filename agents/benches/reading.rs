//! What reading one reply costs: an ordinary one, and hostile ones of two lengths, of which
//! the longer may take ten times as long and no more. Run with
//! `cargo bench -p agon-agents --bench reading`.

use agon_agents::{Reply, reading};
use agon_engine::{Ask, AskRole, Form};
use divan::Bencher;

const ORDINARY: &str = "My health is at 8 and I have $170. Bob will probably bid about $60, so I \
    will bid $72 today, which leaves me $98 for tomorrow.";

/// What a text of which makes a careless reader slow.
const HOSTILE: &[&str] = &[
    "[[1,2],",
    "{\"bid\":",
    "i will ",
    "1,",
    "i bid 3 or ",
    "<think>",
];

fn main() {
    divan::main();
}

#[divan::bench]
fn ordinary(bencher: Bencher) {
    read(bencher, ORDINARY.to_owned());
}

#[divan::bench(args = HOSTILE)]
fn hostile_100_kb(bencher: Bencher, piece: &str) {
    read(bencher, piece.repeat(100_000 / piece.len()));
}

#[divan::bench(args = HOSTILE)]
fn hostile_1_mb(bencher: Bencher, piece: &str) {
    read(bencher, piece.repeat(1_000_000 / piece.len()));
}

fn read(bencher: Bencher, text: String) {
    let ask = Ask {
        seat: 0,
        kind: "bid".into(),
        role: AskRole::Bid,
        form: Form::Amount { min: 0, max: None },
        foul_allowance: 0,
    };
    let reply = Reply {
        text,
        finish_reason: "stop".to_owned(),
    };
    bencher.bench(|| reading::read(&ask, &reply));
}
