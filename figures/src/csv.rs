//! A figure's data as CSV: a row per mark, with all that is needed to draw it again. Values that are
//! not finite are empty cells. Texts of others are cells as the outlets write them.

use crate::chart::{ByCategory, Chart, Curves, Heat, Samples, Words};
use crate::figure::{Figure, Panel};
use crate::mark::{Baseline, Mark};

/// The columns. `x` is a number or a category; `row` is that of a matrix; a line to compare with has
/// `baseline` in `kind`.
const HEAD: &str = "panel,title,kind,x_axis,y_axis,row,series,x,y,low,high,n,label,link\n";

/// One row, without what belongs to the panel.
#[derive(Default)]
struct Row<'a> {
    kind: Option<&'a str>,
    row: &'a str,
    series: &'a str,
    x: String,
    mark: Option<&'a Mark>,
    label: &'a str,
    link: &'a str,
}

/// All rows of a figure.
pub(crate) fn write(figure: &Figure) -> String {
    let mut csv = String::from(HEAD);
    for (index, panel) in figure.panels.iter().enumerate() {
        let mut panel_rows = PanelRows {
            csv: &mut csv,
            panel,
            number: index + 1,
        };
        match &panel.chart {
            Chart::Lines(curves) | Chart::Steps(curves) | Chart::Scatter(curves) => {
                panel_rows.curves(curves);
            }
            Chart::Dots(data)
            | Chart::Bars(data)
            | Chart::Stacked(data)
            | Chart::Pairs(data)
            | Chart::Radar(data) => panel_rows.categories(data),
            Chart::Boxes(samples) | Chart::Densities(samples) | Chart::Histograms(samples) => {
                panel_rows.samples(samples);
            }
            Chart::Heat(heat) => panel_rows.heat(heat),
            Chart::Words(words) => panel_rows.words(words),
        }
    }
    csv
}

struct PanelRows<'a> {
    csv: &'a mut String,
    panel: &'a Panel,
    number: usize,
}

impl PanelRows<'_> {
    fn curves(&mut self, curves: &Curves) {
        for series in &curves.series {
            for point in &series.points {
                self.row(Row {
                    series: &series.name,
                    x: number(point.x),
                    mark: Some(&point.y),
                    ..Row::default()
                });
            }
        }
        self.baselines(&curves.baselines);
    }

    fn categories(&mut self, data: &ByCategory) {
        for series in &data.series {
            for (category, mark) in data.categories.iter().zip(&series.marks) {
                self.row(Row {
                    series: &series.name,
                    x: text(category),
                    mark: mark.as_ref(),
                    ..Row::default()
                });
            }
        }
        self.baselines(&data.baselines);
    }

    fn samples(&mut self, samples: &Samples) {
        for sample in &samples.samples {
            for mark in &sample.values {
                self.row(Row {
                    series: &sample.series,
                    x: text(&sample.category),
                    mark: Some(mark),
                    ..Row::default()
                });
            }
        }
    }

    fn heat(&mut self, heat: &Heat) {
        for (name, cells) in heat.rows.iter().zip(&heat.cells) {
            for (column, mark) in heat.columns.iter().zip(cells) {
                self.row(Row {
                    row: name,
                    series: &heat.measure,
                    x: text(column),
                    mark: mark.as_ref(),
                    ..Row::default()
                });
            }
        }
    }

    fn words(&mut self, words: &Words) {
        for (name, cells) in words.rows.iter().zip(&words.cells) {
            for (column, word) in words.columns.iter().zip(cells) {
                let word = word.as_ref();
                self.row(Row {
                    row: name,
                    series: word.map_or("", |word| &word.series),
                    x: text(column),
                    label: word.map_or("", |word| &word.text),
                    link: word.and_then(|word| word.link.as_deref()).unwrap_or(""),
                    ..Row::default()
                });
            }
        }
    }

    fn baselines(&mut self, lines: &[Baseline]) {
        for line in lines {
            self.row(Row {
                kind: Some("baseline"),
                series: &line.name,
                mark: Some(&Mark::new(line.value)),
                ..Row::default()
            });
        }
    }

    fn row(&mut self, row: Row<'_>) {
        let mark = row.mark;
        let end = |value: Option<f64>| value.map(number).unwrap_or_default();
        let noted = mark.and_then(|mark| mark.note.as_deref());
        let linked = mark.and_then(|mark| mark.link.as_deref());
        let cells = [
            self.number.to_string(),
            text(self.panel.title.as_deref().unwrap_or("")),
            row.kind.unwrap_or(kind(&self.panel.chart)).to_owned(),
            text(&self.panel.x.label()),
            text(&self.panel.y.label()),
            text(row.row),
            text(row.series),
            row.x,
            end(mark.map(|mark| mark.value)),
            end(mark.and_then(|mark| mark.low)),
            end(mark.and_then(|mark| mark.high)),
            mark.and_then(|mark| mark.n)
                .map(|n| n.to_string())
                .unwrap_or_default(),
            text(noted.unwrap_or(row.label)),
            text(linked.unwrap_or(row.link)),
        ];
        self.csv.push_str(&cells.join(","));
        self.csv.push('\n');
    }
}

fn kind(chart: &Chart) -> &'static str {
    match chart {
        Chart::Lines(_) => "lines",
        Chart::Steps(_) => "steps",
        Chart::Scatter(_) => "scatter",
        Chart::Dots(_) => "dots",
        Chart::Bars(_) => "bars",
        Chart::Stacked(_) => "stacked",
        Chart::Pairs(_) => "pairs",
        Chart::Radar(_) => "radar",
        Chart::Boxes(_) => "boxes",
        Chart::Densities(_) => "densities",
        Chart::Histograms(_) => "histograms",
        Chart::Heat(_) => "heat",
        Chart::Words(_) => "words",
    }
}

/// The shortest digits that give the same number again; nothing if it is not finite.
fn number(value: f64) -> String {
    if !value.is_finite() {
        return String::new();
    }
    let digits = format!("{value:?}");
    digits
        .strip_suffix(".0")
        .map(str::to_owned)
        .unwrap_or(digits)
}

/// A cell of text, in quotes if it needs them.
fn text(text: &str) -> String {
    let cell = agon_outlets::cell(text);
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}
