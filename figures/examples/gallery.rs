//! Draws every kind of chart with made-up data of realistic size, at both widths, into a folder:
//! `cargo run -p agon-figures --features raster,pdf --example gallery -- FOLDER`. For looking.

use std::fs;
use std::path::Path;

use agon_figures::Figure;

#[path = "../src/testing.rs"]
mod made_up;

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "gallery".into());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).expect("the folder can be made");
    page(folder, "light");
    page(folder, "dark");
    for (name, figure) in made_up::all() {
        for (suffix, figure) in [("one", figure.clone()), ("two", figure.clone().wide())] {
            write(folder, &format!("{name}-{suffix}"), &figure);
        }
    }
}

fn write(folder: &Path, name: &str, figure: &Figure) {
    let save = |end: &str, bytes: &[u8]| {
        fs::write(folder.join(format!("{name}.{end}")), bytes).expect("the folder can be written");
    };
    let svg = figure.svg();
    save("svg", svg.as_bytes());
    save("txt", figure.text(100).as_bytes());
    save("csv", figure.csv().as_bytes());
    #[cfg(feature = "raster")]
    save(
        "png",
        &agon_figures::png(&svg, 200.0).expect("our SVG is drawn"),
    );
    #[cfg(feature = "pdf")]
    save("pdf", &agon_figures::pdf(&svg).expect("our SVG is drawn"));
}

/// All figures on one page, which says its theme.
fn page(folder: &Path, theme: &str) {
    let style = agon_figures::page_style();
    let mut page = format!(
        "<!doctype html><html lang=\"en\" data-theme=\"{theme}\"><meta charset=\"utf-8\">\
         <title>Gallery</title><style>:root{{background:#fff}}\
         :root[data-theme=dark]{{background:#16181c}}body{{columns:2;margin:1em}}\n{style}</style>"
    );
    for (name, figure) in made_up::all() {
        page.push_str(&figure.svg_for_page(name));
    }
    let file = folder.join(format!("page-{theme}.html"));
    fs::write(file, page).expect("the folder can be written");
}
