//! The front end: the build of `ui`, which is part of the binary. Paths of pages all get the one page,
//! which finds out by itself what it is to show.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write as _;
use std::sync::OnceLock;

use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use rust_embed::RustEmbed;

/// The one page.
const PAGE: &str = "index.html";

/// How files are packed.
const GZIP: &str = "gzip";

/// Where files lie whose names change with their contents.
const HASHED: &str = "assets/";

#[derive(RustEmbed)]
#[folder = "$CARGO_MANIFEST_DIR/ui/dist"]
struct Built;

/// A file of the front end, or its page; packed for whoever takes it so.
pub async fn serve(uri: Uri, headers: HeaderMap) -> Response {
    let path = uri.path().trim_start_matches('/');
    let is_page = !path.starts_with(HASHED) && !path.starts_with("api/");
    let found = file(path).map(|data| (path, data));
    let found = found.or_else(|| Some((PAGE, file(PAGE).filter(|_| is_page)?)));
    let Some((path, data)) = found else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let packed = packed().get(path).filter(|_| takes_packed(&headers));
    let body = match packed {
        Some(packed) => Body::from(packed.clone()),
        None => Body::from(data.into_owned()),
    };
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind(path)));
    headers.insert(VARY, HeaderValue::from_static("accept-encoding"));
    if packed.is_some() {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(GZIP));
    }
    let kept = match path.starts_with(HASHED) {
        true => "public, max-age=31536000, immutable",
        false => "no-cache",
    };
    headers.insert(CACHE_CONTROL, HeaderValue::from_static(kept));
    response
}

/// A file of the front end as this server has it: its pages stand at several depths, so that addresses of
/// other files begin at the root.
fn file(path: &str) -> Option<Cow<'static, [u8]>> {
    let data = Built::get(path)?.data;
    if path != PAGE {
        return Some(data);
    }
    let page = String::from_utf8_lossy(&data).replace("=\"./", "=\"/");
    Some(page.into_bytes().into())
}

/// All files by their paths, as they were built: addresses of other files are relative.
pub(crate) fn built() -> impl Iterator<Item = (String, Cow<'static, [u8]>)> {
    let files = Built::iter();
    files.filter_map(|path| Some((path.clone().into_owned(), Built::get(&path)?.data)))
}

/// All files, packed once. Some 100 KB.
fn packed() -> &'static HashMap<String, Bytes> {
    static PACKED: OnceLock<HashMap<String, Bytes>> = OnceLock::new();
    PACKED.get_or_init(|| {
        let files = Built::iter().filter_map(|path| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&file(&path)?).ok()?;
            Some((path.into_owned(), encoder.finish().ok()?.into()))
        });
        files.collect()
    })
}

fn takes_packed(headers: &HeaderMap) -> bool {
    let accepted = headers
        .get(ACCEPT_ENCODING)
        .and_then(|accepted| accepted.to_str().ok());
    let mut accepted = accepted.unwrap_or_default().split(',').map(str::trim);
    accepted.any(|one| one == GZIP || one.starts_with("gzip;q=1"))
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
