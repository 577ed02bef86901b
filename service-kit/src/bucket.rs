//! Addresses in S3-compatible storage, and the client of one. Credentials, region and endpoint are
//! those of the variables `AWS_*`; the secrets among them are kept out of what is said. Called by the
//! archive of the coordinator and by commands that write what people name with `-o`.

use std::time::Duration;

use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as ObjectPath;
use object_store::{ClientOptions, aws::AmazonS3};

use crate::secrets;
use crate::server::install_crypto;

pub use object_store::RetryConfig;

/// What an address begins with.
pub const SCHEME: &str = "s3://";

/// How long one request may take; the largest file of an archive passes at a megabyte a second.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(300);

/// Variables whose values are shown to nobody.
const SECRETS: [&str; 4] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
];

/// Why there is no client.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The address is not one of a bucket.
    #[error("{url} is no address of a bucket; expected s3://bucket or s3://bucket/prefix")]
    Address {
        /// The address.
        url: String,
    },
    /// The variables do not say enough, or what makes no sense.
    #[error("cannot use {url}")]
    Unusable {
        /// The address.
        url: String,
        /// Why.
        #[source]
        source: Box<object_store::Error>,
    },
}

/// A client of the bucket of an address, and the prefix that it names there. Asks nobody yet.
///
/// # Errors
/// See [`BucketError`].
pub fn open(
    url: &str,
    variables: impl IntoIterator<Item = (String, String)>,
    retry: RetryConfig,
) -> Result<(AmazonS3, ObjectPath), BucketError> {
    let no_bucket = || BucketError::Address {
        url: url.to_owned(),
    };
    let rest = url.strip_prefix(SCHEME).ok_or_else(no_bucket)?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let prefix = ObjectPath::parse(prefix.trim_end_matches('/')).map_err(|_| no_bucket())?;
    if bucket.is_empty() {
        return Err(no_bucket());
    }
    install_crypto();
    // Whoever names an endpoint without TLS means it.
    let client = ClientOptions::new().with_allow_http(true);
    let mut builder = AmazonS3Builder::new()
        .with_client_options(client.with_timeout(REQUEST_TIMEOUT))
        .with_retry(retry);
    for (name, value) in variables {
        if SECRETS.contains(&name.as_str()) {
            secrets::keep(&value);
        }
        let key = name.starts_with("AWS_").then(|| name.to_ascii_lowercase());
        if let Some(Ok(key)) = key.map(|key| key.parse::<AmazonS3ConfigKey>()) {
            builder = builder.with_config(key, value);
        }
    }
    let unusable = |source| BucketError::Unusable {
        url: url.to_owned(),
        source: Box::new(source),
    };
    let store = builder.with_bucket_name(bucket).build().map_err(unusable)?;
    Ok((store, prefix))
}

/// The variables of this process, where they are text.
pub fn of_environment() -> impl Iterator<Item = (String, String)> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_of_a_bucket_is_refused() {
        for (url, prefix) in [
            ("s3://runs", Some("")),
            ("s3://runs/", Some("")),
            ("s3://runs/of/may/", Some("of/may")),
            ("s3://", None),
            ("s3:///of/may", None),
            ("s3://runs/a//b", None),
            ("s3://runs/../may", None),
            ("https://runs", None),
            ("runs", None),
        ] {
            let opened = open(url, [], RetryConfig::default());
            let found = opened.map(|(_, prefix)| prefix.to_string());
            match prefix {
                Some(prefix) => assert_eq!(found.unwrap(), prefix, "{url}"),
                None => {
                    let why = found.unwrap_err().to_string();
                    assert!(why.starts_with(&format!("{url} is no address")), "{why}");
                }
            }
        }
    }
}
