//! The routes that have records judged: what can be rated, and a draw of players with the experiment in
//! which they are judged. Nothing is played by them.

use axum::Json;
use axum::extract::{Extension, Path};
use http::HeaderMap;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{Allowed, Answer, Shared};
use crate::entrance;
use crate::judging::{self, JudgingCriterion, JudgingDraft, JudgingWanted};
use crate::query::RunPath;

pub(super) fn routes() -> OpenApiRouter<Shared> {
    OpenApiRouter::new()
        .routes(routes!(criteria))
        .routes(routes!(draft))
}

#[derive(Serialize, ToSchema)]
struct CriteriaTold {
    /// What can be rated, in the order in which it is asked.
    criteria: Vec<JudgingCriterion>,
}

/// Tells what judges can rate.
#[utoipa::path(
    get,
    path = "/criteria",
    responses(
        (status = 200, description = "All criteria.", body = CriteriaTold),
        (status = 404, description = "Records are not judged from here."),
    ),
)]
async fn criteria(Extension(access): Allowed) -> Answer<CriteriaTold> {
    let criteria = access.shelf.judging()?.criteria();
    Ok(Json(CriteriaTold { criteria }))
}

/// Draws players of a run to be judged.
///
/// Answers with the draw, who judges which player, and the experiment that has it done. The same run and
/// wishes give the same draw.
#[utoipa::path(
    post,
    path = "/runs/{run}",
    params(RunPath),
    request_body = JudgingWanted,
    responses(
        (status = 200, description = "The draw.", body = JudgingDraft),
        (status = 404, description = "There is no such run, or records are not judged from here."),
        (status = 422, description = "What is wanted cannot be had; the error is the reason."),
        (status = 500, description = "A session cannot be read."),
    ),
)]
async fn draft(
    Extension(access): Allowed,
    headers: HeaderMap,
    Path(RunPath { run }): Path<RunPath>,
    Json(wanted): Json<JudgingWanted>,
) -> Answer<JudgingDraft> {
    entrance::check_origin(&headers)?;
    let (judging, library) = (access.shelf.judging()?, &access.shelf.library);
    let _one_at_a_time = access.shelf.drafting.lock().await;
    judging::draft(judging, library, run, wanted)
        .await
        .map(Json)
}
