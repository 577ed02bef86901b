//! Figures, comparisons and one-page reports of real runs, as a user asks for them: every figure is
//! drawn or says that there is nothing, numbers beside pictures are those of the export, and a page
//! asks nothing of the network.

use std::fs;
use std::path::Path;

use agon_report::plots::plots;
use agon_tests::binary::run;
use agon_tests::{runs, tree};

/// A data folder with recorded games of every family as runs.
fn recorded(data: &str) {
    for (name, file) in [
        ("imported-games", "gamma"),
        ("wac", "wac.jsonl.gz"),
        ("aucarena", "aucarena.jsonl.gz"),
        ("econarena", "econarena.jsonl.gz"),
    ] {
        let games = tree::recorded().join(file).display().to_string();
        let ended = run(&["import", &games, "--name", name, "--data", data]);
        assert!(ended.out.contains("imported as"), "{}", ended.err);
    }
}

#[test]
fn every_figure_is_drawn_or_says_that_there_is_nothing_to_show() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    recorded(&data);
    let mut drawn = 0;
    for plot in plots() {
        let out = folder.path().join(format!("{}.svg", plot.name));
        let path = out.display().to_string();
        let ended = run(&["figure", plot.name, "--data", &data, "-o", &path, "--csv"]);
        if ended.code == Some(2) {
            assert!(
                ended.err.contains("has anything for the figure"),
                "{}",
                ended.err
            );
            continue;
        }
        let ended = ended.expect_code(0);
        assert!(ended.err.contains(plot.name), "{}", ended.err);
        drawn += 1;
        let svg = fs::read_to_string(&out).unwrap();
        assert!(
            svg.starts_with("<svg") && svg.contains("n = "),
            "{}",
            plot.name
        );
        let rows = csv::Reader::from_path(out.with_extension("csv")).unwrap();
        assert!(rows.into_records().count() > 0, "{}", plot.name);
    }
    assert!(drawn >= 25, "{drawn}");
}

#[test]
fn a_figure_is_a_picture_a_document_or_a_plot_of_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    recorded(&data);
    let bytes = |ending: &str| {
        let out = folder.path().join(format!("survival.{ending}"));
        let path = out.display().to_string();
        let _ = run(&[
            "figure",
            "alympics-survival",
            "wac",
            "--data",
            &data,
            "-o",
            &path,
        ])
        .expect_code(0);
        fs::read(out).unwrap()
    };
    assert!(bytes("png").starts_with(b"\x89PNG"));
    assert!(bytes("pdf").starts_with(b"%PDF"));
    let shown = run(&["figure", "alympics-survival", "wac", "--data", &data]).expect_code(0);
    assert!(
        shown.out.contains("Alex") && shown.out.contains("survival"),
        "{}",
        shown.out
    );
    let odd = run(&[
        "figure",
        "alympics-survival",
        "wac",
        "--data",
        &data,
        "-o",
        "x.gif",
    ]);
    assert!(odd.expect_code(2).err.contains("neither with .svg"));
    let unknown = run(&["figure", "alympics-survivel"]).expect_code(2);
    assert!(unknown.err.contains("alympics-survival"), "{}", unknown.err);
}

#[test]
fn numbers_of_a_figure_are_means_over_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let games = tree::recorded().join("gamma").display().to_string();
    let _ = run(&["import", &games, "--data", &data]).expect_code(0);
    let out = folder.path().join("scores.csv");
    let path = out.display().to_string();
    let figure = [
        "figure",
        "gamma-bench-leaderboard",
        "--data",
        &data,
        "--overwrite",
        "-o",
        &path,
    ];
    let plain = [
        "--where", "variant=", "--where", "mode=", "--where", "price=",
    ];
    let _ = run(&[&figure[..], &plain].concat()).expect_code(0);
    let text = fs::read_to_string(&out).unwrap();
    // Two recorded games, 94.195 and 92.665 by the record.
    let row = text
        .lines()
        .find(|line| line.contains("qwen2-72b") && line.contains("guess_two_thirds"))
        .unwrap_or_else(|| panic!("{text}"));
    let cells: Vec<&str> = row.split(',').collect();
    let has = |wanted: f64| {
        let numbers = cells.iter().filter_map(|cell| cell.parse::<f64>().ok());
        numbers
            .into_iter()
            .any(|number| (number - wanted).abs() < 1e-6)
    };
    assert!(has(93.43) && has(2.0), "{row}");
    let nothing = ["--where", "variant=none-such"];
    let nothing = run(&[&figure[..], &nothing].concat()).expect_code(2);
    assert!(nothing.err.contains("fits --where"), "{}", nothing.err);
}

#[test]
fn a_page_holds_tables_figures_and_what_was_run_and_asks_nothing_of_the_network() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let _ = run(&[
        "run",
        "gamma-bench/quick-start",
        "--model",
        "sim",
        "--data",
        &data,
    ])
    .expect_code(0);
    let out = folder.path().join("report.html");
    let path = out.display().to_string();
    let _ = run(&["report", "--data", &data, "-o", &path]).expect_code(0);
    let html = fs::read_to_string(&out).unwrap();
    for wanted in [
        "gamma-bench-quick-start-sim",
        "played by SIMULATED models",
        "<h2>Leaderboard</h2>",
        "<h2>Figures</h2>",
        "Data of gamma-bench-pirate",
        "sim at this process",
        "The experiment",
    ] {
        assert!(html.contains(wanted), "{wanted}");
    }
    // Points lead to the sessions behind them, and all of these are there.
    let links: Vec<&str> = html
        .split("href=\"#")
        .skip(1)
        .filter_map(|rest| rest.split('"').next())
        .filter(|link| link.starts_with("setting-"))
        .collect();
    assert!(links.len() > 20, "{}", links.len());
    for link in links {
        assert!(html.contains(&format!("id=\"{link}\"")), "{link}");
    }
    let records = fs::read(
        folder
            .path()
            .join("data/runs/gamma-bench-quick-start-sim/records.jsonl"),
    );
    let records = runs::parsed(&records.unwrap());
    for record in &records {
        let session = record["session"].as_str().unwrap();
        assert!(html.contains(session), "{session}");
    }
    let asks_for = ["src=", "<script", "@import", "url(http", "<link"];
    for one in asks_for {
        assert!(!html.contains(one), "{one}");
    }
    let addresses = html
        .match_indices("http")
        .filter(|(at, _)| !html[*at..].starts_with("http://www.w3.org/"));
    assert_eq!(
        addresses
            .filter(|(at, _)| html[*at..].starts_with("http:") || html[*at..].starts_with("https:"))
            .count(),
        0
    );
}

#[test]
fn runs_are_compared_in_pairs_of_the_same_luck() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let quick = ["run", "gamma-bench/quick-start", "--data", &data];
    let _ = run(&quick).expect_code(0);
    let _ = run(&[&quick[..], &["--model", "sim", "--repeats", "5"]].concat()).expect_code(0);
    let names = ["gamma-bench-quick-start", "gamma-bench-quick-start-sim"];
    let compare = [
        "compare", names[0], names[1], "--data", &data, "--format", "markdown",
    ];
    let shown = run(&compare).expect_code(0).out;
    // The page of both has the same table.
    let page = folder.path().join("both.html").display().to_string();
    let report = ["report", names[0], names[1], "--data", &data, "-o", &page];
    let _ = run(&report).expect_code(0);
    let page = fs::read_to_string(&page).unwrap();
    assert!(page.contains("<h2>Comparisons</h2>\n<h3>Runs</h3>"));
    let who = format!("A is {}, ", names[0]);
    assert!(shown.replace('\\', "").contains(&who), "{shown}");
    assert!(page.contains(&who), "{page}");
    let row = shown
        .lines()
        .find(|line| line.contains("| pirate |") && line.contains("score iclr2025"))
        .unwrap_or_else(|| panic!("{shown}"));
    let row = row.replace("\\_", "_");
    assert!(
        row.contains("| 3 |") && row.contains("2 only in B"),
        "{row}"
    );
    // Of a run with itself nothing differs.
    let same = [
        "compare", names[0], names[0], "--data", &data, "--format", "markdown",
    ];
    let same = run(&same).expect_code(0).out;
    assert!(same.contains("| 0.00 | - |"), "{same}");
    assert!(same.contains("all differences are the same"), "{same}");
    // Games of real models are not compared with simulated ones.
    let games = tree::recorded().join("gamma").display().to_string();
    let _ = run(&["import", &games, "--data", &data]).expect_code(0);
    let mixed = ["compare", "imported-games", names[1], "--data", &data];
    let mixed = run(&mixed).expect_code(0).out;
    assert!(
        mixed.contains("No session of A has a partner in B"),
        "{mixed}"
    );
    assert!(Path::new(&data).join("runs").exists());
}

#[test]
fn of_several_players_each_is_compared_with_itself() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let games = tree::recorded().join("gamma").display().to_string();
    for name in ["one", "other"] {
        let _ = run(&["import", &games, "--name", name, "--data", &data]).expect_code(0);
    }
    let compare = [
        "compare", "one", "other", "--data", &data, "--format", "markdown",
    ];
    let shown = run(&compare).expect_code(0).out;
    for player in ["(qwen2-72b)", "(gpt-4o)"] {
        let mut rows = shown.lines().filter(|line| line.contains(player));
        let row = rows.next().unwrap_or_else(|| panic!("{player}: {shown}"));
        assert!(row.contains("| 0.00 |"), "{row}");
    }
}

#[test]
fn leaderboards_are_best_first_by_game_and_over_all_games() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    recorded(&data);
    let board = |arguments: &[&str]| {
        let all = [
            &["leaderboard", "--data", &data, "--format", "markdown"],
            arguments,
        ];
        run(&all.concat()).expect_code(0).out.replace('\\', "")
    };
    let plain = [
        "--where", "variant=", "--where", "mode=", "--where", "price=",
    ];
    let by_game = board(&[&["imported-games", "--by", "game"][..], &plain].concat());
    let guessing = by_game.split("guess_two_thirds: score").nth(1).unwrap();
    let rows = guessing.lines().filter(|line| line.starts_with("| "));
    let rows: Vec<Vec<&str>> = rows
        .skip(2)
        .map(|row| row.split('|').map(str::trim).collect())
        .take(20)
        .collect();
    let means: Vec<f64> = rows.iter().filter_map(|row| row[3].parse().ok()).collect();
    assert!(means.len() == 20 && means.is_sorted_by(|one, other| one >= other));
    let has = |player: &str| rows.iter().any(|row| row[2] == player);
    assert!(
        has("qwen2-72b") && has("Gemini-1.5-Pro (published)"),
        "{rows:?}"
    );
    let overall = board(&[&["imported-games", "--by", "overall"][..], &plain].concat());
    let missing = overall.lines().find(|line| line.contains("| qwen2-72b |"));
    let missing = missing.unwrap_or_else(|| panic!("{overall}"));
    assert!(
        missing.contains("7 of 8") && missing.contains("no overall"),
        "{missing}"
    );
    // Players who met have ratings, everyone of them.
    let auctions = board(&["aucarena"]);
    let ratings = auctions.split("Ratings in english_auction").nth(1).unwrap();
    for player in ["Bidder 1", "Bidder 5", "patient_raiser"] {
        assert!(ratings.contains(&format!("| {player} |")), "{ratings}");
    }
    let nobody = run(&[
        "leaderboard",
        "aucarena",
        "--by",
        "overall",
        "--where",
        "players=9",
        "--data",
        &data,
    ]);
    assert_eq!(nobody.code, Some(2));
}

#[test]
fn what_a_filter_leaves_out_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data").display().to_string();
    let games = tree::recorded().join("gamma").display().to_string();
    let import = ["import", &games, &games, "--data", &data];
    let imported = run(&import).expect_code(0);
    assert!(
        imported
            .err
            .contains("512 games came again and counted once"),
        "{}",
        imported.err
    );
    let out = folder.path().join("tables");
    let out = out.display().to_string();
    let export = [
        "export", "--data", &data, "--out", &out, "--where", "variant=",
    ];
    let export = run(&export).expect_code(0);
    let mut notes = export.out.lines();
    let left_out = notes.find(|line| line.contains("left out by --where"));
    assert!(
        left_out.is_some_and(|line| !line.contains("512")),
        "{}",
        export.out
    );
    let whole = [
        "show",
        "imported-games",
        "--data",
        &data,
        "--format",
        "latex",
    ];
    let whole = run(&whole).expect_code(2);
    assert!(whole.err.contains("--measures"), "{}", whole.err);
}

#[test]
fn a_filter_that_may_mean_several_axes_is_refused_with_what_to_type() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("auction.toml");
    fs::write(
        &file,
        r#"
            name = "auction"
            [players.a]
            kind = "rule"
            strategy = "equilibrium"
            [players.b]
            kind = "rule"
            strategy = "equilibrium"
            [grid]
            "players.a.strategy" = ["random", "equilibrium"]
            "players.b.strategy" = ["random", "equilibrium"]
            [[games]]
            game = "second_price_auction"
            seats = ["a", "b"]
        "#,
    )
    .unwrap();
    let [file, data] = [&file, &folder.path().join("data")].map(|path| path.display().to_string());
    let _ = run(&["run", &file, "--data", &data]).expect_code(0);
    let figure = ["figure", "payoffs", "auction", "--data", &data, "--where"];
    let refused = run(&[&figure[..], &["strategy=random"]].concat()).expect_code(2);
    assert_eq!(
        refused.err.trim(),
        "error: --where strategy=random: several axes end with \"strategy\": a.strategy and \
         b.strategy; type --where a.strategy=random or --where b.strategy=random"
    );
    for one in ["a.strategy=random", "players.b.strategy=random"] {
        let drawn = run(&[&figure[..], &[one]].concat()).expect_code(0);
        let left_out = "2 sessions left out by --where";
        assert!(drawn.err.contains(left_out), "{}", drawn.err);
    }
    // Who asks for sessions of another game is told that there is none.
    let other = ["strategy=random", "--where", "game=pirate"];
    let other = run(&[&figure[..], &other].concat()).expect_code(2);
    assert!(other.err.contains("fits --where"), "{}", other.err);
}

#[test]
fn the_documentation_names_every_figure() {
    let documented = fs::read_to_string(tree::root().join("docs/figures.md")).unwrap();
    for plot in plots() {
        let row = format!("\n- `{}`: {}", plot.name, plot.about);
        assert!(documented.contains(&row), "{row}");
    }
}
