//! Whether a request is signed as AWS wants it, worked out from the request as it came, without
//! what the gateway signs with. Source: AWS IAM user guide, "Create a signed AWS API request".

use axum::http::{HeaderMap, Uri};
use ring::digest::{SHA256, digest};
use ring::hmac;

/// Credentials as a file of profiles has them.
pub struct Credentials {
    pub id: &'static str,
    pub secret: &'static str,
    pub session: Option<&'static str>,
}

impl Credentials {
    pub fn profile(&self, name: &str) -> String {
        let Self { id, secret, .. } = self;
        let session = self.session.map_or(String::new(), |session| {
            format!("aws_session_token = {session}\n")
        });
        format!("[{name}]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\n{session}")
    }

    /// What is wrong with the signature of a request.
    pub fn check(
        &self,
        region: &str,
        uri: &Uri,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), String> {
        let header = |name: &str| {
            let value = headers.get(name).ok_or(format!("{name} is missing"))?;
            Ok::<_, String>(value.to_str().unwrap().to_owned())
        };
        let said = header("authorization")?;
        let said = said
            .strip_prefix("AWS4-HMAC-SHA256 ")
            .ok_or("another algorithm")?;
        let part = |name: &str| {
            let mut parts = said.split(", ").filter_map(|part| part.split_once('='));
            let found = parts.find(|(known, _)| *known == name);
            found
                .map(|(_, value)| value.to_owned())
                .ok_or(format!("no {name}"))
        };
        let time = header("x-amz-date")?;
        let day = &time[..8];
        let scope = format!("{day}/{region}/bedrock/aws4_request");
        if part("Credential")? != format!("{}/{scope}", self.id) {
            return Err("another credential or scope".to_owned());
        }
        let signed = part("SignedHeaders")?;
        let names: Vec<&str> = signed.split(';').collect();
        for needed in ["host", "x-amz-date", "x-amz-content-sha256"] {
            if !names.contains(&needed) {
                return Err(format!("{needed} is not signed"));
            }
        }
        let session = headers.get("x-amz-security-token");
        if session.map(|value| value.to_str().unwrap()) != self.session
            || (session.is_some() && !names.contains(&"x-amz-security-token"))
        {
            return Err("another session".to_owned());
        }
        let hash = hex(digest(&SHA256, body).as_ref());
        if header("x-amz-content-sha256")? != hash {
            return Err("another body".to_owned());
        }
        let mut canonical = format!("POST\n{}\n\n", encoded(uri.path()));
        for name in &names {
            canonical += &format!("{name}:{}\n", header(name)?.trim());
        }
        canonical += &format!("\n{signed}\n{hash}");
        let canonical = hex(digest(&SHA256, canonical.as_bytes()).as_ref());
        let to_sign = format!("AWS4-HMAC-SHA256\n{time}\n{scope}\n{canonical}");
        let mut key = format!("AWS4{}", self.secret).into_bytes();
        for part in [day, region, "bedrock", "aws4_request"] {
            key = keyed(&key, part);
        }
        match part("Signature")? == hex(&keyed(&key, &to_sign)) {
            true => Ok(()),
            false => Err("the signature does not match".to_owned()),
        }
    }
}

/// The path as it came, encoded once more, but for its slashes.
fn encoded(path: &str) -> String {
    let encode = |byte: u8| match byte {
        b'/' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    path.bytes().map(encode).collect()
}

fn keyed(key: &[u8], text: &str) -> Vec<u8> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, key);
    hmac::sign(&key, text.as_bytes()).as_ref().to_vec()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
