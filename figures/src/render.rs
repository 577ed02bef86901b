//! Draws the SVG of a figure as PNG or PDF. It knows the fonts of figures and no others, and reads
//! nothing from outside: no system fonts, no linked images. Behind the features `raster` and `pdf`.

use std::sync::{Arc, LazyLock};

use thiserror::Error;
use usvg::{Options, Tree, fontdb};

use crate::font;

/// Why an SVG was not drawn.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RenderError {
    /// It is no SVG, or one that the library does not know.
    #[error("svg was not read")]
    Read(#[source] usvg::Error),
    /// No picture has this size.
    #[error("{width} by {height} pixels is no size for a picture")]
    Size {
        /// Pixels across.
        width: f32,
        /// Pixels down.
        height: f32,
    },
    /// The picture could not be written.
    #[error("picture was not written: {0}")]
    Write(String),
}

/// The fonts of figures.
static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(font::REGULAR.to_vec());
    fonts.load_font_data(font::BOLD.to_vec());
    Arc::new(fonts)
});

/// Points to the inch: the unit of all lengths in figures.
const POINTS_PER_INCH: f32 = 72.0;

/// Nobody prints a figure larger than this, in pixels along one side.
#[cfg(feature = "raster")]
const LARGEST_SIDE: f32 = 20_000.0;

fn read(svg: &str) -> Result<Tree, RenderError> {
    let options = Options {
        dpi: POINTS_PER_INCH,
        font_family: "Agon Figures".to_owned(),
        fontdb: Arc::clone(&FONTS),
        image_href_resolver: usvg::ImageHrefResolver {
            resolve_data: Box::new(|_, _, _| None),
            resolve_string: Box::new(|_, _| None),
        },
        ..Options::default()
    };
    // Without other fonts, letters that ours lacks would vanish; a box says that one is there.
    let shown = |letter: char| match letter.is_ascii() || font::has(letter) {
        true => letter,
        false => '□',
    };
    let svg: String = svg.chars().map(shown).collect();
    Tree::from_str(&svg, &options).map_err(RenderError::Read)
}

/// The SVG of a figure as a PNG with so many pixels to the inch (300 for print, 144 for screens).
#[cfg(feature = "raster")]
pub fn png(svg: &str, pixels_per_inch: f32) -> Result<Vec<u8>, RenderError> {
    use resvg::tiny_skia::{Color, Pixmap, Transform};

    let tree = read(svg)?;
    let scale = pixels_per_inch / POINTS_PER_INCH;
    let (width, height) = (
        (tree.size().width() * scale).ceil(),
        (tree.size().height() * scale).ceil(),
    );
    let is_size = |side: f32| (1.0..=LARGEST_SIDE).contains(&side);
    let pixels = Some((width as u32, height as u32)).filter(|_| is_size(width) && is_size(height));
    let mut pixels = pixels
        .and_then(|(width, height)| Pixmap::new(width, height))
        .ok_or(RenderError::Size { width, height })?;
    // A figure rarely ends at the edge of a pixel.
    pixels.fill(Color::WHITE);
    resvg::render(
        &tree,
        Transform::from_scale(scale, scale),
        &mut pixels.as_mut(),
    );
    pixels
        .encode_png()
        .map_err(|error| RenderError::Write(error.to_string()))
}

/// The SVG of a figure as a PDF of one page of its size, with the letters that it uses.
#[cfg(feature = "pdf")]
pub fn pdf(svg: &str) -> Result<Vec<u8>, RenderError> {
    use krilla::Document;
    use krilla::geom::Size;
    use krilla::page::PageSettings;
    use krilla_svg::{SurfaceExt as _, SvgSettings};

    let tree = read(svg)?;
    let (width, height) = (tree.size().width(), tree.size().height());
    let no_size = || RenderError::Size { width, height };
    let size = Size::from_wh(width, height).ok_or_else(no_size)?;
    let mut document = Document::new();
    let mut page = document.start_page_with(PageSettings::new(size));
    let mut surface = page.surface();
    surface
        .draw_svg(&tree, size, SvgSettings::default())
        .ok_or_else(no_size)?;
    surface.finish();
    page.finish();
    document
        .finish()
        .map_err(|error| RenderError::Write(format!("{error:?}")))
}

#[cfg(test)]
mod tests {
    use crate::testing;

    #[test]
    #[cfg(feature = "raster")]
    fn every_figure_is_drawn_as_a_png_of_its_size() {
        for (name, figure) in testing::all() {
            let picture = super::png(&figure.svg(), 36.0).unwrap();
            assert!(picture.starts_with(b"\x89PNG\r\n\x1a\n"), "{name}");
            let width = u32::from_be_bytes(picture[16..20].try_into().unwrap());
            assert_eq!(width, 121, "{name}: 85 mm at 36 pixels per inch");
        }
    }

    #[test]
    #[cfg(feature = "raster")]
    fn what_is_no_svg_or_no_size_is_refused() {
        assert!(super::png("<html/>", 72.0).is_err());
        let (_, figure) = testing::all().remove(0);
        for hostile in [0.0, -1.0, f32::NAN, f32::INFINITY, 1e9] {
            assert!(super::png(&figure.svg(), hostile).is_err(), "{hostile}");
        }
    }

    #[test]
    #[cfg(feature = "pdf")]
    fn every_figure_is_a_pdf_with_its_font_inside_and_the_same_each_time() {
        for (name, figure) in testing::all() {
            let document = super::pdf(&figure.svg()).unwrap();
            assert!(document.starts_with(b"%PDF-"), "{name}");
            let has = |word: &[u8]| document.windows(word.len()).any(|part| part == word);
            assert!(has(b"AgonFigures") && has(b"/FontFile2"), "{name}");
            assert_eq!(document, super::pdf(&figure.svg()).unwrap(), "{name}");
        }
    }
}
