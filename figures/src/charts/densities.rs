//! Densities with a rug of their observations, and histograms on common bins. The numbers come from
//! `samples`; here they are drawn.

use crate::chart::{Sample, Samples};
use crate::clip;
use crate::figure::{Panel, Spacing};
use crate::frame::Frame;
use crate::number::short;
use crate::palette::Palette;
use crate::plan::{Height, Plan};
use crate::samples::{bin_edges, counts, density};
use crate::scene::{Fill, Paint, Place, Scene, Stroke};
use crate::side::{Map, Numbers, Side};

/// Height of the area as a share of the width of its panel.
const SHARE: f64 = 0.58;

/// Points of a density.
const STEPS: usize = 120;

/// Height of the lines of a rug.
const RUG: f64 = 3.0;

/// Samples of one name belong together, whatever their category.
fn by_series(samples: &Samples) -> Vec<(&str, Vec<f64>)> {
    let mut all: Vec<(&str, Vec<f64>)> = Vec::new();
    for Sample { series, values, .. } in &samples.samples {
        let values = values.iter().map(|mark| mark.value);
        match all.iter_mut().find(|(name, _)| name == series) {
            Some((_, known)) => known.extend(values),
            None => all.push((series, values.collect())),
        }
    }
    all.retain(|(_, values)| !values.is_empty());
    all
}

/// The range of all densities.
pub(super) fn plan_densities(panel: &Panel, samples: &Samples) -> Plan {
    let curves = by_series(samples)
        .into_iter()
        .map(|(_, values)| match density(&values, STEPS) {
            Some(points) => points,
            None => values.into_iter().map(|value| (value, 0.0)).collect(),
        });
    let points: Vec<(f64, f64)> = curves.flatten().collect();
    let is_logarithmic = panel.x.spacing == Spacing::Logarithmic;
    let observed = by_series(samples)
        .into_iter()
        .flat_map(|(_, values)| values);
    let x = match is_logarithmic {
        true => Numbers::holding(&panel.x, observed, false),
        false => Numbers::holding(&panel.x, points.iter().map(|(x, _)| *x), false),
    };
    let y = Numbers::holding(&panel.y, points.iter().map(|(_, height)| *height), true);
    Plan::new(Side::Numbers(x), Side::Numbers(y), Height::Share(SHARE))
}

/// A line and a faint area per series; equal values are a spike.
pub(super) fn draw_densities(
    scene: &mut Scene,
    samples: &Samples,
    frame: &Frame,
    palette: &Palette,
) {
    for (index, (name, values)) in by_series(samples).into_iter().enumerate() {
        let look = palette.look(name);
        let paint = Paint::Series(look.colour());
        let stroke = Stroke::new(paint, 1.2).dashed(look.dash());
        let count = values.len();
        scene.group(Some(format!("{name}: n = {count}")), None, |scene| {
            let Some(points) = density(&values, STEPS) else {
                let at = frame.x.at(values[0]);
                scene.line((at, frame.area.bottom), (at, frame.area.top), stroke);
                return;
            };
            let inside = points.into_iter().filter(|(x, _)| is_inside(&frame.x, *x));
            let places: Vec<Place> = inside
                .map(|(x, height)| (frame.x.at(x), frame.y.at(height)))
                .collect();
            area_under(scene, &places, frame, Fill::faint(paint, 0.12));
            for part in clip::line(&places, &frame.area) {
                scene.path(vec![part], stroke);
            }
        });
        let rug = values.iter().map(|value| {
            let (at, base) = (frame.x.at(*value), frame.area.bottom - index as f64 * RUG);
            vec![(at, base), (at, base - RUG * 0.8)]
        });
        let inside = rug.filter(|line| clip::holds(&frame.area, line[0]));
        let lines: Vec<Vec<Place>> = inside.collect();
        if !lines.is_empty() {
            scene.path(lines, Stroke::new(paint, 0.5));
        }
    }
}

fn is_inside(map: &Map, value: f64) -> bool {
    (map.from..=map.to).contains(&value)
}

fn area_under(scene: &mut Scene, places: &[Place], frame: &Frame, fill: Fill) {
    let (Some(first), Some(last)) = (places.first(), places.last()) else {
        return;
    };
    let base = frame.y.at(0.0);
    let mut corners = vec![(first.0, base)];
    corners.extend(places);
    corners.push((last.0, base));
    let corners = clip::polygon(&corners, &frame.area);
    if corners.len() >= 3 {
        scene.polygon(corners, fill, Stroke::NONE);
    }
}

/// Common bins of all series.
fn edges(samples: &Samples) -> Vec<f64> {
    let all = by_series(samples)
        .into_iter()
        .flat_map(|(_, values)| values);
    bin_edges(&all.collect::<Vec<f64>>(), samples.bins)
}

/// Bins, and the largest count.
pub(super) fn plan_histograms(panel: &Panel, samples: &Samples) -> Plan {
    let edges = edges(samples);
    let most = by_series(samples)
        .into_iter()
        .flat_map(|(_, values)| counts(&values, &edges))
        .max();
    let x = Numbers::holding(&panel.x, edges, false);
    let mut y = Numbers::holding(&panel.y, most.map(|most| most as f64), true);
    y.whole = true;
    Plan::new(Side::Numbers(x), Side::Numbers(y), Height::Share(SHARE))
}

/// An outline per series over faint areas.
pub(super) fn draw_histograms(
    scene: &mut Scene,
    samples: &Samples,
    frame: &Frame,
    palette: &Palette,
) {
    let edges = edges(samples);
    let all = by_series(samples);
    let opacity = if all.len() == 1 { 0.45 } else { 0.16 };
    for (name, values) in &all {
        let look = palette.look(name);
        let paint = Paint::Series(look.colour());
        let counts = counts(values, &edges);
        for (bin, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let (from, to) = (edges[bin], edges[bin + 1]);
            let said = format!("{name} {} to {}: n = {count}", short(from), short(to));
            let height = frame.y.at(*count as f64);
            let places = [(frame.x.at(from), height), (frame.x.at(to), height)];
            scene.group(Some(said.trim().to_owned()), None, |scene| {
                area_under(scene, &places, frame, Fill::faint(paint, opacity));
            });
        }
        outline(
            scene,
            &edges,
            &counts,
            frame,
            Stroke::new(paint, 1.1).dashed(look.dash()),
        );
    }
}

/// From the first bin that holds something to the last.
fn outline(scene: &mut Scene, edges: &[f64], counts: &[usize], frame: &Frame, stroke: Stroke) {
    let first = counts.iter().position(|count| *count > 0);
    let last = counts.iter().rposition(|count| *count > 0);
    let (Some(first), Some(last)) = (first, last) else {
        return;
    };
    let mut places = vec![(frame.x.at(edges[first]), frame.y.at(0.0))];
    for bin in first..=last {
        let height = frame.y.at(counts[bin] as f64);
        places.extend([edges[bin], edges[bin + 1]].map(|edge| (frame.x.at(edge), height)));
    }
    places.push((frame.x.at(edges[last + 1]), frame.y.at(0.0)));
    let parts = clip::line(&places, &frame.area);
    if !parts.is_empty() {
        scene.path(parts, stroke);
    }
}
