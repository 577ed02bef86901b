//! Texts of others before they are measured: hidden characters become visible, so that what is
//! measured is what is drawn. Notes in tooltips are escaped where they are written.

use crate::chart::{ByCategory, Chart, Curves, Heat, Samples, Words};
use crate::figure::{Axis, Figure, Panel};

/// Makes every text that is drawn visible.
pub(crate) fn show(figure: &mut Figure) {
    // Line breaks of a caption are only its author's.
    for text in [&mut figure.title, &mut figure.caption]
        .into_iter()
        .flatten()
    {
        *text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        make_visible(text);
    }
    for panel in &mut figure.panels {
        let Panel { title, x, y, chart } = panel;
        title.iter_mut().for_each(make_visible);
        for Axis { title, unit, .. } in [x, y] {
            make_visible(title);
            unit.iter_mut().for_each(make_visible);
        }
        names(chart).into_iter().for_each(make_visible);
    }
}

fn make_visible(text: &mut String) {
    *text = agon_outlets::line(text).to_string();
}

fn names(chart: &mut Chart) -> Vec<&mut String> {
    match chart {
        Chart::Lines(curves) | Chart::Steps(curves) | Chart::Scatter(curves) => {
            let Curves { series, baselines } = curves;
            let series = series.iter_mut().map(|series| &mut series.name);
            series
                .chain(baselines.iter_mut().map(|line| &mut line.name))
                .collect()
        }
        Chart::Dots(data)
        | Chart::Bars(data)
        | Chart::Stacked(data)
        | Chart::Pairs(data)
        | Chart::Radar(data) => {
            let ByCategory {
                categories,
                series,
                baselines,
                ..
            } = data;
            let series = series.iter_mut().map(|series| &mut series.name);
            let lines = baselines.iter_mut().map(|line| &mut line.name);
            categories.iter_mut().chain(series).chain(lines).collect()
        }
        Chart::Boxes(samples) | Chart::Densities(samples) | Chart::Histograms(samples) => {
            let Samples { samples, .. } = samples;
            let both = samples
                .iter_mut()
                .flat_map(|sample| [&mut sample.category, &mut sample.series]);
            both.collect()
        }
        Chart::Heat(heat) => {
            let Heat {
                rows,
                columns,
                measure,
                ..
            } = heat;
            rows.iter_mut().chain(columns).chain([measure]).collect()
        }
        Chart::Words(words) => {
            let Words {
                rows,
                columns,
                cells,
            } = words;
            let words = cells.iter_mut().flatten().flatten();
            let words = words.flat_map(|word| [&mut word.text, &mut word.series]);
            rows.iter_mut().chain(columns).chain(words).collect()
        }
    }
}
