//! Claims about tables as text: what they never break, and what they do where there is little
//! room.

use super::*;

fn table(columns: &[Column], rows: &[&[&str]]) -> TextTable {
    let mut table = TextTable::new(columns.to_vec());
    for row in rows {
        table.row(row.iter().map(|cell| (*cell).to_owned()));
    }
    table
}

fn players() -> TextTable {
    let columns = [
        Column::key("player"),
        Column::number("n"),
        Column::number("mean profit"),
        Column::number("items won"),
        Column::notes(),
    ];
    let rows: [&[&str]; 2] = [
        &[
            "meta-llama/llama-3.1",
            "5",
            "-1,200.5 \u{b1} 300.1",
            "2.40",
            "45 % forfeited",
        ],
        &["gpt_4o", "1 of 5", "7.0 (n = 1)", "0.00", ""],
    ];
    table(&columns, &rows)
}

#[test]
fn a_wide_table_is_one_line_a_row() {
    let shown = players().fitted(Layout::Text(100));
    let rows = [
        " player                     n       mean profit  items won  notes",
        " meta-llama/llama-3.1       5  -1,200.5 \u{b1} 300.1       2.40  45 % forfeited",
        " gpt_4o                1 of 5       7.0 (n = 1)       0.00",
    ];
    assert_eq!(shown.lines().collect::<Vec<_>>(), rows);
}

#[test]
fn at_every_width_no_line_is_too_long_and_no_number_is_broken() {
    let cells = [
        "-1,200.5 \u{b1} 300.1",
        "7.0 (n = 1)",
        "1 of 5",
        "2.40",
        "0.00",
    ];
    for width in 36..120 {
        let shown = players().fitted(Layout::Text(width));
        for line in shown.lines() {
            assert!(
                line.chars().count() <= usize::from(width),
                "{width}: {line}"
            );
        }
        for cell in cells {
            assert!(shown.contains(cell), "{width}: {cell}\n{shown}");
        }
        for word in ["profit", "items", "forfeited", "player", "notes"] {
            assert!(shown.contains(word), "{width}: {word}\n{shown}");
        }
    }
}

#[test]
fn names_break_behind_what_joins_their_parts_and_numbers_in_them_do_not() {
    let names = "meta-llama/llama-3.1_x player.temperature=0.25 other.player.bid=-0.5";
    let parts = wrapped(names, 12, Breaks::Names);
    let expected = [
        "meta-llama/",
        "llama-3.1_x",
        "player.",
        "temperature=",
        "0.25 other.",
        "player.bid=",
        "-0.5",
    ];
    assert_eq!(parts, expected);
    // Those of most games and models stay whole.
    assert_eq!(
        longest_word("guess_two_thirds gpt-4o-mini", Breaks::Names),
        16
    );
}

#[test]
fn what_does_not_fit_goes_on_below_under_the_same_keys() {
    let mut columns = vec![Column::key("player")];
    columns.extend((1..=9).map(|place| Column::number(format!("round {place}"))));
    columns.push(Column::notes());
    let mut cells = vec!["somebody"];
    cells.extend(["100.00"; 9]);
    cells.push("simulated");
    let shown = table(&columns, &[&cells]).fitted(Layout::Text(60));
    let parts: Vec<&str> = shown.split("\n\n").collect();
    assert_eq!(parts.len(), 2, "{shown}");
    for part in parts {
        assert!(
            part.contains("somebody") && part.contains("simulated"),
            "{shown}"
        );
    }
    assert_eq!(shown.matches("100.00").count(), 9);
}

#[test]
fn a_column_with_nothing_in_it_is_not_shown() {
    let columns = [
        Column::key("player"),
        Column::number("cost"),
        Column::notes(),
    ];
    let shown = table(&columns, &[&["a", "", ""], &["b", "", ""]]).fitted(Layout::Text(80));
    assert_eq!(shown, " player\n a\n b");
}

#[test]
fn headings_stand_above_their_numbers() {
    let columns = [Column::key("p"), Column::number("profit ratio %")];
    let shown = table(&columns, &[&["abcdefghijkl", "1.25"]]).fitted(Layout::Text(20));
    let lines: Vec<&str> = shown.lines().collect();
    assert!(
        lines[lines.len() - 2].ends_with('%') && lines[0].ends_with("profit"),
        "{shown}"
    );
}
