//! Trajectories with bands, steps, and clouds of points, on two axes of numbers. A value that is
//! not finite breaks the line.

use crate::chart::{Chart, Curves};
use crate::clip;
use crate::figure::{Panel, Spacing};
use crate::frame::Frame;
use crate::mark::{Point, Series};
use crate::number;
use crate::palette::{Look, Palette};
use crate::plan::{Height, Plan, baseline};
use crate::scene::{Fill, Paint, Place, Scene, Stroke};
use crate::side::{Map, Numbers, Side};

use super::tip::tip;

/// Height of the area as a share of the width of its panel.
const SHARE: f64 = 0.58;

/// Markers stand at least so far apart; others of the line are left out unless they have a link.
const MARKER_STEP: f64 = 5.0;

/// Radius of the markers of lines and clouds.
const ON_LINES: f64 = 1.9;
const IN_CLOUDS: f64 = 2.2;

/// Series whose bands can be told apart; of more none is drawn.
const MOST_BANDS: usize = 5;

/// Whether the bands of lines are drawn.
pub(crate) fn has_bands(curves: &Curves) -> bool {
    let banded = curves.series.iter().filter(|series| {
        let mut points = series.points.iter();
        points.any(|point| point.y.low.is_some())
    });
    banded.count() <= MOST_BANDS
}

/// Both sides hold all points and baselines, and intervals: of lines as far as they are drawn and
/// leave a third of the height to the points.
pub(super) fn plan(panel: &Panel, curves: &Curves, from_zero: bool) -> Plan {
    let points = || curves.series.iter().flat_map(|series| &series.points);
    let drawn = || points().filter(|point| point.y.value.is_finite());
    let x = Numbers::holding(&panel.x, drawn().map(|point| point.x), false);
    let baselines = curves.baselines.iter().map(|baseline| baseline.value);
    let values = drawn().map(|point| point.y.value).chain(baselines);
    let values: Vec<f64> = values.collect();
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let is_lines = matches!(panel.chart, Chart::Lines(_)) && highest > lowest;
    let ends = drawn().flat_map(|point| point.y.extent());
    let ends = ends.filter_map(|end| match is_lines {
        false => Some(end),
        true if !has_bands(curves) => None,
        true => Some(end.clamp(2.0 * lowest - highest, 2.0 * highest - lowest)),
    });
    let y = Numbers::holding(&panel.y, values.iter().copied().chain(ends), from_zero);
    Plan::new(Side::Numbers(x), Side::Numbers(y), Height::Share(SHARE))
}

/// Bands, then baselines, then lines with markers.
pub(super) fn lines(
    scene: &mut Scene,
    panel: &Panel,
    curves: &Curves,
    frame: &Frame,
    palette: &Palette,
) {
    for series in curves.series.iter().filter(|_| has_bands(curves)) {
        let colour = Paint::Series(palette.look(&series.name).colour());
        for run in runs(series, frame) {
            band(scene, &run, frame, colour);
        }
    }
    baselines(scene, curves, frame);
    for (index, series) in curves.series.iter().enumerate() {
        let look = palette.look(&series.name);
        for run in runs(series, frame) {
            let parts = joined(&run, frame);
            if !parts.is_empty() {
                scene.path(parts, stroke(look));
            }
        }
        markers(scene, panel, series, frame, look, index);
    }
}

/// Step lines: a value holds until the next x.
pub(super) fn steps(
    scene: &mut Scene,
    panel: &Panel,
    curves: &Curves,
    frame: &Frame,
    palette: &Palette,
) {
    baselines(scene, curves, frame);
    for series in &curves.series {
        let look = palette.look(&series.name);
        for run in runs(series, frame) {
            let stairs = stepped(&run);
            band(scene, &stairs, frame, Paint::Series(look.colour()));
            let parts = joined(&stairs, frame);
            let name = Some(series.name.clone()).filter(|name| !name.is_empty());
            let is_single = run.len() == 1;
            scene.group(name, None, |scene| match is_single {
                true => markers(scene, panel, series, frame, look, 0),
                false if parts.is_empty() => {}
                false => scene.path(parts, stroke(look)),
            });
        }
    }
}

/// Markers with vertical intervals.
pub(super) fn scatter(
    scene: &mut Scene,
    panel: &Panel,
    curves: &Curves,
    frame: &Frame,
    palette: &Palette,
) {
    baselines(scene, curves, frame);
    for series in &curves.series {
        let look = palette.look(&series.name);
        let paint = Paint::Series(look.colour());
        for point in runs(series, frame).into_iter().flatten() {
            let at = place(frame, &point);
            let said = point_tip(panel, series, &point);
            scene.group(Some(said), point.y.link.clone(), |scene| {
                if let (Some(low), Some(high)) = (point.y.low, point.y.high) {
                    let ends = [low, high].map(|end| (at.0, frame.y.at(end)));
                    for part in clip::line(&ends, &frame.area) {
                        scene.path(vec![part], Stroke::new(paint, 0.9));
                    }
                }
                if clip::holds(&frame.area, at) {
                    scene.marker(look.marker(), at, IN_CLOUDS, paint);
                }
            });
        }
    }
}

fn baselines(scene: &mut Scene, curves: &Curves, frame: &Frame) {
    for (index, line) in curves.baselines.iter().enumerate() {
        let at = frame.y.at(line.value);
        let ends = [(frame.area.left, at), (frame.area.right, at)];
        for part in clip::line(&ends, &frame.area) {
            scene.group(Some(line.name.clone()), None, |scene| {
                scene.path(vec![part], baseline(index));
            });
        }
    }
}

/// The stroke of a series.
fn stroke(look: Look) -> Stroke {
    Stroke::new(Paint::Series(look.colour()), 1.1).dashed(look.dash())
}

/// A line through these points, as far as it is inside.
fn joined(points: &[Point], frame: &Frame) -> Vec<Vec<Place>> {
    let places: Vec<Place> = points.iter().map(|point| place(frame, point)).collect();
    clip::line(&places, &frame.area)
}

fn place(frame: &Frame, point: &Point) -> Place {
    (frame.x.at(point.x), frame.y.at(point.y.value))
}

fn is_drawn(map: &Map, value: f64) -> bool {
    value.is_finite() && (map.spacing == Spacing::Linear || value > 0.0)
}

/// The points between two values that cannot be drawn.
fn runs(series: &Series, frame: &Frame) -> Vec<Vec<Point>> {
    let drawn = |point: &Point| is_drawn(&frame.x, point.x) && is_drawn(&frame.y, point.y.value);
    let runs = series.points.split(|point| !drawn(point));
    runs.filter(|run| !run.is_empty())
        .map(<[Point]>::to_vec)
        .collect()
}

fn stepped(run: &[Point]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(run.len() * 2);
    for point in run {
        if let Some(before) = points.last() {
            let corner = Point::new(point.x, before.y.clone());
            points.push(corner);
        }
        points.push(point.clone());
    }
    points
}

fn band(scene: &mut Scene, run: &[Point], frame: &Frame, paint: Paint) {
    let with_ends = run.iter().filter_map(|point| {
        let (low, high) = (point.y.low?, point.y.high?);
        let is_drawn = is_drawn(&frame.y, low) && is_drawn(&frame.y, high);
        is_drawn.then(|| (frame.x.at(point.x), frame.y.at(low), frame.y.at(high)))
    });
    let ends: Vec<(f64, f64, f64)> = with_ends.collect();
    if let [(x, low, high)] = ends[..] {
        for part in clip::line(&[(x, low), (x, high)], &frame.area) {
            scene.path(vec![part], Stroke::new(paint, 0.9));
        }
        return;
    }
    let above = ends.iter().map(|(x, _, high)| (*x, *high));
    let below = ends.iter().rev().map(|(x, low, _)| (*x, *low));
    let corners = clip::polygon(&above.chain(below).collect::<Vec<Place>>(), &frame.area);
    if corners.len() >= 3 {
        scene.polygon(corners, Fill::faint(paint, 0.14), Stroke::NONE);
    }
}

/// Markers where there is room, shifted from series to series so that they rarely coincide.
fn markers(
    scene: &mut Scene,
    panel: &Panel,
    series: &Series,
    frame: &Frame,
    look: Look,
    shift: usize,
) {
    let step = frame.area.width() / series.points.len().max(1) as f64;
    let every = (MARKER_STEP / step).ceil().max(1.0) as usize;
    let paint = Paint::Series(look.colour());
    for (index, point) in runs(series, frame).into_iter().flatten().enumerate() {
        let at = place(frame, &point);
        let is_chosen = (index + shift).is_multiple_of(every) || point.y.link.is_some();
        if is_chosen && clip::holds(&frame.area, at) {
            let said = point_tip(panel, series, &point);
            scene.group(Some(said), point.y.link.clone(), |scene| {
                scene.marker(look.marker(), at, ON_LINES, paint);
            });
        }
    }
}

fn point_tip(panel: &Panel, series: &Series, point: &Point) -> String {
    let at = format!("{} {}", panel.x.title, number::short(point.x));
    tip(&[&series.name, at.trim()], &panel.y, &point.y)
}
