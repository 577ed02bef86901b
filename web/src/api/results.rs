//! The routes below `/api/v1/results`: how far results are, their tables and figures as data and as files,
//! and the sessions that they rest on. Which sessions, stands in the query of each.

use agon_report::spreadsheet::csv_of;
use axum::Json;
use axum::extract::{Extension, Path, Query};
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use serde::Deserialize;
use serde::de::IntoDeserializer as _;
use serde::de::value::Error as Misnamed;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Allowed, Answer, Shared};
use crate::access::Access;
use crate::index::SessionPage;
use crate::query::PageQuery;
use crate::refusal::Refusal;
use crate::results::{FigureFile, FigureTold, Standing, Told};
use crate::wanted::{Wanted, WantedQuery};

const SVG: &str = "image/svg+xml";
const CSV: &str = "text/csv; charset=utf-8";

type Pairs = Query<Vec<(String, String)>>;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(standing))
        .routes(routes!(sessions))
        .routes(routes!(part))
        .routes(routes!(table))
        .routes(routes!(figure))
        .routes(routes!(file))
}

/// A part of the results.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct PartPath {
    /// The name of the part, as the overview of results has it.
    part: String,
}

/// A table as a file.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct TablePath {
    /// The name of the part, as the overview of results has it.
    part: String,
    /// The table's number in its part, from 0, and `.csv`.
    #[param(pattern = "^[0-9]+\\.csv$", example = "0.csv")]
    table: String,
}

/// A figure.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct FigurePath {
    /// The name of the figure, as the overview of results has it.
    name: String,
}

/// A figure as a file.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Path)]
pub(super) struct FilePath {
    /// The name of the figure, as the overview of results has it.
    name: String,
    /// Which file.
    #[param(inline, value_type = FigureFile)]
    file: String,
}

/// Tells how far results are, and what there is of them.
///
/// Sessions are counted while somebody asks: an answer rests on those that are counted by then.
#[utoipa::path(
    get,
    path = "/",
    params(WantedQuery),
    responses(
        (status = 200, description = "Sessions counted, parts, figures, and what they can be narrowed to.", body = Standing),
        (status = 500, description = "The results cannot be made."),
    ),
)]
async fn standing(Extension(access): Allowed, Query(query): Pairs) -> Answer<Standing> {
    let wanted = wanted(&access, &query)?;
    let standing = access
        .shelf
        .results
        .standing(&access.shelf.library, wanted)
        .await?;
    Ok(Json(standing))
}

/// Lists the sessions that fit, of all runs.
#[utoipa::path(
    get,
    path = "/sessions",
    params(WantedQuery, PageQuery),
    responses((status = 200, description = "Sessions that fit, in order.", body = SessionPage)),
)]
async fn sessions(
    Extension(access): Allowed,
    Query(query): Pairs,
    Query(page): Query<PageQuery>,
) -> Answer<SessionPage> {
    let wanted = wanted(&access, &query)?;
    let page = access
        .shelf
        .library
        .index
        .read()
        .wanted_sessions(&wanted, &page);
    Ok(Json(page))
}

/// Shows a part of the results: tables, and the sentences around them.
#[utoipa::path(
    get,
    path = "/tables/{part}",
    params(PartPath, WantedQuery),
    responses(
        (status = 200, description = "The part.", body = Told),
        (status = 404, description = "There is no such part."),
        (status = 500, description = "The results cannot be made."),
    ),
)]
async fn part(
    Extension(access): Allowed,
    Path(PartPath { part }): Path<PartPath>,
    Query(query): Pairs,
) -> Answer<Told> {
    let wanted = wanted(&access, &query)?;
    let told = access
        .shelf
        .results
        .part(&access.shelf.library, wanted, part)
        .await?;
    Ok(Json(told))
}

/// Saves a table of a part as CSV.
#[utoipa::path(
    get,
    path = "/tables/{part}/{table}",
    params(TablePath, WantedQuery),
    responses(
        (status = 200, description = "The table.", content_type = "text/csv", body = String),
        (status = 404, description = "There is no such part, or no such table in it."),
        (status = 500, description = "The results cannot be made."),
    ),
)]
async fn table(
    Extension(access): Allowed,
    Path(TablePath { part, table }): Path<TablePath>,
    Query(query): Pairs,
) -> Result<Response, Refusal> {
    let wanted = wanted(&access, &query)?;
    let missing = || Refusal::Missing(format!("table {table} of {part}"));
    let number: usize = table
        .strip_suffix(".csv")
        .and_then(|number| number.parse().ok())
        .ok_or_else(missing)?;
    let told = access
        .shelf
        .results
        .part(&access.shelf.library, wanted, part.clone())
        .await?;
    let found = told.table(number).ok_or_else(missing)?;
    Ok(saved(
        csv_of(found),
        CSV,
        &format!("{part}-{}.csv", number + 1),
    ))
}

/// Shows a figure in words and numbers.
#[utoipa::path(
    get,
    path = "/figures/{name}",
    params(FigurePath, WantedQuery),
    responses(
        (status = 200, description = "Its title, caption and numbers.", body = FigureTold),
        (status = 404, description = "There is no such figure, or it has nothing to show."),
        (status = 500, description = "The results cannot be made."),
    ),
)]
async fn figure(
    Extension(access): Allowed,
    Path(FigurePath { name }): Path<FigurePath>,
    Query(query): Pairs,
) -> Answer<FigureTold> {
    let wanted = wanted(&access, &query)?;
    let told = access
        .shelf
        .results
        .figure(&access.shelf.library, wanted, name)
        .await?;
    Ok(Json(told))
}

/// Shows or saves a figure as a file.
#[utoipa::path(
    get,
    path = "/figures/{name}/{file}",
    params(FilePath, WantedQuery),
    responses(
        (status = 200, description = "The file.", content(
            (String = "image/svg+xml"),
            (String = "text/csv"),
        )),
        (status = 404, description = "There is no such figure, or no such file of it, or it has nothing to show."),
        (status = 500, description = "The results cannot be made."),
    ),
)]
async fn file(
    Extension(access): Allowed,
    Path(FilePath { name, file }): Path<FilePath>,
    Query(query): Pairs,
) -> Result<Response, Refusal> {
    let wanted = wanted(&access, &query)?;
    let form: Result<FigureFile, Misnamed> =
        FigureFile::deserialize(file.as_str().into_deserializer());
    let form = form.map_err(|_| Refusal::Missing(format!("file {file} of a figure")))?;
    let (kind, ending) = match form {
        FigureFile::Svg | FigureFile::DarkSvg => (SVG, "svg"),
        FigureFile::Csv => (CSV, "csv"),
    };
    let shown = format!("{name}.{ending}");
    let results = &access.shelf.results;
    let written = results
        .file(&access.shelf.library, wanted, name, form)
        .await?;
    Ok(saved(written, kind, &shown))
}

fn wanted(access: &Access, query: &[(String, String)]) -> Result<Wanted, Refusal> {
    let wanted = Wanted::of(query).map_err(Refusal::Misspelled)?;
    let several = access.shelf.library.index.read().several_axes(&wanted);
    match several {
        None => Ok(wanted),
        Some(several) => Err(Refusal::Misspelled(several.to_string())),
    }
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
