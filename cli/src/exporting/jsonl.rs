//! Tables as JSON lines: an object a row, with a member for each column, null where there is nothing.
//! Text is as it was said; what would move a cursor or turn text is escaped as JSON does it.

use std::io::{self, BufWriter, Write as _};

use agon_report::export::{Cell, Table};
use serde::Serializer as _;
use serde::ser::SerializeMap as _;

use super::{Sink, TableFile};

/// See the module.
pub(super) struct JsonFile {
    table: &'static Table,
    out: BufWriter<Sink>,
}

impl JsonFile {
    /// An empty file.
    pub fn begin(file: Sink, table: &'static Table) -> Self {
        let out = BufWriter::new(file);
        Self { table, out }
    }
}

impl TableFile for JsonFile {
    fn row(&mut self, cells: &[Cell<'_>]) -> io::Result<()> {
        let mut row = Vec::new();
        let mut json = serde_json::Serializer::new(&mut row);
        let mut object = json.serialize_map(Some(cells.len()))?;
        for (column, cell) in self.table.columns.iter().zip(cells) {
            match cell {
                Cell::Null => object.serialize_entry(column.name, &())?,
                Cell::Text(text) => object.serialize_entry(column.name, text)?,
                Cell::Integer(number) => object.serialize_entry(column.name, number)?,
                Cell::Number(number) => object.serialize_entry(column.name, number)?,
                Cell::Flag(flag) => object.serialize_entry(column.name, flag)?,
            }
        }
        object.end()?;
        let row = String::from_utf8_lossy(&row);
        self.out.write_all(agon_outlets::json(&row).as_bytes())?;
        self.out.write_all(b"\n")
    }

    fn finish(self: Box<Self>) -> io::Result<Sink> {
        self.out
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use agon_report::export::TABLES;

    use super::*;

    #[test]
    fn rows_move_no_cursor_and_say_what_was_said() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.jsonl");
        let table = &TABLES[0];
        let said = "a\u{9b}2J\u{202e}b\u{200b}\nc\u{1b}]0;d\u{7}";
        let cells: Vec<Cell<'_>> = table.columns.iter().map(|_| Cell::Text(said)).collect();
        let mut file = Box::new(JsonFile::begin(
            Sink::File(File::create(&path).unwrap()),
            table,
        ));
        file.row(&cells).unwrap();
        file.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1);
        let hidden = |letter: &char| {
            letter.is_control() && *letter != '\n' || "\u{202e}\u{200b}".contains(*letter)
        };
        assert_eq!(text.chars().find(hidden), None, "{text}");
        let row: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(row[table.columns[0].name], said);
    }
}
