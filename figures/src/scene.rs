//! What a figure consists of once it is laid out: shapes and texts at places, in points from the
//! upper left corner. Paints are roles (ink, paper, a series), which the writer of SVG turns into
//! colours or classes. Charts add to it; `svg` writes it; tests measure its texts.

use crate::font;
use crate::palette::{Marker, Rgb};

/// A place in points: x to the right, y down.
pub(crate) type Place = (f64, f64);

/// A laid out figure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scene {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) items: Vec<Item>,
}

/// Something drawn.
#[derive(Debug, Clone)]
pub(crate) enum Item {
    /// Lines from place to place, filled if closed.
    Path {
        parts: Vec<Vec<Place>>,
        closed: bool,
        fill: Fill,
        stroke: Stroke,
    },
    Circle {
        centre: Place,
        radius: f64,
        fill: Fill,
        stroke: Stroke,
    },
    Text(Text),
    /// Items that share a tooltip and a link.
    Group {
        tip: Option<String>,
        link: Option<String>,
        items: Vec<Self>,
    },
}

/// What a colour is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    None,
    /// Text and axes.
    Ink,
    /// Secondary text, baselines.
    Soft,
    /// Lines of the grid.
    Rule,
    /// The background.
    Paper,
    /// The colour of a series, by its index.
    Series(usize),
    /// The same on light and dark pages: cells of heat maps.
    Fixed(Rgb),
}

/// A paint for areas.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fill {
    pub(crate) paint: Paint,
    pub(crate) opacity: f64,
}

impl Fill {
    pub(crate) const NONE: Self = Self::solid(Paint::None);

    pub(crate) const fn solid(paint: Paint) -> Self {
        Self {
            paint,
            opacity: 1.0,
        }
    }

    pub(crate) const fn faint(paint: Paint, opacity: f64) -> Self {
        Self { paint, opacity }
    }
}

/// A paint for lines.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub(crate) paint: Paint,
    pub(crate) width: f64,
    pub(crate) dash: &'static [f64],
}

impl Stroke {
    pub(crate) const NONE: Self = Self::new(Paint::None, 0.0);

    pub(crate) const fn new(paint: Paint, width: f64) -> Self {
        Self {
            paint,
            width,
            dash: &[],
        }
    }

    pub(crate) const fn dashed(mut self, dash: &'static [f64]) -> Self {
        self.dash = dash;
        self
    }
}

/// Which end of a text stands at its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// One line of text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    pub(crate) content: String,
    /// On the base line.
    pub(crate) at: Place,
    pub(crate) size: f64,
    pub(crate) bold: bool,
    pub(crate) anchor: Anchor,
    /// It reads upwards.
    pub(crate) upright: bool,
    pub(crate) paint: Paint,
}

impl Text {
    /// A text in ink that begins at a place.
    pub(crate) fn new(content: impl Into<String>, at: Place, size: f64) -> Self {
        Self {
            content: content.into(),
            at,
            size,
            bold: false,
            anchor: Anchor::Start,
            upright: false,
            paint: Paint::Ink,
        }
    }

    pub(crate) fn anchor(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    pub(crate) fn paint(mut self, paint: Paint) -> Self {
        self.paint = paint;
        self
    }

    pub(crate) fn upright(mut self) -> Self {
        self.upright = true;
        self
    }

    /// Left, top, right and bottom of what it covers.
    #[cfg(test)]
    pub(crate) fn bounds(&self) -> [f64; 4] {
        let width = font::width(&self.content, self.size, self.bold);
        let before = match self.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => width / 2.0,
            Anchor::End => width,
        };
        let (ascent, descent) = (self.size * font::ASCENT, self.size * font::DESCENT);
        let (x, y) = self.at;
        if self.upright {
            return [x - ascent, y - (width - before), x + descent, y + before];
        }
        [x - before, y - ascent, x - before + width, y + descent]
    }
}

impl Scene {
    pub(crate) fn new(width: f64) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    pub(crate) fn text(&mut self, text: Text) {
        self.items.push(Item::Text(text));
    }

    /// Lines of text under each other; the first base line is given.
    pub(crate) fn lines(&mut self, lines: &[String], first: &Text) {
        for (index, line) in lines.iter().enumerate() {
            let mut text = first.clone();
            text.content.clone_from(line);
            let down = index as f64 * first.size * font::LEADING;
            match first.upright {
                true => text.at.0 += down,
                false => text.at.1 += down,
            }
            self.text(text);
        }
    }

    pub(crate) fn line(&mut self, from: Place, to: Place, stroke: Stroke) {
        self.path(vec![vec![from, to]], stroke);
    }

    pub(crate) fn path(&mut self, parts: Vec<Vec<Place>>, stroke: Stroke) {
        self.items.push(Item::Path {
            parts,
            closed: false,
            fill: Fill::NONE,
            stroke,
        });
    }

    pub(crate) fn polygon(&mut self, corners: Vec<Place>, fill: Fill, stroke: Stroke) {
        self.items.push(Item::Path {
            parts: vec![corners],
            closed: true,
            fill,
            stroke,
        });
    }

    /// A rectangle between two corners.
    pub(crate) fn rectangle(&mut self, area: Area, fill: Fill, stroke: Stroke) {
        let Area {
            left,
            top,
            right,
            bottom,
        } = area;
        let corners = vec![(left, top), (right, top), (right, bottom), (left, bottom)];
        self.polygon(corners, fill, stroke);
    }

    /// The mark of a series.
    pub(crate) fn marker(&mut self, marker: Marker, (x, y): Place, radius: f64, paint: Paint) {
        let fill = Fill::solid(paint);
        let edge = Stroke::new(Paint::Paper, 0.4);
        let turned = |points: &[Place]| {
            let place = |(dx, dy): &Place| (x + dx * radius, y + dy * radius);
            points.iter().map(place).collect::<Vec<Place>>()
        };
        match marker {
            Marker::Disc => self.items.push(Item::Circle {
                centre: (x, y),
                radius,
                fill,
                stroke: edge,
            }),
            Marker::Ring => self.items.push(Item::Circle {
                centre: (x, y),
                radius: radius * 0.85,
                fill: Fill::solid(Paint::Paper),
                stroke: Stroke::new(paint, 0.9),
            }),
            Marker::Square => {
                let corners = turned(&[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)]);
                self.polygon(corners, fill, edge);
            }
            Marker::Triangle => {
                self.polygon(turned(&[(0.0, -1.2), (1.1, 0.8), (-1.1, 0.8)]), fill, edge);
            }
            Marker::Down => {
                self.polygon(turned(&[(0.0, 1.2), (1.1, -0.8), (-1.1, -0.8)]), fill, edge);
            }
            Marker::Diamond => {
                let corners = turned(&[(0.0, -1.3), (1.2, 0.0), (0.0, 1.3), (-1.2, 0.0)]);
                self.polygon(corners, fill, edge);
            }
            Marker::Cross => {
                let strokes = [[(-0.9, -0.9), (0.9, 0.9)], [(-0.9, 0.9), (0.9, -0.9)]];
                let parts = strokes.map(|stroke| turned(&stroke)).into();
                self.path(parts, Stroke::new(paint, 1.0));
            }
        }
    }

    /// What is drawn inside shares a tooltip and a link.
    pub(crate) fn group(
        &mut self,
        tip: Option<String>,
        link: Option<String>,
        draw: impl FnOnce(&mut Self),
    ) {
        let outer = std::mem::take(&mut self.items);
        draw(self);
        let items = std::mem::replace(&mut self.items, outer);
        if items.is_empty() {
            return;
        }
        match (&tip, &link) {
            (None, None) => self.items.extend(items),
            _ => self.items.push(Item::Group { tip, link, items }),
        }
    }

    /// All texts, for tests.
    #[cfg(test)]
    pub(crate) fn texts(&self) -> Vec<&Text> {
        fn collect<'a>(items: &'a [Item], texts: &mut Vec<&'a Text>) {
            for item in items {
                match item {
                    Item::Text(text) => texts.push(text),
                    Item::Group { items, .. } => collect(items, texts),
                    _ => {}
                }
            }
        }
        let mut texts = Vec::new();
        collect(&self.items, &mut texts);
        texts
    }
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

impl Area {
    pub(crate) fn width(&self) -> f64 {
        self.right - self.left
    }

    pub(crate) fn height(&self) -> f64 {
        self.bottom - self.top
    }

    pub(crate) fn centre(&self) -> Place {
        (
            (self.left + self.right) / 2.0,
            (self.top + self.bottom) / 2.0,
        )
    }
}
