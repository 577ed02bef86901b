//! What speaks to terminals, logs, readers and spreadsheets is shown, and what people write stays
//! as it is.

use std::path::Path;

use crate::shown::{is_hidden, is_kept_out_of_lines};
use crate::{Foreign, InLine as _, cell, json, line, lines, quoted};

/// What speaks to terminals, logs and readers, and what becomes of it in one line.
const SPEAKING: [(&str, &str); 24] = [
    ("\u{1b}[2J", "\\u{1b}[2J"),
    ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
    (
        "\u{1b}]8;;http://x\u{1b}\\link",
        "\\u{1b}]8;;http://x\\u{1b}\\link",
    ),
    ("\u{9b}31mred", "\\u{9b}31mred"),
    ("\u{9d}0;t\u{9c}", "\\u{9d}0;t\\u{9c}"),
    ("\u{90}q\u{9c}", "\\u{90}q\\u{9c}"),
    ("bell\u{7}", "bell\\u{7}"),
    ("back\u{8}\u{8}space", "back\\u{8}\\u{8}space"),
    ("over\rwritten", "over\\rwritten"),
    ("two\nlines", "two\\nlines"),
    ("two\r\nlines", "two\\r\\nlines"),
    ("next\u{85}line", "next\\u{85}line"),
    ("form\u{c}feed\u{b}", "form\\u{c}feed\\u{b}"),
    ("line\u{2028}and\u{2029}", "line\\u{2028}and\\u{2029}"),
    ("tab\tstop", "tab\\tstop"),
    ("nul\0", "nul\\u{0}"),
    ("del\u{7f}", "del\\u{7f}"),
    ("\u{202e}txt.exe", "\\u{202e}txt.exe"),
    ("\u{2066}isolated\u{2069}", "\\u{2066}isolated\\u{2069}"),
    ("\u{200f}\u{200e}\u{61c}", "\\u{200f}\\u{200e}\\u{61c}"),
    ("soft\u{ad}hyphen\u{200b}", "soft\\u{ad}hyphen\\u{200b}"),
    ("\u{feff}mark", "\\u{feff}mark"),
    ("\u{e0041}tag", "\\u{e0041}tag"),
    ("\u{e}shift\u{f}", "\\u{e}shift\\u{f}"),
];

#[test]
fn what_speaks_to_a_terminal_is_shown_and_not_said() {
    for (speaking, shown) in SPEAKING {
        assert_eq!(line(speaking).to_string(), shown);
        assert_eq!(Path::new(speaking).in_line().to_string(), shown);
        let seen = quoted(speaking);
        assert_eq!(seen.chars().count(), speaking.chars().count());
        assert_eq!(
            line(&seen.replace('\t', " ")).to_string(),
            seen.replace('\t', " ")
        );
        let foreign = Foreign::from(speaking);
        assert_eq!(foreign.to_string(), shown);
        assert_eq!(format!("{foreign:?}"), format!("\"{shown}\""));
        assert_eq!(foreign.as_written(), speaking);
        let of_many = lines(speaking).to_string();
        assert!(!of_many.chars().any(is_kept_out_of_lines), "{of_many:?}");
    }
    assert_eq!(lines("a\n\tb\u{1b}").to_string(), "a\n\tb\\u{1b}");
}

#[test]
fn what_people_write_stays_as_it_is() {
    for text in [
        "",
        "plain",
        "größe 10 µs – “quoted”",
        "日本語",
        "עברית",
        "می\u{200c}خواهم",
        "👩\u{200d}👧 \u{2764}\u{fe0f}",
        "a\u{301}",
        "C:\\n \\u{1b}",
    ] {
        assert_eq!(line(text).to_string(), text);
        assert_eq!(cell(text), text);
        assert_eq!(json(text), text);
    }
}

#[test]
fn json_stays_the_same_json() {
    for (speaking, _) in SPEAKING {
        // What writes JSON escapes the first 32; we do the rest.
        let told: String = speaking.chars().filter(|letter| *letter >= ' ').collect();
        let text = format!("{{\n\t\"a\": \"{told}\"\n}}");
        let safe = json(&text);
        assert!(!safe.chars().any(is_kept_out_of_lines), "{safe:?}");
        let units: String = safe.replace("\\u", "\u{1}");
        let mut parts = units.split('\u{1}');
        let mut read: Vec<u16> = parts.next().unwrap().encode_utf16().collect();
        for part in parts {
            read.push(u16::from_str_radix(&part[..4], 16).unwrap());
            read.extend(part[4..].encode_utf16());
        }
        assert_eq!(String::from_utf16(&read).unwrap(), text);
    }
}

#[test]
fn no_cell_is_a_formula() {
    for formula in [
        "=cmd|' /C calc'!A0",
        "=1+1",
        "+1",
        "+cmd",
        "-cmd",
        "-1+1",
        "--1",
        "@SUM(1)",
        " =1",
        "\t=1",
        "\r=1",
        "\n=1",
        "\u{a0}=1",
        "=",
        "@",
        "+",
        "-",
        "\u{ff1d}1",
        "\u{ff0b}1",
        "\u{ff20}SUM",
        "|calc",
        "-=1",
        "=HYPERLINK(\"http://x\")",
    ] {
        let cell = cell(formula);
        assert!(cell.starts_with('\''), "{formula:?} became {cell:?}");
        assert!(!cell.chars().any(is_hidden), "{cell:?}");
    }
    for number in [
        "-1", "-1.5", "-1e-7", "-inf", "0", "7.25", "a=1", "1-1", "a@b",
    ] {
        assert_eq!(cell(number), number);
    }
}
