//! Lays a figure out: title, legend, panels in a grid with their areas aligned, caption. The result
//! is a scene. It decides sizes; axes and charts draw themselves.

use crate::charts;
use crate::figure::{Figure, Width};
use crate::font::{self, LEADING};
use crate::frame::{self, Frame, LABEL_SIZE};
use crate::legend::Legend;
use crate::plan::{Entry, Height, Plan, Sign};
use crate::prepare::{Prepared, prepare};
use crate::scene::{Anchor, Area, Paint, Scene, Text};
use crate::side::Side;
use crate::ticks;

/// Sizes of text.
const TITLE_SIZE: f64 = 9.0;
const PANEL_TITLE_SIZE: f64 = 7.5;

/// Around the figure, between panels, between parts.
const EDGE: f64 = 3.0;
const PANEL_GAP: f64 = 9.0;
const PART_GAP: f64 = 5.0;

/// Panels narrower than this are not set beside each other.
const NARROWEST_PANEL: f64 = 108.0;

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
    y = grid(&mut scene, figure, &prepared, y);
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

/// How many panels stand beside each other.
fn columns(figure: &Figure, count: usize) -> usize {
    let room = figure.width.points() - 2.0 * EDGE;
    let most = ((room + PANEL_GAP) / (NARROWEST_PANEL + PANEL_GAP)) as usize;
    let usual = match figure.width {
        Width::One => 2,
        Width::Two => 3,
    };
    let chosen = match count {
        4 => 2,
        _ => usual,
    };
    figure
        .columns
        .unwrap_or(chosen)
        .clamp(1, most.max(1))
        .min(count.max(1))
}

/// The panels; says where they end.
fn grid(scene: &mut Scene, figure: &Figure, prepared: &Prepared, top: f64) -> f64 {
    let columns = columns(figure, prepared.panels.len());
    let room = scene.width - 2.0 * EDGE - (columns - 1) as f64 * PANEL_GAP;
    let width = room / columns as f64;
    let margins = margins(&prepared.plans, columns, width);
    let mut y = top;
    let rows = prepared
        .panels
        .chunks(columns)
        .zip(prepared.plans.chunks(columns));
    for (panels, plans) in rows {
        let titles = panels.iter().map(|panel| {
            let title = panel.title.as_deref().unwrap_or("");
            font::wrapped(title, PANEL_TITLE_SIZE, true, width, TITLE_LINES)
        });
        let titles: Vec<Vec<String>> = titles.collect();
        let title_lines = titles.iter().map(Vec::len).max().unwrap_or(0) as f64;
        let mut area_top = y + title_lines * PANEL_TITLE_SIZE * LEADING;
        area_top += if title_lines > 0.0 { 3.0 } else { 4.0 };
        area_top += plans.iter().map(|plan| plan.above).fold(0.0, f64::max);
        let heights = plans
            .iter()
            .zip(&margins)
            .map(|(plan, (left, right))| height(plan, width, width - left - right));
        let height = heights.fold(0.0, f64::max);
        let mut bottom = area_top + height;
        for (index, (panel, plan)) in panels.iter().zip(plans).enumerate() {
            let (left, right) = margins[index];
            let start = EDGE + index as f64 * (width + PANEL_GAP);
            let area = Area {
                left: start + left,
                top: area_top,
                right: start + width - right,
                bottom: area_top + height,
            };
            paragraph(
                scene,
                &titles[index],
                (start, y),
                PANEL_TITLE_SIZE,
                true,
                Paint::Ink,
            );
            let frame = Frame::of(&plan.x, &plan.y, area);
            if !plan.is_bare {
                frame::draw(scene, &frame, &plan.x, &plan.y, width * plan.names_share);
                bottom = bottom.max(area.bottom + frame::bottom(&plan.x, area.width()));
            }
            match charts::is_empty(&panel.chart) {
                true => no_data(scene, &area),
                false => charts::draw(scene, panel, &frame, &prepared.palette),
            }
        }
        y = bottom + PANEL_GAP;
    }
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
    y - PANEL_GAP
}

fn no_data(scene: &mut Scene, area: &Area) {
    let text = Text::new("no data", area.centre(), LABEL_SIZE + 1.0);
    scene.text(text.anchor(Anchor::Middle).paint(Paint::Soft));
}

/// Left and right margins of each column of panels: the largest that one of its panels needs.
fn margins(plans: &[Plan], columns: usize, width: f64) -> Vec<(f64, f64)> {
    let of_column = |column: usize| {
        let plans = plans
            .iter()
            .skip(column)
            .step_by(columns)
            .filter(|plan| !plan.is_bare);
        let mut margins: (f64, f64) = (0.0, 0.0);
        for plan in plans {
            let estimate = height(plan, width, width * 0.7);
            let left = frame::left(&plan.y, estimate, width * plan.names_share);
            let (before, after) = frame::overhang(&plan.x, width - left);
            margins.0 = margins.0.max(left).max(before);
            margins.1 = margins.1.max(after + 1.0);
        }
        margins
    };
    (0..columns).map(of_column).collect()
}

/// The height of the area of a chart.
fn height(plan: &Plan, panel_width: f64, area_width: f64) -> f64 {
    let names = |side: &Side| match side {
        Side::Names(names, _) => names.len().max(1) as f64,
        Side::Numbers(_) => 1.0,
    };
    let lines = match &plan.y {
        Side::Names(names, _) => ticks::lines_beside(names, panel_width * plan.names_share) as f64,
        Side::Numbers(_) => 1.0,
    };
    let least = (lines - 1.0) * LABEL_SIZE * LEADING + LABEL_SIZE + 1.5;
    match plan.height {
        Height::Share(share) => share * panel_width,
        Height::PerName(step) => (step.max(least) * names(&plan.y)).max(24.0),
        Height::Cells(lowest, highest) => {
            let cell = area_width / names(&plan.x);
            cell.clamp(lowest.max(least), highest.max(least)) * names(&plan.y)
        }
    }
}
