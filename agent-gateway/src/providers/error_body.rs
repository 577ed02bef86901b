//! What the body of an error says, in any of the shapes that servers use: its
//! words for people and its codes for programs. Refuses to judge; the tables of
//! the providers do that. Called by `judging.rs` and the providers.

use agon_outlets::Foreign;
use agon_service_kit::secrets;
use serde_json::Value;

/// Enough of a server's complaint to understand it, not a whole HTML page.
const REASON_CHARS: usize = 300;

/// What an error says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ErrorBody {
    /// For people, shortened, with the first code in brackets.
    pub(super) text: Foreign,
    /// Everything that stands where codes stand.
    pub(super) codes: Vec<String>,
}

impl ErrorBody {
    /// Reads a body; one that is no JSON is its own text.
    pub(super) fn read(body: &[u8]) -> Self {
        let Ok(value) = serde_json::from_slice::<Value>(body) else {
            let text = shortened(&String::from_utf8_lossy(body));
            return Self {
                text,
                codes: Vec::new(),
            };
        };
        Self::of(error_in(&value))
    }

    /// Reads an error that stands alone.
    pub(super) fn of(error: &Value) -> Self {
        let codes = codes_of(error);
        let message = ["message", "detail", "msg"]
            .iter()
            .find_map(|field| error.get(field)?.as_str())
            .or(error.as_str())
            .unwrap_or_default();
        let is_split = |code: &String| {
            secrets::is_split_over(message, code) || secrets::is_split_over(code, message)
        };
        let text = match codes.first() {
            Some(code) if is_split(code) => secrets::INSTEAD.to_owned(),
            Some(code) if !message.is_empty() => format!("{message} ({code})"),
            Some(code) => code.clone(),
            None => message.to_owned(),
        };
        Self {
            text: shortened(&text),
            codes,
        }
    }
}

/// The part of a body that holds the error. Google wraps it in a list when the
/// request could have been answered by a stream.
pub(super) fn error_in(body: &Value) -> &Value {
    let body = match body {
        Value::Array(list) => list.first().unwrap_or(body),
        _ => body,
    };
    body.get("error").unwrap_or(body)
}

/// Azure puts the finer code of a filter into `innererror`.
fn codes_of(error: &Value) -> Vec<String> {
    let code = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    let mut codes: Vec<String> = ["code", "type", "status"]
        .iter()
        .filter_map(|field| code(error.get(field)?))
        .collect();
    codes.extend(code(&error["innererror"]["code"]));
    codes
}

/// The beginning of what it says, of bearable length.
pub(super) fn shortened(text: &str) -> Foreign {
    let mut words = text.split_whitespace();
    // Of a page of a megabyte the rest is not even looked at.
    let mut shown = String::new();
    while let Some(word) = words.next().filter(|_| shown.len() <= REASON_CHARS * 4) {
        if !shown.is_empty() {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    let more = words.next().is_some() || shown.chars().count() > REASON_CHARS;
    let start: String = shown.chars().take(REASON_CHARS).collect();
    let ellipsis = if more { "..." } else { "" };
    Foreign::from(start + ellipsis)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn key_in_two_fields_of_a_complaint_is_not_told() {
        secrets::keep("complained-Rv82kD-about");
        for body in [
            r#"{"error":{"message":"complained-Rv8","code":"2kD-about"}}"#,
            r#"{"error":{"code":"complained-Rv8","message":"2kD-about"}}"#,
        ] {
            let text = ErrorBody::read(body.as_bytes()).text.to_string();
            assert_eq!(text, "[key]", "{body}");
        }
    }

    #[test]
    fn error_is_read_in_every_shape() {
        for (body, text) in [
            (r#"{"error":{"message":"m","code":"c"}}"#, "m (c)"),
            (
                r#"{"error":{"message":"m","type":"t","code":null}}"#,
                "m (t)",
            ),
            (r#"{"error":"m"}"#, "m"),
            (r#"{"detail":"m"}"#, "m"),
            (r#"[{"error":{"code":429,"message":"m"}}]"#, "m (429)"),
            ("<p>m</p>", "<p>m</p>"),
            ("[]", ""),
            ("", ""),
        ] {
            assert_eq!(
                ErrorBody::read(body.as_bytes()).text.as_written(),
                text,
                "{body}"
            );
        }
    }

    #[test]
    fn reason_is_one_short_line() {
        let page = format!("<html>\n{}</html>", "x ".repeat(4_000));
        let said = ErrorBody::read(page.as_bytes()).text.to_string();
        assert!(said.len() < 400 && !said.contains('\n'));
    }
}
