//! The charts, by kind: each has a plan (sides, height, legend) and draws itself into a frame. The
//! list of kinds is here; a file each is below.

pub(crate) mod across;
mod boxes;
mod by_category;
mod curves;
mod densities;
mod heat;
mod radar;
mod stacked;
mod tip;
mod words;

use crate::chart::Chart;
use crate::figure::Panel;
use crate::frame::Frame;
use crate::palette::Palette;
use crate::plan::{Entry, Plan};
use crate::scene::Scene;

pub(crate) use curves::has_bands;
pub(crate) use heat::ends as heat_ends;

/// The sides and the height of a panel's chart.
pub(crate) fn plan(panel: &Panel) -> Plan {
    match &panel.chart {
        Chart::Lines(curves) | Chart::Scatter(curves) => curves::plan(panel, curves, false),
        Chart::Steps(curves) => curves::plan(panel, curves, true),
        Chart::Dots(data) | Chart::Pairs(data) => by_category::plan(panel, data, false),
        Chart::Bars(data) => by_category::plan(panel, data, true),
        Chart::Stacked(data) => stacked::plan(panel, data),
        Chart::Radar(data) => radar::plan(panel, data),
        Chart::Boxes(samples) => boxes::plan(panel, samples),
        Chart::Densities(samples) => densities::plan_densities(panel, samples),
        Chart::Histograms(samples) => densities::plan_histograms(panel, samples),
        Chart::Heat(heat) => heat::plan(panel, heat),
        Chart::Words(words) => words::plan(panel, words),
    }
}

/// Draws a panel's chart.
pub(crate) fn draw(scene: &mut Scene, panel: &Panel, frame: &Frame, palette: &Palette) {
    match &panel.chart {
        Chart::Lines(curves) => curves::lines(scene, panel, curves, frame, palette),
        Chart::Steps(curves) => curves::steps(scene, panel, curves, frame, palette),
        Chart::Scatter(curves) => curves::scatter(scene, panel, curves, frame, palette),
        Chart::Dots(data) => by_category::dots(scene, panel, data, frame, palette),
        Chart::Pairs(data) => by_category::pairs(scene, panel, data, frame, palette),
        Chart::Bars(data) => by_category::bars(scene, panel, data, frame, palette),
        Chart::Stacked(data) => stacked::draw(scene, panel, data, frame, palette),
        Chart::Radar(data) => radar::draw(scene, panel, data, frame, palette),
        Chart::Boxes(samples) => boxes::draw(scene, panel, samples, frame, palette),
        Chart::Densities(samples) => densities::draw_densities(scene, samples, frame, palette),
        Chart::Histograms(samples) => densities::draw_histograms(scene, samples, frame, palette),
        Chart::Heat(heat) => heat::draw(scene, heat, frame),
        Chart::Words(words) => words::draw(scene, words, frame, palette),
    }
}

/// The lines of a panel's chart in the legend.
pub(crate) fn entries(panel: &Panel, palette: &Palette) -> Vec<Entry> {
    use crate::plan::Sign;
    let names = panel.chart.series_names();
    let looks = names.into_iter().map(|name| (name, palette.look(name)));
    let signs = looks.map(|(name, look)| {
        let sign = match &panel.chart {
            Chart::Lines(_) => Sign::Line(look),
            Chart::Steps(_) | Chart::Densities(_) | Chart::Histograms(_) => Sign::Bare(look),
            Chart::Scatter(_) | Chart::Dots(_) | Chart::Pairs(_) => Sign::Marker(look),
            Chart::Radar(_) => Sign::Line(look),
            Chart::Bars(_) | Chart::Stacked(_) => Sign::Swatch(look),
            Chart::Boxes(_) => Sign::Box(look),
            Chart::Heat(_) | Chart::Words(_) => Sign::Cell(look),
        };
        Entry {
            name: name.to_owned(),
            sign,
        }
    });
    signs.filter(|entry| !entry.name.is_empty()).collect()
}

/// Nothing is left to draw.
pub(crate) fn is_empty(chart: &Chart) -> bool {
    match chart {
        Chart::Lines(curves) | Chart::Steps(curves) | Chart::Scatter(curves) => {
            let points = curves.series.iter().flat_map(|series| &series.points);
            !points.into_iter().any(|point| point.y.value.is_finite())
        }
        Chart::Dots(data)
        | Chart::Bars(data)
        | Chart::Stacked(data)
        | Chart::Pairs(data)
        | Chart::Radar(data) => {
            let marks = data.series.iter().flat_map(|series| &series.marks);
            let shown = marks.flatten().count();
            shown == 0 || data.categories.is_empty()
        }
        Chart::Boxes(samples) | Chart::Densities(samples) | Chart::Histograms(samples) => samples
            .samples
            .iter()
            .all(|sample| sample.values.is_empty()),
        Chart::Heat(heat) => {
            heat.rows.is_empty()
                || heat.columns.is_empty()
                || heat.cells.iter().flatten().flatten().next().is_none()
        }
        Chart::Words(words) => {
            words.rows.is_empty()
                || words.columns.is_empty()
                || words.cells.iter().flatten().flatten().next().is_none()
        }
    }
}
