//! Filled areas that read in grey: the colour of a series under lines whose direction belongs to
//! it, and the hatching of missing cells. The lines are computed, so the SVG needs no pattern ids.

use crate::clip;
use crate::palette::{Look, Texture};
use crate::scene::{Area, Fill, Paint, Place, Scene, Stroke};

/// Between the lines of a texture.
const STEP: f64 = 3.0;

/// A piece of a bar.
pub(crate) fn bar(scene: &mut Scene, area: Area, look: Look) {
    let paint = Paint::Series(look.colour());
    scene.rectangle(area, Fill::solid(paint), Stroke::NONE);
    let lines = lines(look.texture(), &area);
    if !lines.is_empty() {
        scene.path(lines, Stroke::new(Paint::Paper, 0.6));
    }
    scene.rectangle(area, Fill::NONE, Stroke::new(paint, 0.5));
}

/// The box of a box plot: a faint bar.
pub(crate) fn faint_bar(scene: &mut Scene, area: Area, look: Look) {
    let paint = Paint::Series(look.colour());
    scene.rectangle(area, Fill::faint(paint, 0.2), Stroke::NONE);
    let lines = lines(look.texture(), &area);
    if !lines.is_empty() {
        scene.path(lines, Stroke::new(paint, 0.3));
    }
    scene.rectangle(area, Fill::NONE, Stroke::new(paint, 0.8));
}

/// A faint area under text.
pub(crate) fn cell(scene: &mut Scene, area: Area, look: Look) {
    let paint = Paint::Series(look.colour());
    scene.rectangle(area, Fill::faint(paint, 0.22), Stroke::NONE);
    let lines = lines(look.texture(), &area);
    if !lines.is_empty() {
        scene.path(lines, Stroke::new(Paint::Paper, 0.5));
    }
}

/// A cell without a value.
pub(crate) fn missing(scene: &mut Scene, area: Area) {
    let lines = lines(Texture::Rising, &area);
    if !lines.is_empty() {
        scene.path(lines, Stroke::new(Paint::Rule, 0.7));
    }
    scene.rectangle(area, Fill::NONE, Stroke::new(Paint::Rule, 0.4));
}

fn lines(texture: Texture, area: &Area) -> Vec<Vec<Place>> {
    let Area {
        left,
        top,
        right,
        bottom,
    } = *area;
    let (width, height) = (area.width(), area.height());
    let steps = |length: f64| {
        let count = (length / STEP).clamp(0.0, 2000.0) as usize;
        (0..=count).map(|index| (index as f64 + 0.5) * STEP)
    };
    let raw: Vec<[Place; 2]> = match texture {
        Texture::Plain => Vec::new(),
        Texture::Level => steps(height)
            .map(|down| [(left, top + down), (right, top + down)])
            .collect(),
        Texture::Upright => steps(width)
            .map(|across| [(left + across, top), (left + across, bottom)])
            .collect(),
        Texture::Rising => steps((width + height) / 1.4)
            .map(|along| along * 1.4)
            .map(|along| [(left + along - height, bottom), (left + along, top)])
            .collect(),
        Texture::Falling => steps((width + height) / 1.4)
            .map(|along| along * 1.4)
            .map(|along| [(left + along - height, top), (left + along, bottom)])
            .collect(),
    };
    raw.iter().flat_map(|line| clip::line(line, area)).collect()
}
