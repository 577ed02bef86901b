//! Cuts lines and polygons at the edges of a chart's area, for axes whose range the caller said.
//! Plain geometry: no clip paths, so no ids in the SVG.

use crate::scene::{Area, Place};

/// What of a line lies inside, as one or several lines.
pub(crate) fn line(places: &[Place], area: &Area) -> Vec<Vec<Place>> {
    let mut parts: Vec<Vec<Place>> = Vec::new();
    for pair in places.windows(2) {
        let Some((from, to)) = segment(pair[0], pair[1], area) else {
            continue;
        };
        match parts.last_mut() {
            Some(part) if part.last() == Some(&from) => part.push(to),
            _ => parts.push(vec![from, to]),
        }
    }
    parts
}

/// What of a straight line lies inside (Liang and Barsky).
fn segment(from: Place, to: Place, area: &Area) -> Option<(Place, Place)> {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let sides = [
        (-dx, from.0 - area.left),
        (dx, area.right - from.0),
        (-dy, from.1 - area.top),
        (dy, area.bottom - from.1),
    ];
    let (mut enter, mut leave) = (0.0_f64, 1.0_f64);
    for (toward, room) in sides {
        if toward == 0.0 {
            if room < 0.0 {
                return None;
            }
        } else if toward < 0.0 {
            enter = enter.max(room / toward);
        } else {
            leave = leave.min(room / toward);
        }
    }
    let at = |share: f64| match share {
        0.0 => from,
        1.0 => to,
        _ => (from.0 + share * dx, from.1 + share * dy),
    };
    (enter <= leave).then(|| (at(enter), at(leave)))
}

/// What of a polygon lies inside (Sutherland and Hodgman).
pub(crate) fn polygon(corners: &[Place], area: &Area) -> Vec<Place> {
    let depth = |side: usize, place: Place| match side {
        0 => place.0 - area.left,
        1 => area.right - place.0,
        2 => place.1 - area.top,
        _ => area.bottom - place.1,
    };
    let mut kept = corners.to_vec();
    for side in 0..4 {
        let Some(mut before) = kept.last().copied() else {
            break;
        };
        let mut inside = Vec::with_capacity(kept.len() + 4);
        for place in kept {
            let (from, to) = (depth(side, before), depth(side, place));
            if (from < 0.0) != (to < 0.0) {
                let share = from / (from - to);
                let (dx, dy) = (place.0 - before.0, place.1 - before.1);
                inside.push((before.0 + share * dx, before.1 + share * dy));
            }
            if to >= 0.0 {
                inside.push(place);
            }
            before = place;
        }
        kept = inside;
    }
    kept
}

/// The place lies inside, but for the last digit.
pub(crate) fn holds(area: &Area, (x, y): Place) -> bool {
    let across = area.left - 0.01..=area.right + 0.01;
    let along = area.top - 0.01..=area.bottom + 0.01;
    across.contains(&x) && along.contains(&y)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Area = Area {
        left: 0.0,
        top: 0.0,
        right: 10.0,
        bottom: 10.0,
    };

    #[test]
    fn line_that_leaves_and_returns_becomes_two_lines() {
        let parts = line(&[(1.0, 5.0), (3.0, 15.0), (7.0, 15.0), (9.0, 5.0)], &AREA);
        assert_eq!(
            parts,
            [[(1.0, 5.0), (2.0, 10.0)], [(8.0, 10.0), (9.0, 5.0)]]
        );
        assert_eq!(
            line(&[(-1.0, 11.0), (11.0, 11.0)], &AREA),
            Vec::<Vec<Place>>::new()
        );
    }

    #[test]
    fn polygon_is_cut_at_every_side() {
        let cut = polygon(
            &[(-5.0, -5.0), (15.0, -5.0), (15.0, 15.0), (-5.0, 15.0)],
            &AREA,
        );
        assert!(cut.len() >= 4 && cut.iter().all(|place| holds(&AREA, *place)));
        assert_eq!(polygon(&[(20.0, 0.0), (21.0, 0.0), (21.0, 1.0)], &AREA), []);
    }
}
