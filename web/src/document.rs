//! The OpenAPI document of `/api/v1`, from what handlers and types say of themselves where they are
//! declared. Adds what many routes have in common: cookies, refusals, names. Called by the routes,
//! which register their handlers and their part of the document at once.

use std::sync::Arc;

use http::StatusCode;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::schema::{Schema, SchemaType, Type};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{Components, ContentBuilder, Ref, RefOr, Response, ResponseBuilder};
use utoipa::{Modify, OpenApi, ToSchema as _};
use utoipa_axum::router::OpenApiRouter;

use crate::refusal::RefusalAnswer;

/// The type of seats, and what the document calls them.
const SEAT_TYPE: &str = "usize";
const SEAT: &str = "Seat";

/// Cookies that open routes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cookie {
    /// What a token is exchanged for.
    Token,
    /// What an invitation is exchanged for.
    Seat,
}

impl Cookie {
    /// Its name in the document.
    const fn scheme(self) -> &'static str {
        match self {
            Self::Token => "token_cookie",
            Self::Seat => "seat_cookie",
        }
    }
}

/// What is said of the interface as a whole; the routes add theirs.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Agon's pages",
        version = "1",
        description = "What Agon's pages ask their server. Programs may ask it too: exchange a token for a cookie \
            with `POST /api/v1/enter`, and send the cookie with every request. Every refusal is a JSON object with \
            one sentence, `{\"error\": \"...\"}`. What models wrote stands in answers as it came: show it as text.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
    ),
    tags(
        (name = "access", description = "Signing in and out."),
        (name = "runs", description = "Runs and their sessions."),
        (name = "sessions", description = "A session, step by step."),
        (name = "results", description = "Leaderboards, tables and figures over many sessions."),
        (name = "judging", description = "Having players of a run judged."),
        (name = "sweeps", description = "Experiments that are being played."),
        (name = "seats", description = "Seats of people who play."),
    ),
    components(schemas(RefusalAnswer)),
    modifiers(&Cookies),
)]
pub(crate) struct Base;

struct Cookies;

impl Modify for Cookies {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let token = ApiKeyValue::with_description(
            "agon-view-SERVER",
            "From `POST /api/v1/enter`. Each server has eight digits of its own in the place of SERVER.",
        );
        let seat = ApiKeyValue::with_description(
            "agon-seat-ID",
            "From `POST /api/v1/seats/ID/claim`, with the same ID; sent to the paths of this seat alone.",
        );
        for (cookie, value) in [(Cookie::Token, token), (Cookie::Seat, seat)] {
            let scheme = SecurityScheme::ApiKey(ApiKey::Cookie(value));
            components.add_security_scheme(cookie.scheme(), scheme);
        }
    }
}

/// Says of these routes that they are open to whoever shows a cookie.
pub(crate) fn behind<S>(mut router: OpenApiRouter<S>, cookie: Cookie) -> OpenApiRouter<S>
where
    S: Clone + Send + Sync + 'static,
{
    for item in router.get_openapi_mut().paths.paths.values_mut() {
        for (_, operation) in operations(item) {
            let needed = SecurityRequirement::new(cookie.scheme(), Vec::<String>::new());
            operation.security = Some(vec![needed]);
        }
    }
    router
}

/// The document as it is served.
#[derive(Clone)]
pub(crate) struct Document(pub(crate) Arc<str>);

impl Document {
    /// That of these routes.
    pub(crate) fn of(mut described: utoipa::openapi::OpenApi) -> Self {
        for (path, item) in &mut described.paths.paths {
            for (method, operation) in operations(item) {
                complete(operation, method, path);
            }
        }
        let components = described.components.get_or_insert_default();
        components.schemas.values_mut().for_each(always_there);
        for SharedRefusal { name, reason, .. } in SHARED_REFUSALS {
            let shared = RefOr::T(refused(reason));
            components.responses.insert(name.to_owned(), shared);
        }
        name_seats(components);
        // Words, numbers and lists and maps of them always serialise.
        let text = described.to_pretty_json().unwrap_or_default();
        Self(text.replace(&reference(SEAT_TYPE), &reference(SEAT)).into())
    }
}

/// Names the schema of seats, which derived schemas know by the type that `Seat` is another name of.
fn name_seats(components: &mut Components) {
    if let Some(RefOr::T(Schema::Object(mut seat))) = components.schemas.remove(SEAT_TYPE) {
        seat.description = Some("The number of a seat, from 0.".to_owned());
        let seat = RefOr::T(Schema::Object(seat));
        components.schemas.insert(SEAT.to_owned(), seat);
    }
}

fn reference(name: &str) -> String {
    format!("\"#/components/schemas/{name}\"")
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (&'static str, &mut Operation)> {
    let all = [
        ("get", &mut item.get),
        ("post", &mut item.post),
        ("put", &mut item.put),
        ("patch", &mut item.patch),
        ("delete", &mut item.delete),
    ];
    all.into_iter()
        .filter_map(|(method, operation)| Some((method, operation.as_mut()?)))
}

/// Adds the name and the group of an operation, and the refusals that it shares with others.
fn complete(operation: &mut Operation, method: &str, path: &str) {
    let below = path.strip_prefix("/api/v1/").unwrap_or(path);
    let words = below.split('/').map(|part| part.trim_matches(['{', '}']));
    let words: Vec<&str> = words.collect();
    let name = words.join("_").replace('.', "_");
    operation.operation_id = Some(format!("{method}_{name}"));
    let group = match words[0] {
        group @ ("runs" | "sessions" | "results" | "judging" | "sweeps" | "seats") => group,
        _ => "access",
    };
    operation.tags = Some(vec![group.to_owned()]);
    let responses = &mut operation.responses.responses;
    for (code, response) in responses.iter_mut() {
        if let (true, RefOr::T(refusal)) = (code.starts_with(['4', '5']), response) {
            *refusal = refused(&refusal.description);
        }
    }
    let is_change = method == "post";
    let has_body = operation.request_body.is_some();
    let has_arguments = has_body || operation.parameters.is_some();
    let holds = |refusal: &SharedRefusal| match refusal.name {
        "ForeignRequest" => is_change,
        "WrongHost" => !is_change,
        "NoCookie" => operation.security.is_some(),
        "Misspelled" => has_arguments,
        "Unkept" => group == "seats",
        "TooOften" => group == "seats" && is_change,
        _ => has_body,
    };
    for refusal in SHARED_REFUSALS.iter().filter(|refusal| holds(refusal)) {
        let shared = Ref::from_response_name(refusal.name);
        let code = refusal.status.as_u16().to_string();
        responses.entry(code).or_insert(RefOr::Ref(shared));
    }
}

/// A refusal of the layers around handlers, or of what reads their arguments.
struct SharedRefusal {
    /// Its name in the document.
    name: &'static str,
    status: StatusCode,
    reason: &'static str,
}

const SHARED_REFUSALS: [SharedRefusal; 9] = [
    SharedRefusal {
        name: "Misspelled",
        status: StatusCode::BAD_REQUEST,
        reason: "The request cannot be read.",
    },
    SharedRefusal {
        name: "NoCookie",
        status: StatusCode::UNAUTHORIZED,
        reason: "The cookie is missing, or no longer valid.",
    },
    SharedRefusal {
        name: "WrongHost",
        status: StatusCode::FORBIDDEN,
        reason: "The server was called by a name that is not its own.",
    },
    SharedRefusal {
        name: "ForeignRequest",
        status: StatusCode::FORBIDDEN,
        reason: "Another site sent the request, or the server was called by a name that is not its own.",
    },
    SharedRefusal {
        name: "TooLarge",
        status: StatusCode::PAYLOAD_TOO_LARGE,
        reason: "The body is larger than 64 KiB.",
    },
    SharedRefusal {
        name: "NoJson",
        status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
        reason: "The body is not declared as JSON.",
    },
    SharedRefusal {
        name: "WrongBody",
        status: StatusCode::UNPROCESSABLE_ENTITY,
        reason: "The body does not have the form that this route takes.",
    },
    SharedRefusal {
        name: "TooOften",
        status: StatusCode::TOO_MANY_REQUESTS,
        reason: "There were too many requests; wait a moment and try again.",
    },
    SharedRefusal {
        name: "Unkept",
        status: StatusCode::INTERNAL_SERVER_ERROR,
        reason: "What is kept of the seat cannot be read or written.",
    },
];

fn refused(reason: &str) -> Response {
    let schema = Ref::from_schema_name(RefusalAnswer::name());
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response = ResponseBuilder::new().description(reason);
    response.content("application/json", content).build()
}

/// Marks what may be null as required: what has no value is answered as null, not left out. What is left
/// out where it has no value is declared as not nullable.
fn always_there(schema: &mut RefOr<Schema>) {
    let RefOr::T(schema) = schema else { return };
    match schema {
        Schema::Object(object) => {
            for (name, property) in &object.properties {
                if may_be_null(property) && !object.required.contains(name) {
                    object.required.push(name.clone());
                }
            }
        }
        Schema::OneOf(one_of) => one_of.items.iter_mut().for_each(always_there),
        Schema::AllOf(all_of) => all_of.items.iter_mut().for_each(always_there),
        _ => {}
    }
}

fn may_be_null(schema: &RefOr<Schema>) -> bool {
    let has_null = |kind: &SchemaType| match kind {
        SchemaType::Type(kind) => *kind == Type::Null,
        SchemaType::Array(kinds) => kinds.contains(&Type::Null),
        SchemaType::AnyValue => false,
    };
    match schema {
        RefOr::T(Schema::Object(object)) => has_null(&object.schema_type),
        RefOr::T(Schema::Array(array)) => has_null(&array.schema_type),
        RefOr::T(Schema::OneOf(one_of)) => one_of.items.iter().any(may_be_null),
        _ => false,
    }
}
