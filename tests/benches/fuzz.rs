//! Gives parsers and doors inputs that nobody should send, from a seed, for so many seconds each. Run
//! it with `cargo bench --profile dev -p agon-tests --bench fuzz -- TARGET... [--seconds N | --cases N |
//! --case NUMBER] [--seed S]`, all targets without a name; in that profile sums that overflow panic.
//! Prints a line for each target; fails when anything was found.

#[path = "fuzz/hunt.rs"]
mod hunt;

use std::process::ExitCode;
use std::time::Duration;

use hunt::{TARGETS, Until};

/// Of each target, unless `--seconds` says otherwise.
const SECONDS: u64 = 60;

fn main() -> ExitCode {
    let mut asked = Vec::new();
    let (mut until, mut seed) = (Until::Time(Duration::from_secs(SECONDS)), 1);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || arguments.next().and_then(|number| number.parse().ok());
        let is_good = match &*argument {
            "--seconds" => number()
                .map(|number| until = Until::Time(Duration::from_secs(number)))
                .is_some(),
            "--cases" => number()
                .map(|number| until = Until::Cases(number))
                .is_some(),
            "--case" => number().map(|number| until = Until::Only(number)).is_some(),
            "--seed" => number().map(|number| seed = number).is_some(),
            // What cargo adds.
            "--bench" => true,
            name => {
                asked.push(name.to_owned());
                TARGETS.iter().any(|(known, _)| *known == name)
            }
        };
        if !is_good {
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            eprintln!(
                "cannot read `{argument}`: TARGET... [--seconds N | --cases N | --case NUMBER] [--seed S]; targets are {}",
                names.join(", ")
            );
            return ExitCode::from(2);
        }
    }
    let mut is_clean = true;
    for (name, make) in TARGETS {
        if !asked.is_empty() && !asked.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!(
            "{name}: the case under way is in {}",
            hunt::scratch()
                .join(format!("{name}-{seed}.case"))
                .display()
        );
        let outcome = hunt::hunt(name, make, seed, until);
        let rate = outcome.cases as f64 / outcome.took.as_secs_f64().max(0.001);
        println!(
            "{name:<15} seed {seed}: {:>8} cases, {rate:>7.0}/s, longest {:.2?} (case {}), +{} MB at most, {} findings, {} slow",
            outcome.cases,
            outcome.longest.0,
            outcome.longest.1,
            outcome.growth_mb,
            outcome.findings.len(),
            outcome.slow.len()
        );
        for line in outcome.findings.iter().chain(&outcome.slow) {
            println!("  {line}");
        }
        is_clean &= outcome.findings.is_empty() && outcome.slow.is_empty();
    }
    if is_clean {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
