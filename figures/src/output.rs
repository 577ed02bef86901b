//! What a figure becomes: SVG for files and pages, a plot for a terminal, its data as CSV. PNG and
//! PDF are made from the SVG, in `render`.

use crate::csv;
use crate::figure::Figure;
use crate::layout;
use crate::svg::{self, Ground};
use crate::text;

/// What a figure without a title is called by those who read it aloud.
const NAMELESS: &str = "figure";

impl Figure {
    /// An SVG file of its own: fonts and colours are inside, on a white ground.
    pub fn svg(&self) -> String {
        svg::alone(&layout::lay_out(self), self.name(), Ground::White)
    }

    /// The same on a dark ground, for screens.
    pub fn svg_on_dark(&self) -> String {
        svg::alone(&layout::lay_out(self), self.name(), Ground::Dark)
    }

    /// SVG inside a page that has [`page_style`](crate::page_style): colours are classes, so that
    /// the page's theme changes them. Ids begin with the prefix, which must differ between the
    /// figures of a page.
    pub fn svg_for_page(&self, prefix: &str) -> String {
        svg::for_page(&layout::lay_out(self), self.name(), prefix)
    }

    /// A small plot for a terminal of so many columns (24 at least): plain Unicode, no colours.
    pub fn text(&self, width: usize) -> String {
        text::plot(self, width)
    }

    /// The data of all panels, a row per mark.
    pub fn csv(&self) -> String {
        csv::write(self)
    }

    fn name(&self) -> &str {
        self.title.as_deref().unwrap_or(NAMELESS)
    }
}
