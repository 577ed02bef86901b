//! Lines, steps and clouds of points for a terminal: series are letters, a star stands where several
//! meet.

use crate::chart::Curves;
use crate::charts;
use crate::figure::Panel;
use crate::mark::Point;
use crate::side::{Numbers, Side};

use super::canvas::Canvas;
use super::width::{cut, key, letter};

/// How points are joined.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    Line,
    Step,
    Cloud,
}

/// The points of more series are not joined: too many signs would coincide.
const MOST_JOINED: usize = 4;

/// Plot, axis titles, key.
pub(super) fn plot(panel: &Panel, curves: &Curves, width: usize, form: Form) -> Vec<String> {
    let plan = charts::plan(panel);
    let (Side::Numbers(x), Side::Numbers(y)) = (plan.x, plan.y) else {
        return Vec::new();
    };
    let mut canvas = Canvas::new(&x, &y, width);
    for (index, series) in curves.series.iter().enumerate() {
        let points: Vec<&Point> = series.points.iter().collect();
        let is_joined = form != Form::Cloud && curves.series.len() <= MOST_JOINED;
        for pair in points.windows(2).filter(|_| is_joined) {
            join(&mut canvas, [pair[0], pair[1]], &x, form);
        }
        for point in points.iter().filter(|point| point.y.value.is_finite()) {
            if let Some(cell) = canvas.cell(point.x, point.y.value) {
                canvas.put(cell, letter(index));
            }
        }
    }
    for line in &curves.baselines {
        canvas.across(line.value, '┄');
    }
    let mut lines = vec![cut(&y.title, width)];
    let area = canvas.lines();
    let has_stars = area.iter().any(|line| line.contains('*'));
    lines.extend(area);
    lines.push(cut(&format!("  {}", x.title), width));
    lines.extend(key(curves.series.iter().map(|series| &*series.name), width));
    if has_stars {
        lines.push("* several of them".to_owned());
    }
    for line in &curves.baselines {
        lines.push(cut(&format!("┄ {}", line.name), width));
    }
    lines
}

/// Dots between two points, in steps of a column.
fn join(canvas: &mut Canvas, [from, to]: [&Point; 2], x: &Numbers, form: Form) {
    if !from.y.value.is_finite() || !to.y.value.is_finite() {
        return;
    }
    let steps = 40;
    for step in 1..steps {
        let share = f64::from(step) / f64::from(steps);
        let at = from.x + (to.x - from.x) * share;
        let value = match form {
            Form::Step => from.y.value,
            _ => from.y.value + (to.y.value - from.y.value) * share,
        };
        let is_inside = at >= x.from && at <= x.to;
        if let Some(cell) = canvas.cell(at, value).filter(|_| is_inside) {
            canvas.put_below(cell, '·');
        }
    }
}
