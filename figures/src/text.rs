//! A figure for a terminal: small plots of plain Unicode, without colour codes, in at most so many
//! columns. Series are letters. It shows the shape of the data; the numbers are in tables.

mod canvas;
mod curves;
mod matrix;
mod rows;
mod width;

use crate::chart::Chart;
use crate::charts;
use crate::figure::{Figure, Panel};
use crate::prepare::prepare;

use width::{cut, wrapped};

/// Nothing is drawn in fewer columns.
const NARROWEST: usize = 24;

/// The panels under each other.
pub(crate) fn plot(figure: &Figure, width: usize) -> String {
    let width = width.max(NARROWEST);
    let prepared = prepare(figure);
    let mut lines = Vec::new();
    lines.extend(
        prepared
            .title
            .iter()
            .flat_map(|title| wrapped(title, width)),
    );
    for panel in &prepared.panels {
        if !lines.is_empty() {
            lines.push(String::new());
        }
        lines.extend(panel.title.iter().map(|title| cut(title, width)));
        lines.extend(chart(panel, width));
    }
    if prepared.panels.is_empty() {
        lines.push("no data".to_owned());
    }
    let caption = prepared.caption.join(" ");
    if !caption.is_empty() {
        lines.push(String::new());
        lines.extend(wrapped(&caption, width));
    }
    let mut text = String::new();
    for line in lines {
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

fn chart(panel: &Panel, width: usize) -> Vec<String> {
    if charts::is_empty(&panel.chart) {
        return vec!["no data".to_owned()];
    }
    match &panel.chart {
        Chart::Lines(curves) => curves::plot(panel, curves, width, curves::Form::Line),
        Chart::Steps(curves) => curves::plot(panel, curves, width, curves::Form::Step),
        Chart::Scatter(curves) => curves::plot(panel, curves, width, curves::Form::Cloud),
        Chart::Dots(data) | Chart::Pairs(data) => rows::dots(panel, data, width, data.direction),
        // A radar's values are on its vertical axis.
        Chart::Radar(data) => rows::dots(panel, data, width, crate::chart::Direction::Columns),
        Chart::Bars(data) => rows::bars(panel, data, width),
        Chart::Stacked(data) => rows::stacked(panel, data, width),
        Chart::Boxes(samples) => rows::boxes(panel, samples, width),
        Chart::Densities(samples) | Chart::Histograms(samples) => {
            rows::histograms(panel, samples, width)
        }
        Chart::Heat(heat) => matrix::heat(panel, heat, width),
        Chart::Words(words) => matrix::words(words, width),
    }
}
