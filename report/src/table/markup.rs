//! Tables in Markdown, LaTeX, HTML and JSON: whole, whatever their width, with numbers to the right.
//! Takes what a `TextTable` has and knows nothing of what it shows.

use super::beside::Beside;
use crate::blocks::{self, Block};
use crate::layout::Layout;

/// A table that is written in a markup language: headings, whether a column is of numbers, and
/// rows of cells.
pub(super) struct Markup<'a> {
    pub headings: Vec<&'a str>,
    pub of_numbers: Vec<bool>,
    pub rows: Vec<Vec<&'a str>>,
    /// What is known beside each row.
    pub beside: &'a [Beside],
}

impl Markup<'_> {
    /// The table in this layout, which is no text.
    pub fn written(&self, layout: Layout) -> String {
        match layout {
            Layout::Latex => self.latex(),
            Layout::Html => self.html(),
            Layout::Json => self.json(),
            Layout::Markdown | Layout::Text(_) => self.markdown(),
        }
    }

    fn markdown(&self) -> String {
        let line = |cells: &mut dyn Iterator<Item = String>| {
            format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
        };
        let headings = self.headings.iter();
        let mut headings = headings.map(|heading| in_a_line(Layout::Markdown, heading, " "));
        let rules = self.of_numbers.iter();
        let mut rules = rules.map(|of_numbers| if *of_numbers { "---:" } else { "---" }.to_owned());
        let mut lines = vec![line(&mut headings), line(&mut rules)];
        for row in &self.rows {
            let cells = row.iter();
            lines.push(line(
                &mut cells.map(|cell| in_a_line(Layout::Markdown, cell, "<br>")),
            ));
        }
        lines.join("\n")
    }

    fn latex(&self) -> String {
        let line = |cells: &[&str]| {
            let cells = cells.iter().zip(&self.of_numbers);
            let cells = cells.map(|(cell, of_numbers)| stacked(cell, *of_numbers));
            format!("{} \\\\", cells.collect::<Vec<_>>().join(" & "))
        };
        let columns = self.of_numbers.iter();
        let columns: String = columns
            .map(|of_numbers| if *of_numbers { 'r' } else { 'l' })
            .collect();
        let mut lines = vec![
            "% needs \\usepackage{booktabs}".to_owned(),
            format!("\\begin{{tabular}}{{{columns}}}"),
            "\\toprule".to_owned(),
            line(&self.headings),
            "\\midrule".to_owned(),
        ];
        lines.extend(self.rows.iter().map(|row| line(row)));
        lines.push("\\bottomrule".to_owned());
        lines.push("\\end{tabular}".to_owned());
        lines.join("\n")
    }

    fn json(&self) -> String {
        let columns = self.headings.iter().zip(&self.of_numbers);
        let columns = columns.map(|(name, is_number)| blocks::Heading {
            name: (*name).to_owned(),
            is_number: *is_number,
        });
        let rows = self.rows.iter().zip(self.beside);
        let rows = rows.map(|(cells, beside)| blocks::Row {
            cells: cells.iter().map(|cell| (*cell).to_owned()).collect(),
            sessions: beside.sessions.clone(),
            bar: beside.bar,
        });
        let table = blocks::Table {
            columns: columns.collect(),
            rows: rows.collect(),
        };
        Block::Table(table).line()
    }

    fn html(&self) -> String {
        let line = |name: &str, cells: &[&str]| {
            let cells = cells.iter().zip(&self.of_numbers);
            let cells = cells.map(|(cell, of_numbers)| {
                let class = if *of_numbers { " class=\"number\"" } else { "" };
                let text = in_a_line(Layout::Html, cell, "<br>");
                format!("<{name}{class}>{text}</{name}>")
            });
            format!("<tr>{}</tr>", cells.collect::<String>())
        };
        let mut lines = vec![
            "<div class=\"table\"><table>".to_owned(),
            format!("<thead>{}</thead>", line("th", &self.headings)),
            "<tbody>".to_owned(),
        ];
        lines.extend(self.rows.iter().map(|row| line("td", row)));
        lines.push("</tbody></table></div>".to_owned());
        lines.join("\n")
    }
}

/// A cell of LaTeX; lines of its own stay below each other, since blank ones say what is missing.
fn stacked(cell: &str, of_numbers: bool) -> String {
    if cell.lines().count() <= 1 {
        return Layout::Latex.escaped(cell);
    }
    let side = if of_numbers { 'r' } else { 'l' };
    let lines = in_a_line(Layout::Latex, cell, " \\\\ ");
    format!("\\shortstack[{side}]{{{lines}}}")
}

/// A cell in one line, its own lines joined with this.
fn in_a_line(layout: Layout, cell: &str, joint: &str) -> String {
    let lines = cell.lines().map(|line| layout.escaped(line));
    lines.collect::<Vec<_>>().join(joint)
}

#[cfg(test)]
mod tests {
    use crate::layout::Layout;
    use crate::table::{Column, TextTable};

    #[test]
    fn lines_of_a_cell_stay_below_each_other_in_every_language() {
        let mut table = TextTable::new(vec![Column::key("a_b"), Column::number("score")]);
        table.row(["mean\n\u{b1}\nn", "70.4\n\n2"].map(str::to_owned));
        let shown = |layout| table.fitted(layout);
        let latex = shown(Layout::Latex);
        assert!(latex.contains("a\\_b & score \\\\"), "{latex}");
        let cells = "\\shortstack[l]{mean \\\\ $\\pm$ \\\\ n} & \\shortstack[r]{70.4 \\\\  \\\\ 2}";
        assert!(latex.contains(cells), "{latex}");
        assert!(shown(Layout::Markdown).contains("| 70.4<br><br>2 |"));
        assert!(shown(Layout::Html).contains(">70.4<br><br>2</td>"));
    }
}
