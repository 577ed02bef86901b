//! A few hundred of the inputs that `cargo bench -p agon-tests --bench fuzz` gives to each parser and
//! door, the same ones every time: none panics, and the process does not grow beyond its bound.

#[path = "../benches/fuzz/hunt.rs"]
#[allow(dead_code)] // What only the bench asks for.
mod hunt;

use hunt::{TARGETS, Until, hunt};

/// Of each target: some twenty seconds in all, without optimisation.
const CASES: u64 = 200;

const SEED: u64 = 1;

#[test]
fn hostile_inputs_end_in_an_answer_or_a_fault_at_every_door() {
    let mut found = Vec::new();
    for (name, make) in TARGETS {
        let outcome = hunt(name, make, SEED, Until::Cases(CASES));
        println!("{name}: {} cases in {:.1?}", outcome.cases, outcome.took);
        found.extend(outcome.findings);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
