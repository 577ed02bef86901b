//! One table over the settings of an experiment: the setting said once, rows below it, and
//! beside each row what must be said of it. A table without a row is none. Called by the
//! tables of every report.

use std::cell;

use super::numbers::counted;
use super::{Beside, Cell, Cells, Column, TextTable, cells_of, columns, headings, paragraphs};
use crate::basis::Basis;
use crate::gathered::Setting;
use crate::layout::Layout;
use crate::row::Row;
use crate::selection::Selection;
use crate::settings::SettingHead;
use crate::wrapping::{NO_BREAK, prose};

/// A row of a table over settings.
pub(crate) struct Line {
    label: String,
    of: Of,
    cells: Cells,
}

/// Whose answers a row rests on.
enum Of {
    /// Those of the row above it, which says so.
    Above,
    /// Those that this is.
    Basis(Box<Basis>),
    /// Those of these players.
    Players(Vec<String>),
    /// Those of all seats.
    All,
}

impl Line {
    /// A player's row.
    pub fn player(name: &str, cells: Cells) -> Self {
        Self::of(name, &[name.to_owned()], cells)
    }

    /// A row of something that these players did.
    pub fn of(label: &str, players: &[String], cells: Cells) -> Self {
        Self {
            label: label.to_owned(),
            of: Of::Players(players.to_vec()),
            cells,
        }
    }

    /// A row of something that all players did.
    pub fn all(label: &str, cells: Cells) -> Self {
        Self {
            label: label.to_owned(),
            of: Of::All,
            cells,
        }
    }

    /// A further row of what the row above it is of.
    pub fn more(cells: Cells) -> Self {
        Self {
            label: String::new(),
            of: Of::Above,
            cells,
        }
    }

    /// A row that rests on something else than its players' answers in the whole setting.
    pub fn resting_on(basis: Basis, label: &str, cells: Cells) -> Self {
        Self {
            label: label.to_owned(),
            of: Of::Basis(Box::new(basis)),
            cells,
        }
    }

    /// The sessions that it rests on.
    fn beside(&self, head: &SettingHead) -> Beside {
        let (models, simulated) = &head.played_by;
        let of_setting = Selection::of_game(&head.game).setting(&head.axes);
        let sessions = of_setting.simulated(*simulated).player(models);
        Beside::of(match &self.of {
            Of::Players(players) if players.len() == 1 => sessions.player(&players[0]),
            _ => sessions,
        })
    }

    fn notes(&self, head: &SettingHead) -> String {
        match &self.of {
            Of::Above => String::new(),
            Of::Basis(basis) => basis.in_words(),
            Of::All => head.answers.in_words(),
            Of::Players(players) => {
                let mut basis = Basis::default();
                for player in players {
                    basis.merge(head.basis(player));
                }
                basis.in_words()
            }
        }
    }
}

/// Settings, and how wide their tables may be.
pub(crate) struct SettingTables<'a> {
    pub settings: &'a [Setting],
    /// In columns.
    pub layout: Layout,
}

/// How many sessions these settings had, as "1 session" for the noun "session".
pub(crate) fn sessions_of(settings: &[Setting], noun: &str) -> String {
    let sessions = settings.iter().map(|one| one.head.sessions);
    counted(sessions.sum(), noun)
}

impl SettingTables<'_> {
    /// A table of what `rows` makes of each setting; `None` when that is nothing. The first
    /// of the columns is that of labels.
    pub fn table(
        &self,
        title: &str,
        columns: Vec<Column>,
        rows: impl Fn(&Setting) -> Vec<Line>,
    ) -> Option<String> {
        let mut all = vec![Column::key("setting")];
        all.extend(columns);
        all.push(Column::notes());
        let mut table = TextTable::new(all);
        for setting in self.settings {
            let head = &setting.head;
            for (place, row) in rows(setting).into_iter().enumerate() {
                let (notes, beside) = (row.notes(head), row.beside(head));
                // Said once for all its rows.
                let setting = if place == 0 { &*head.setting } else { "" };
                let mut cells = vec![setting.to_owned(), row.label];
                cells.extend(row.cells);
                cells.push(notes);
                table.row_with(cells, beside);
            }
        }
        let title = prose(title, self.layout);
        (!table.is_empty()).then(|| format!("{title}\n\n{}", table.fitted(self.layout)))
    }

    /// A table with a row for each of these rows of players, which these columns show.
    pub fn players_table(
        &self,
        title: &str,
        shown: &[(&'static str, Cell)],
        rows: impl Fn(&Setting) -> &[Row],
    ) -> Option<String> {
        self.table(title, columns("player", headings(shown)), |setting| {
            let rows = rows(setting).iter();
            rows.map(|row| Line::player(row.word("player"), cells_of(row, shown)))
                .collect()
        })
    }

    /// The same with at most so many rows: a setting is shown whole or not at all, and none
    /// after one that was not. Says below how many are left to the JSON.
    pub fn some_of(
        &self,
        title: &str,
        columns: Vec<Column>,
        most: usize,
        rows: impl Fn(&Setting) -> Vec<Line>,
    ) -> Option<String> {
        let (left, left_out) = (cell::Cell::new(most), cell::Cell::new(0));
        let table = self.table(title, columns, |setting| {
            let rows = rows(setting);
            if rows.len() > left.get() {
                left.set(0);
                left_out.set(left_out.get() + 1);
                return Vec::new();
            }
            left.set(left.get() - rows.len());
            rows
        })?;
        let more = left_out.get();
        let more = (more > 0).then(|| in_json(&counted(more, "more setting"), self.layout));
        Some(paragraphs([Some(table), more]))
    }
}

/// Where what is not printed can be read.
pub(crate) fn in_json(what: &str, layout: Layout) -> String {
    let command = "agon show EXPERIMENT --measures --json".replace(' ', NO_BREAK);
    prose(&format!("{what}: {command}"), layout)
}
