//! What benchmarks have in common: the sections that are asked for, and figures beside their bars. They
//! decide nothing, and fail only when they cannot measure.

use std::panic::catch_unwind;
use std::process::ExitCode;

/// The name of a section and what it measures.
pub type Section = (&'static str, fn());

/// Runs the sections that the command line names, all where it names none.
pub fn run(sections: &[Section]) -> ExitCode {
    let arguments = std::env::args().skip(1);
    let asked: Vec<String> = arguments.filter(|one| !one.starts_with('-')).collect();
    let known = |name: &String| sections.iter().any(|(section, _)| section == name);
    if let Some(unknown) = asked.iter().find(|name| !known(name)) {
        let names: Vec<&str> = sections.iter().map(|(name, _)| *name).collect();
        eprintln!("no section `{unknown}`; there are {}", names.join(", "));
        return ExitCode::from(2);
    }
    let mut unmeasured = Vec::new();
    for (name, section) in sections {
        if !asked.is_empty() && !asked.iter().any(|wanted| wanted == name) {
            continue;
        }
        println!("\n== {name}");
        if catch_unwind(section).is_err() {
            unmeasured.push(*name);
        }
    }
    if unmeasured.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nnot measured: {}", unmeasured.join(", "));
    ExitCode::FAILURE
}

/// One line: what was measured, the figure, its bar, met or not.
pub fn bar(what: &str, figure: &str, bar: &str, met: bool) {
    let verdict = if met { "met" } else { "NOT MET" };
    println!("{what}: {figure} (bar {bar}): {verdict}");
}

/// A line that explains a figure and has no bar.
pub fn note(text: &str) {
    println!("  {text}");
}
