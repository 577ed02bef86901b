//! Claims about results: the numbers of the command line, of the sessions that were asked for, and files
//! that nothing acts in.

use std::time::Duration;

use agon_report::plots::{PlotData, find};
use agon_report::{Layout, Reports, Tables};

use super::*;

/// Sessions of two settings: three of the first, two of the second.
fn lines() -> Vec<String> {
    let played = [(0.5, 0), (0.5, 1), (0.7, 0), (0.5, 2), (0.7, 1)];
    played.map(|(ratio, repeat)| line(ratio, repeat)).to_vec()
}

/// What the command line makes of the sessions that fit.
fn tables(fits: impl Fn(&StoredRecord) -> bool) -> Tables {
    let mut tables = Tables::default();
    for line in lines() {
        let record = StoredRecord::from_line(&line).unwrap();
        if fits(&record) {
            tables.add(&record, &Telemetry::default());
        }
    }
    tables
}

/// The cells of tables in lines of JSON, each table's headings first.
fn cells(blocks: &[Value]) -> Vec<Vec<String>> {
    let tables = blocks.iter().filter(|block| block["block"] == "table");
    let rows = tables.flat_map(|table| {
        let names = table["columns"].as_array().unwrap().iter();
        let names = names
            .map(|column| column["name"].clone())
            .collect::<Vec<_>>();
        let rows = table["rows"].as_array().unwrap().iter();
        let rows = rows.map(|row| row["cells"].as_array().unwrap().clone());
        [names].into_iter().chain(rows).collect::<Vec<_>>()
    });
    let words = |cell: Value| cell.as_str().unwrap().trim_end().replace('\u{a0}', " ");
    rows.map(|row| row.into_iter().map(words).collect())
        .collect()
}

/// The same of a table in Markdown.
fn cells_of_markdown(text: &str) -> Vec<Vec<String>> {
    let rows = text
        .lines()
        .filter(|line| line.starts_with('|') && !line.starts_with("| ---"));
    let unescaped = |cell: &str| {
        let cell = cell.trim().replace("<br>", "\n").replace('\u{a0}', " ");
        cell.trim_end()
            .replace("\\_", "_")
            .replace("\\[", "[")
            .replace("\\]", "]")
    };
    let row = |line: &str| line.trim_matches('|').split('|').map(unescaped).collect();
    rows.map(row).collect()
}

impl Stand {
    async fn ask_results(&self, path: &str) -> Response<Body> {
        let cookie = self.cookie().await;
        self.get(&format!("/api/v1/results{path}"), Some(&cookie))
            .await
    }

    async fn results(&self, path: &str) -> Value {
        let shown = self.ask_results(path).await;
        assert_eq!(shown.status(), StatusCode::OK, "{path}");
        json_of(shown).await
    }

    async fn text(&self, path: &str) -> String {
        let shown = self.ask_results(path).await;
        assert_eq!(shown.status(), StatusCode::OK, "{path}");
        let bytes = to_bytes(shown.into_body(), usize::MAX).await.unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Asserts that the sessions that each row of the measures names are as many as it says; how many rows.
    async fn rows_name_as_many_sessions_as_they_say(&self) -> usize {
        let told = self.results("/tables/measures").await;
        let table = &told["blocks"][0];
        let columns = table["columns"].as_array().unwrap().iter();
        let n = columns
            .map(|column| &column["name"])
            .position(|name| name == "n")
            .unwrap();
        let rows = table["rows"].as_array().unwrap();
        for row in rows {
            let sessions = &row["sessions"];
            let setting = sessions["setting"].to_string();
            let setting = setting
                .replace('"', "%22")
                .replace('{', "%7B")
                .replace('}', "%7D");
            let players = sessions["players"].as_array().unwrap().iter();
            let players = players.map(|player| player.as_str().unwrap().replace(' ', "%20"));
            let players: String = players.map(|player| format!("&player={player}")).collect();
            let query = format!(
                "/sessions?game={}{players}&simulated=false&setting={setting}",
                sessions["game"].as_str().unwrap(),
            );
            let total = self.results(&query).await["total"].to_string();
            assert_eq!(row["cells"][n], json!(total), "{row}");
        }
        rows.len()
    }

    /// Waits until so many sessions are counted.
    pub(super) async fn counted(&self, query: &str, sessions: u64) -> Value {
        let standing = async {
            loop {
                let standing = self.results(query).await;
                if standing["counted"] == sessions {
                    return standing;
                }
                tokio::task::yield_now().await;
            }
        };
        let most = Duration::from_secs(30);
        tokio::time::timeout(most, standing).await.unwrap()
    }
}

#[tokio::test]
async fn results_are_the_tables_of_the_command_line() {
    let stand = Stand::of(&lines(), 5);
    let standing = stand.counted("", 5).await;
    assert_eq!(standing["total"], 5);
    let part = |name: &str| json!({ "name": name }).get("name").cloned();
    let names = standing["parts"].as_array().unwrap().iter();
    let names: Vec<Option<Value>> = names.map(|one| one.get("name").cloned()).collect();
    assert_eq!(
        names,
        ["leaderboard", "overall", "games", "measures"].map(part)
    );
    let own = tables(|_| true);
    for (name, written) in [
        ("measures", own.render(Layout::Markdown)),
        ("games", own.standings().by_game(true, Layout::Markdown)),
        (
            "leaderboard",
            own.beside_published("gamma-bench", Layout::Markdown)
                .unwrap(),
        ),
    ] {
        let told = stand.results(&format!("/tables/{name}")).await;
        let shown = cells(told["blocks"].as_array().unwrap());
        assert_eq!(shown, cells_of_markdown(&written), "{name}");
        // Only one strategy plays, so that nobody is ranked in single games.
        assert_eq!(shown.len() > 2, name != "games", "{name}");
    }
}

#[tokio::test]
async fn filters_leave_the_sessions_that_fit_and_rows_name_theirs() {
    let stand = Stand::of(&lines(), 5);
    for (query, sessions) in [
        ("?where.ratio=0.7", 2),
        ("?run=guesses&where.ratio=0.5", 3),
        ("?run=others", 0),
        ("?game=pirate", 0),
        ("?player=alice", 5),
        ("?player=alice&player=carol", 0),
        ("?player=random", 5),
        ("?setting=%7B%22ratio%22%3A0.5%7D", 3),
        ("?setting=%7B%7D", 0),
        ("?simulated=true", 0),
    ] {
        let standing = stand.counted(query, sessions).await;
        assert_eq!(standing["total"], sessions, "{query}");
        let listed = stand.results(&format!("/sessions{query}")).await;
        assert_eq!(listed["total"], sessions, "{query}");
    }
    let own = tables(|record| record.spec.setting["ratio"] == 0.7);
    stand.counted("?where.ratio=0.7", 2).await;
    let told = stand.results("/tables/measures?where.ratio=0.7").await;
    let shown = cells(told["blocks"].as_array().unwrap());
    assert_eq!(shown, cells_of_markdown(&own.render(Layout::Markdown)));
    stand.counted("", 5).await;
    assert_eq!(stand.rows_name_as_many_sessions_as_they_say().await, 6);
    let wrong = stand.ask_results("?setting=%7B").await;
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_filter_that_may_mean_several_axes_is_refused() {
    let of_one = r#""setting":{"ratio":0.5}"#;
    let of_both = r#""setting":{"a.ratio":0.5,"b.ratio":0.7}"#;
    let both = line(0.5, 0).replace(of_one, of_both);
    let stand = Stand::of(&[both], 1);
    stand.counted("?where.a.ratio=0.5", 1).await;
    for query in ["?where.ratio=0.5", "?where.ratio=0.5&game=guess_two_thirds"] {
        let wrong = stand.ask_results(query).await;
        assert_eq!(wrong.status(), StatusCode::BAD_REQUEST, "{query}");
    }
    stand.counted("?where.ratio=0.5&game=pirate", 0).await;
}

#[tokio::test]
async fn rows_of_other_players_in_the_same_setting_have_sessions_of_their_own() {
    let others = line(0.5, 7).replace("alice", "carol");
    let lines = [line(0.5, 0), line(0.5, 1), others];
    let stand = Stand::of(&lines, 3);
    stand.counted("", 3).await;
    assert_eq!(stand.rows_name_as_many_sessions_as_they_say().await, 6);
}

#[tokio::test]
async fn figures_are_those_of_the_command_line() {
    let stand = Stand::of(&lines(), 5);
    let standing = stand.counted("", 5).await;
    let figures = standing["figures"].as_array().unwrap().iter();
    let figures: Vec<&str> = figures.map(|one| one["name"].as_str().unwrap()).collect();
    assert!(
        figures.contains(&"payoffs") && figures.contains(&"scores"),
        "{figures:?}"
    );
    for name in figures {
        let mut drawn = PlotData::new(find(name).unwrap());
        for line in lines() {
            let record = StoredRecord::from_line(&line).unwrap();
            drawn.add(&record, &Reports::default());
        }
        let figure = drawn.figure();
        let file = async |file: &str| stand.text(&format!("/figures/{name}/{file}")).await;
        assert_eq!(file("figure.csv").await, figure.csv(), "{name}");
        assert_eq!(file("figure.svg").await, figure.svg(), "{name}");
        assert_eq!(file("dark.svg").await, figure.svg_on_dark(), "{name}");
        let told = stand.results(&format!("/figures/{name}")).await;
        assert_eq!(told["caption"], json!(figure.caption), "{name}");
        let points = told["points"]["rows"].as_array().unwrap();
        let marks = figure
            .csv()
            .lines()
            .skip(1)
            .filter(|line| !line.contains("baseline"))
            .count();
        assert!(!points.is_empty() && points.len() <= marks, "{name}");
    }
    for missing in [
        "/figures/none",
        "/figures/payoffs/x.png",
        "/tables/none",
        "/tables/games/9.csv",
    ] {
        let missing = stand.ask_results(missing).await;
        assert_eq!(missing.status(), StatusCode::NOT_FOUND);
    }
}

#[tokio::test]
async fn what_comes_later_is_counted_too_and_what_cannot_be_read_is_told() {
    let all = lines();
    let stand = Stand::of(&all[..3], 2);
    let standing = stand.counted("", 2).await;
    assert_eq!(standing["total"], 3);
    assert_eq!(standing["notes"], json!(["unreadable: the disk is gone"]));
    let stand = Stand::of(&all, 5);
    let key = stand
        .library
        .index
        .write()
        .add_run("more", "here".to_owned());
    stand.counted("", 5).await;
    let session = Session::from_line(line(0.9, 7).as_bytes()).unwrap();
    let place = Place { file: 0, offset: 0 };
    stand.library.index.write().add(key, &session, place);
    // A session that stands in both is counted in the first.
    let again = Session::from_line(all[0].as_bytes()).unwrap();
    stand.library.index.write().add(key, &again, place);
    let standing = stand.counted("", 6).await;
    let note = "more: 1 of its sessions stand in another run as well, and are listed there.";
    assert_eq!(standing["notes"], json!([note]));
    assert_eq!(
        standing["choices"]["axes"]["ratio"],
        json!(["0.5", "0.7", "0.9"])
    );
    assert_eq!(standing["choices"]["runs"][1]["run"], "more");
}

#[tokio::test]
async fn no_cell_of_a_file_is_a_formula() {
    let lines = lines();
    let hostile = lines
        .iter()
        .map(|line| line.replace("alice", "=cmd|'/C calc'!A0"));
    let hostile: Vec<String> = hostile.collect();
    let stand = Stand::of(&hostile, 5);
    stand.counted("", 5).await;
    for path in ["/tables/measures/0.csv", "/figures/payoffs/figure.csv"] {
        let shown = stand.ask_results(path).await;
        let saved = shown.headers()["content-disposition"]
            .to_str()
            .unwrap()
            .to_owned();
        assert!(saved.starts_with("attachment; filename=\""), "{saved}");
        assert_eq!(shown.headers()[CONTENT_TYPE], "text/csv; charset=utf-8");
        let text = stand.text(path).await;
        let cells = text.lines().flat_map(|line| line.split(','));
        let cells = cells.map(|cell| cell.trim_start_matches('"'));
        for cell in cells {
            let is_number = cell.parse::<f64>().is_ok();
            assert!(
                is_number || !cell.starts_with(['=', '+', '@']),
                "{path}: {cell}"
            );
        }
    }
    let told = stand.results("/tables/measures").await.to_string();
    assert!(told.contains("=cmd"), "{told}");
}
