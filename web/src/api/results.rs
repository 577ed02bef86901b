//! The routes below `/api/v1/results`: how far results are, their tables and figures as data and as files,
//! and the sessions that they rest on. Which sessions, stands in the query of each.

use agon_report::spreadsheet::csv_of;
use axum::extract::{Extension, Path, Query};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use super::{Allowed, Answer, Shared};
use crate::index::SessionPage;
use crate::query::PageQuery;
use crate::refusal::Refusal;
use crate::results::{FigureFile, FigureTold, Standing, Told};
use crate::wanted::Wanted;

const SVG: &str = "image/svg+xml";
const CSV: &str = "text/csv; charset=utf-8";

type Pairs = Query<Vec<(String, String)>>;

pub(super) fn routes() -> Router<Shared> {
    Router::new()
        .route("/", get(standing))
        .route("/sessions", get(sessions))
        .route("/tables/{part}", get(part))
        .route("/tables/{part}/{table}", get(table))
        .route("/figures/{name}", get(figure))
        .route("/figures/{name}/{file}", get(file))
}

async fn standing(Extension(access): Allowed, Query(query): Pairs) -> Answer<Standing> {
    let wanted = wanted(&query)?;
    let standing = access.results.standing(&access.library, wanted).await?;
    Ok(Json(standing))
}

async fn sessions(
    Extension(access): Allowed,
    Query(query): Pairs,
    Query(page): Query<PageQuery>,
) -> Answer<SessionPage> {
    let wanted = wanted(&query)?;
    let page = access.library.index.read().wanted_sessions(&wanted, &page);
    Ok(Json(page))
}

async fn part(
    Extension(access): Allowed,
    Path(part): Path<String>,
    Query(query): Pairs,
) -> Answer<Told> {
    let wanted = wanted(&query)?;
    let told = access.results.part(&access.library, wanted, part).await?;
    Ok(Json(told))
}

/// A table of a part by its number from 0, as CSV.
async fn table(
    Extension(access): Allowed,
    Path((part, table)): Path<(String, String)>,
    Query(query): Pairs,
) -> Result<Response, Refusal> {
    let wanted = wanted(&query)?;
    let missing = || Refusal::Missing(format!("table {table} of {part}"));
    let number: usize = table
        .strip_suffix(".csv")
        .and_then(|number| number.parse().ok())
        .ok_or_else(missing)?;
    let told = access
        .results
        .part(&access.library, wanted, part.clone())
        .await?;
    let found = told.table(number).ok_or_else(missing)?;
    Ok(saved(
        csv_of(found),
        CSV,
        &format!("{part}-{}.csv", number + 1),
    ))
}

async fn figure(
    Extension(access): Allowed,
    Path(name): Path<String>,
    Query(query): Pairs,
) -> Answer<FigureTold> {
    let wanted = wanted(&query)?;
    let told = access.results.figure(&access.library, wanted, name).await?;
    Ok(Json(told))
}

/// A figure as a file, to be shown or saved.
async fn file(
    Extension(access): Allowed,
    Path((name, file)): Path<(String, String)>,
    Query(query): Pairs,
) -> Result<Response, Refusal> {
    let wanted = wanted(&query)?;
    let (form, kind) = match &*file {
        "figure.svg" => (FigureFile::Svg, SVG),
        "dark.svg" => (FigureFile::DarkSvg, SVG),
        "figure.csv" => (FigureFile::Csv, CSV),
        _ => return Err(Refusal::Missing(format!("file {file} of a figure"))),
    };
    let ending = if kind == SVG { "svg" } else { "csv" };
    let shown = format!("{name}.{ending}");
    let results = &access.results;
    let written = results.file(&access.library, wanted, name, form).await?;
    Ok(saved(written, kind, &shown))
}

fn wanted(query: &[(String, String)]) -> Result<Wanted, Refusal> {
    Wanted::of(query).map_err(Refusal::Misspelled)
}

/// A file under a name. Browsers show it where a page embeds it, and save it where somebody follows a link.
fn saved(text: String, kind: &'static str, name: &str) -> Response {
    let name = format!("attachment; filename=\"{name}\"");
    (
        [(CONTENT_TYPE, kind.to_owned()), (CONTENT_DISPOSITION, name)],
        text,
    )
        .into_response()
}
