//! What commands say beside results: how much is done already, what is a guess, and that only a
//! terminal is narrow. Starts the real binary.

use std::fs;
use std::process::Command;

use agon_tests::binary::{self, Ended, run};
use agon_tests::left_out::left_out;
use agon_tests::runs;

#[test]
fn a_plan_leaves_out_what_is_done() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let experiment = runs::write(folder.path(), &runs::dividers("dividers", 3));
    let experiment = experiment.display().to_string();
    let plan = |repeats: &str| {
        let asked = [
            "plan",
            &experiment,
            "--model",
            "sim",
            "--data",
            &data,
            "--repeats",
            repeats,
        ];
        run(&asked).expect_code(0).out
    };
    assert!(!plan("3").contains("done already"), "{}", plan("3"));
    let played = [
        "run",
        &experiment,
        "--model",
        "sim",
        "--data",
        &data,
        "--repeats",
        "1",
        "--quiet",
    ];
    let _ = run(&played).expect_code(0);
    let said = plan("3");
    assert!(said.contains("1 session is done already"), "{said}");
    assert!(said.contains("the remaining 2"), "{said}");
    let said = plan("1");
    assert!(
        said.contains("No model calls are left: nothing to pay."),
        "{said}"
    );
}

#[test]
fn a_plan_warns_where_tokens_of_reasoning_are_a_guess() {
    let planned = |model: &str| {
        let mut command = binary::command(&["plan", "gamma-bench/leaderboard", "--model", model]);
        let folder = tempfile::tempdir().unwrap();
        command
            .current_dir(folder.path())
            .env("OPENAI_API_KEY", "x");
        Ended::from(command.output().unwrap()).expect_code(0).out
    };
    for (model, warns) in [("openai/o3", true), ("openai/gpt-4o-mini", false)] {
        let said = planned(model);
        let warned = said.contains(&format!("WARNING: {model} is a reasoning model"));
        assert_eq!(warned, warns, "{said}");
        assert!(!said.contains("not ready to run"), "{said}");
    }
    let said = planned("opnai/gpt-4");
    assert!(
        said.contains("not ready to run: unknown model \"opnai/gpt-4\""),
        "{said}"
    );
}

/// The files of a run in a terminal of 60 columns are those of a run that is piped.
#[test]
fn no_file_inherits_the_width_of_the_terminal() {
    let test = "no_file_inherits_the_width_of_the_terminal";
    if Command::new("script").arg("--version").output().is_err() {
        return left_out(test, "there is no `script`, which makes a terminal");
    }
    let folder = tempfile::tempdir().unwrap();
    let experiment = runs::write(folder.path(), &runs::rule_bidders("width", 2, ""));
    let [narrow, piped] = ["narrow", "piped"].map(|name| folder.path().join(name));
    let agon = binary::path().display().to_string();
    let data = folder.path().join("data").display().to_string();
    let typed = format!(
        "{agon} run {} --out {} --data {data}",
        experiment.display(),
        narrow.display(),
    );
    let mut command = Command::new("script");
    command.args(["--quiet", "--return", "--command", &typed, "/dev/null"]);
    let ended = Ended::from(command.env("COLUMNS", "60").output().unwrap()).expect_code(0);
    let tables = |text: &str| -> usize {
        let rows = text.lines().filter(|line| line.starts_with(' '));
        rows.map(|line| line.trim_end().chars().count())
            .max()
            .unwrap_or(0)
    };
    assert!((1..=60).contains(&tables(&ended.out)), "{}", ended.out);
    let _ = runs::run_into(&experiment, &piped, &["--data", &data]).expect_code(0);
    let [narrow, piped] = [narrow, piped].map(|out| {
        let text = fs::read_to_string(out.join("summary.txt")).unwrap();
        // The first line says when.
        let lines = text.lines().filter(|line| !line.starts_with("Run 1 of "));
        lines.collect::<Vec<_>>().join("\n")
    });
    assert_eq!(narrow, piped);
    assert!(tables(&narrow) > 60, "{narrow}");
}
