//! What a chart asks of its panel before it is drawn: its sides, its height, its lines in the
//! legend. Charts make plans, the layout follows them.

use crate::palette::Look;
use crate::scene::{Area, Paint, Place, Scene, Stroke};
use crate::side::Side;
use crate::texture;

/// The usual share of a panel for names beside its area.
const NAMES_SHARE: f64 = 0.4;

/// The sides and the height of a chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Plan {
    pub(crate) x: Side,
    pub(crate) y: Side,
    pub(crate) height: Height,
    /// Room above the area: scales of colours.
    pub(crate) above: f64,
    /// Names beside the area take at most this share of the panel.
    pub(crate) names_share: f64,
    /// Without axes: radars draw their own.
    pub(crate) is_bare: bool,
}

impl Plan {
    /// A chart with axes and nothing beside them.
    pub(crate) fn new(x: Side, y: Side, height: Height) -> Self {
        Self {
            x,
            y,
            height,
            above: 0.0,
            names_share: NAMES_SHARE,
            is_bare: false,
        }
    }
}

/// How high the area of a chart is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Height {
    /// A share of the width of its panel.
    Share(f64),
    /// So many points for each name on its vertical side.
    PerName(f64),
    /// As high for each row as wide for each column, but between these ends.
    Cells(f64, f64),
}

/// A line of the legend.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) sign: Sign,
}

/// What stands before a name in the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Sign {
    /// A line with its marker.
    Line(Look),
    Marker(Look),
    /// A piece of a bar.
    Swatch(Look),
    /// A piece of a box.
    Box(Look),
    /// A coloured cell.
    Cell(Look),
    /// A line without markers: densities.
    Bare(Look),
    /// The n-th line to compare with.
    Baseline(usize),
}

/// Width of a sign.
pub(crate) const SIGN_WIDTH: f64 = 20.0;

/// Lines to compare with, by number.
const BASELINES: [&[f64]; 3] = [&[3.0, 2.0], &[1.0, 2.0], &[5.0, 1.5, 1.0, 1.5]];

/// How the n-th baseline of a figure is drawn.
pub(crate) fn baseline(index: usize) -> Stroke {
    Stroke::new(Paint::Soft, 0.9).dashed(BASELINES[index % BASELINES.len()])
}

/// Draws a sign whose left middle is given.
pub(crate) fn draw_sign(scene: &mut Scene, sign: Sign, (x, y): Place) {
    let end = (x + SIGN_WIDTH, y);
    let middle = (x + SIGN_WIDTH / 2.0, y);
    let area = Area {
        left: x + 4.0,
        top: y - 3.0,
        right: x + 16.0,
        bottom: y + 3.0,
    };
    match sign {
        Sign::Line(look) => {
            let paint = Paint::Series(look.colour());
            scene.line((x, y), end, Stroke::new(paint, 1.1).dashed(look.dash()));
            scene.marker(look.marker(), middle, 2.0, paint);
        }
        Sign::Bare(look) => {
            let paint = Paint::Series(look.colour());
            scene.line((x, y), end, Stroke::new(paint, 1.2).dashed(look.dash()));
        }
        Sign::Marker(look) => {
            scene.marker(look.marker(), middle, 2.3, Paint::Series(look.colour()));
        }
        Sign::Swatch(look) => texture::bar(scene, area, look),
        Sign::Box(look) => texture::faint_bar(scene, area, look),
        Sign::Cell(look) => texture::cell(scene, area, look),
        Sign::Baseline(index) => scene.line((x, y), end, baseline(index)),
    }
}
