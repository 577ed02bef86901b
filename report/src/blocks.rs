//! Tables and sentences as data, for pages: what [`Layout::Json`](crate::Layout::Json) writes, a line of
//! JSON each, read again. Cells are the words of the command line, so that no number differs.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::selection::Selection;

/// A table or a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "block", rename_all = "snake_case")]
pub enum Block {
    /// A sentence about the tables around it.
    Sentence {
        /// Its text.
        text: String,
    },
    /// A table.
    Table(Table),
}

/// A table. Columns in which nothing would be shown are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Table {
    /// Names of the columns.
    pub columns: Vec<Heading>,
    /// In order.
    pub rows: Vec<Row>,
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Heading {
    /// Its name; may be empty.
    pub name: String,
    /// Whether it holds numbers.
    pub is_number: bool,
}

/// A row of a table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Row {
    /// One cell for each column. A cell may have several lines.
    pub cells: Vec<String>,
    /// The sessions that the row rests on; left out where they are not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub sessions: Option<Selection>,
    /// The first number of the row; left out where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub bar: Option<Bar>,
}

/// A number with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Bar {
    /// The number.
    pub value: f64,
    /// The ends of its 95 % interval; left out where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_items = 2, max_items = 2)]
    pub interval: Option<[f64; 2]>,
}

impl Block {
    /// A sentence.
    pub fn sentence(text: &str) -> Self {
        Self::Sentence {
            text: text.to_owned(),
        }
    }

    /// A line of JSON.
    pub(crate) fn line(&self) -> String {
        // Words and finite numbers always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What a text in [`Layout::Json`](crate::Layout::Json) holds, in order.
pub fn blocks(text: &str) -> Vec<Block> {
    let lines = text.lines().filter(|line| !line.is_empty());
    let read = |line: &str| {
        let block = serde_json::from_str(line);
        block.unwrap_or_else(|_| Block::sentence(line))
    };
    lines.map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::table::{Column, TextTable, paragraphs};
    use crate::wrapping::prose;

    #[test]
    fn tables_and_sentences_are_read_as_they_were_written() {
        let hostile = "</script>\u{202e}\n{\"block\":\"table\"}";
        let mut table = TextTable::new(vec![
            Column::key("player"),
            Column::number("mean"),
            Column::notes(),
        ]);
        table.row(["a\nb", "70.4 %", ""].map(str::to_owned));
        table.row([hostile, "-", ""].map(str::to_owned));
        let layout = Layout::Json;
        let text = paragraphs([Some(prose(hostile, layout)), Some(table.fitted(layout))]);
        let read = blocks(&text);
        let [Block::Sentence { text }, Block::Table(table)] = &read[..] else {
            panic!("{read:?}");
        };
        assert!(
            text.starts_with("</script>") && !text.contains('\u{202e}'),
            "{text}"
        );
        // A column without anything in it is not shown.
        let columns: Vec<(&str, bool)> = table
            .columns
            .iter()
            .map(|column| (&*column.name, column.is_number))
            .collect();
        assert_eq!(columns, [("player", false), ("mean", true)]);
        assert_eq!(table.rows[0].cells, ["a\nb", "70.4\u{a0}%"]);
        assert!(!table.rows[1].cells[0].contains('\u{202e}'));
        assert_eq!(table.rows[0].sessions, None);
        assert_eq!(blocks("no JSON"), [Block::sentence("no JSON")]);
    }
}
