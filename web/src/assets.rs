//! The front end: the build of `ui`, which is part of the binary. Paths of pages all get the one page,
//! which finds out by itself what it is to show.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderValue, StatusCode, Uri};
use rust_embed::RustEmbed;

/// The one page.
const PAGE: &str = "index.html";

/// Where files lie whose names change with their contents.
const HASHED: &str = "assets/";

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/ui/dist"]
struct Built;

/// A file of the front end, or its page.
pub async fn serve(uri: Uri) -> Response {
    let path = uri.path().trim_start_matches('/');
    let found = Built::get(path).map(|file| (path, file));
    let is_page = !path.starts_with(HASHED) && !path.starts_with("api/");
    let found = found.or_else(|| Some((PAGE, Built::get(PAGE).filter(|_| is_page)?)));
    let Some((path, file)) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let mut response = Response::new(Body::from(file.data.into_owned()));
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    let kept = match path.starts_with(HASHED) {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    response
}

fn kind(path: &str) -> &'static str {
    match path.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        _ => "application/octet-stream",
    }
}
