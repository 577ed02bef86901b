//! Lays a figure out: title, legend, panels in a grid with their areas aligned, caption. The result
//! is a scene. It decides sizes; axes and charts draw themselves.

use crate::charts;
use crate::figure::{Figure, Panel};
use crate::font::{self, LEADING};
use crate::frame::{self, Frame, LABEL_SIZE};
use crate::grid::{Grid, PANEL_GAP};
use crate::legend::Legend;
use crate::plan::{Entry, Plan, Sign};
use crate::prepare::{Prepared, prepare};
use crate::scene::{Anchor, Area, Paint, Scene, Text};

/// Sizes of text.
const TITLE_SIZE: f64 = 9.0;
const PANEL_TITLE_SIZE: f64 = 7.5;

/// Around the figure, between parts.
const EDGE: f64 = 3.0;
const PART_GAP: f64 = 5.0;

/// Lines of titles, and of a caption.
const TITLE_LINES: usize = 3;
const CAPTION_LINES: usize = 40;

/// A laid out figure.
pub(crate) fn lay_out(figure: &Figure) -> Scene {
    let prepared = prepare(figure);
    let mut scene = Scene::new(figure.width.points());
    let room = scene.width - 2.0 * EDGE;
    let mut y = EDGE;
    if let Some(title) = prepared.title.as_deref().filter(|title| !title.is_empty()) {
        let lines = font::wrapped(title, TITLE_SIZE, true, room, TITLE_LINES);
        y = paragraph(&mut scene, &lines, (EDGE, y), TITLE_SIZE, true, Paint::Ink) + PART_GAP;
    }
    let legend = Legend::new(entries(&prepared), room);
    if legend.height() > 0.0 {
        legend.draw(&mut scene, (EDGE, y));
        y += legend.height() + PART_GAP;
    }
    y = panels(&mut scene, figure, &prepared, y);
    let caption = prepared.caption.join(" ");
    if !caption.is_empty() {
        let lines = font::wrapped(&caption, LABEL_SIZE, false, room, CAPTION_LINES);
        let top = (EDGE, y + PART_GAP);
        y = paragraph(&mut scene, &lines, top, LABEL_SIZE, false, Paint::Soft);
    }
    scene.height = y + EDGE;
    scene
}

/// Draws lines under each other and says where they end.
fn paragraph(
    scene: &mut Scene,
    lines: &[String],
    (left, top): (f64, f64),
    size: f64,
    bold: bool,
    paint: Paint,
) -> f64 {
    let mut first = Text::new("", (left, top + size * font::ASCENT), size).paint(paint);
    first.bold = bold;
    scene.lines(lines, &first);
    top + lines.len() as f64 * size * LEADING
}

/// Every series and baseline once; where the title of a panel names its series, that is enough.
fn entries(prepared: &Prepared) -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    for panel in &prepared.panels {
        let baselines = panel.chart.baselines().iter().enumerate();
        let baselines = baselines.map(|(index, line)| Entry {
            name: line.name.clone(),
            sign: Sign::Baseline(index),
        });
        for entry in charts::entries(panel, &prepared.palette)
            .into_iter()
            .filter(|entry| panel.title.as_ref() != Some(&entry.name))
            .chain(baselines)
        {
            let is_known = entries.iter().any(|known| known.name == entry.name);
            if !is_known && !entry.name.is_empty() {
                entries.push(entry);
            }
        }
    }
    let (lines, series): (Vec<Entry>, Vec<Entry>) = entries
        .into_iter()
        .partition(|entry| matches!(entry.sign, Sign::Baseline(_)));
    series.into_iter().chain(lines).collect()
}

/// The panels; says where they end.
fn panels(scene: &mut Scene, figure: &Figure, prepared: &Prepared, top: f64) -> f64 {
    if prepared.panels.is_empty() {
        let area = Area {
            left: EDGE,
            top,
            right: scene.width - EDGE,
            bottom: top + 40.0,
        };
        no_data(scene, &area);
        return area.bottom;
    }
    let room = scene.width - 2.0 * EDGE;
    let grid = Grid::of(figure, &prepared.plans, EDGE, room);
    let count = grid.columns.len();
    let plans = prepared.plans.chunks(count);
    let mut y = top;
    for (panels, plans) in prepared.panels.chunks(count).zip(plans) {
        y = row(scene, prepared, &grid, panels, plans, y) + PANEL_GAP;
    }
    y - PANEL_GAP
}

/// A row of panels: titles, then areas of one height; says where it ends.
fn row(
    scene: &mut Scene,
    prepared: &Prepared,
    grid: &Grid,
    panels: &[Panel],
    plans: &[Plan],
    top: f64,
) -> f64 {
    let titles = panels.iter().zip(&grid.columns).map(|(panel, column)| {
        let title = panel.title.as_deref().unwrap_or("");
        font::balanced(title, PANEL_TITLE_SIZE, true, column.width, TITLE_LINES)
    });
    let titles: Vec<Vec<String>> = titles.collect();
    let lines = titles.iter().map(Vec::len).max().unwrap_or(0) as f64;
    let gap: f64 = if lines > 0.0 { 3.0 } else { 4.0 };
    let above = plans
        .iter()
        .map(|plan| plan.above)
        .fold(gap, |most, above| most.max(above + gap));
    let area_top = top + lines * PANEL_TITLE_SIZE * LEADING + above;
    let heights = plans.iter().zip(&grid.columns);
    let heights = heights.map(|(plan, column)| grid.height(plan, column.right - column.left));
    let height = heights.fold(0.0, f64::max);
    let mut end = area_top + height;
    for (index, (panel, plan)) in panels.iter().zip(plans).enumerate() {
        let column = grid.columns[index];
        let place = (column.start, top);
        paragraph(
            scene,
            &titles[index],
            place,
            PANEL_TITLE_SIZE,
            true,
            Paint::Ink,
        );
        // Without axes, a chart has the room of their labels too.
        let (left, right) = match plan.is_bare {
            true => (column.start, column.start + column.width),
            false => (column.left, column.right),
        };
        let area = Area {
            left,
            top: area_top,
            right,
            bottom: area_top + height,
        };
        let frame = Frame::of(&plan.x, &plan.y, area);
        if !plan.is_bare {
            let names_room = column.is_labelled.then(|| grid.names_room(plan));
            frame::draw(scene, &frame, &plan.x, &plan.y, names_room);
            end = end.max(area.bottom + frame::bottom(&plan.x, area.width()));
        }
        match charts::is_empty(&panel.chart) {
            true => no_data(scene, &area),
            false => charts::draw(scene, panel, &frame, &prepared.palette),
        }
    }
    end
}

fn no_data(scene: &mut Scene, area: &Area) {
    let text = Text::new("no data", area.centre(), LABEL_SIZE + 1.0);
    scene.text(text.anchor(Anchor::Middle).paint(Paint::Soft));
}
