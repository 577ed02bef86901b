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
