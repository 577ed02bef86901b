//! Checks the settings of Vertex AI and Amazon Bedrock. They become parts of addresses, so that each is
//! of a stated alphabet. Refuses them for other kinds. Called by `provider.rs`.

use super::sections::ProviderSection;
use crate::catalogue::{Cloud, GLOBAL, ProviderKind};

/// More than any name of a project, a region or a profile has.
const LONGEST: usize = 100;

/// What a section says.
///
/// # Errors
/// Something is missing, is for another kind, or is no name.
pub(super) fn check(kind: ProviderKind, section: &ProviderSection) -> Result<Cloud, String> {
    let file = section.credentials_file.as_ref();
    for (field, is_stated, of) in [
        ("project", section.project.is_some(), ProviderKind::Vertex),
        ("location", section.location.is_some(), ProviderKind::Vertex),
        ("region", section.region.is_some(), ProviderKind::Bedrock),
        ("profile", section.profile.is_some(), ProviderKind::Bedrock),
        ("credentials_file", file.is_some(), ProviderKind::Bedrock),
    ] {
        if is_stated && kind != of {
            return Err(format!("{field} is for kind = \"{}\" only", of.name()));
        }
    }
    let mut cloud = Cloud {
        credentials_file: file.cloned(),
        ..Cloud::default()
    };
    match kind {
        ProviderKind::Vertex => {
            cloud.project = name("project", section.project.as_deref())?;
            let location = section.location.as_deref().unwrap_or(GLOBAL);
            cloud.location = name("location", Some(location))?;
        }
        ProviderKind::Bedrock => {
            cloud.region = name("region", section.region.as_deref())?;
            let profile = section.profile.as_deref();
            cloud.profile = profile
                .map(|profile| word("profile", profile))
                .transpose()?;
            let has_keys = section.keys.as_ref().is_some_and(|keys| !keys.is_empty());
            if has_keys && (profile.is_some() || file.is_some()) {
                return Err(
                    "keys are Bedrock's API keys, profile and credentials_file are AWS's: \
                     name one of them"
                        .to_owned(),
                );
            }
        }
        _ => {}
    }
    Ok(cloud)
}

/// Small letters, digits and `-`, and for projects of old domains `.` and `:`.
fn name(field: &str, stated: Option<&str>) -> Result<String, String> {
    let stated = stated.ok_or_else(|| format!("{field} is missing"))?;
    let is_name = |letter: char| {
        letter.is_ascii_lowercase()
            || letter.is_ascii_digit()
            || letter == '-'
            || (field == "project" && ".:".contains(letter))
    };
    let begins = stated.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    match begins && stated.len() <= LONGEST && stated.chars().all(is_name) {
        true => Ok(stated.to_owned()),
        false => Err(format!(
            "{field} must be a name of small letters, digits and -"
        )),
    }
}

/// A name on one line.
fn word(field: &str, stated: &str) -> Result<String, String> {
    let is_word = !stated.trim().is_empty()
        && stated.len() <= LONGEST
        && !stated
            .chars()
            .any(|letter| letter.is_control() || letter == ']');
    match is_word {
        true => Ok(stated.to_owned()),
        false => Err(format!("{field} must be a name on one line")),
    }
}

#[cfg(test)]
mod tests {
    use crate::config::GatewayConfig;

    fn address(section: &str) -> Result<String, String> {
        let text = format!("[providers.p]\n{section}");
        let config = GatewayConfig::parse("test.toml", &text).map_err(|e| e.to_string())?;
        Ok(config.provider("p").unwrap().base_url.clone())
    }

    #[test]
    fn clouds_are_found_by_their_names() {
        for (section, expected) in [
            (
                "kind = 'vertex'\nproject = 'p-1'",
                "https://aiplatform.googleapis.com/v1",
            ),
            (
                "kind = 'vertex'\nproject = 'example.com:p'\nlocation = 'europe-west4'",
                "https://europe-west4-aiplatform.googleapis.com/v1",
            ),
            (
                "kind = 'bedrock'\nregion = 'us-east-1'",
                "https://bedrock-runtime.us-east-1.amazonaws.com",
            ),
            (
                "kind = 'bedrock'\nregion = 'us-east-1'\nbase_url = 'https://vpce-1.example/'",
                "https://vpce-1.example",
            ),
        ] {
            assert_eq!(address(section).as_deref(), Ok(expected), "{section}");
        }
    }

    #[test]
    fn names_that_would_lead_elsewhere_and_settings_of_others_are_faults() {
        for (section, reason) in [
            ("kind = 'vertex'", "project is missing"),
            ("kind = 'bedrock'", "region is missing"),
            (
                "kind = 'vertex'\nproject = 'p'\nlocation = 'evil.com/'",
                "location must be a name",
            ),
            (
                "kind = 'vertex'\nproject = '../q'",
                "project must be a name",
            ),
            (
                "kind = 'bedrock'\nregion = 'us@evil'",
                "region must be a name",
            ),
            (
                "kind = 'bedrock'\nregion = 'r'\nprofile = \"a\\nb\"",
                "profile must be a name",
            ),
            (
                "kind = 'bedrock'\nregion = 'r'\nprofile = 'a'\nkeys = [{ env = 'K' }]",
                "name one of them",
            ),
            (
                "base_url = 'http://h/v1'\nregion = 'r'",
                "region is for kind = \"bedrock\" only",
            ),
            (
                "kind = 'bedrock'\nregion = 'r'\nproject = 'p'",
                "project is for kind = \"vertex\" only",
            ),
        ] {
            let told = address(section).unwrap_err();
            assert!(told.contains(reason), "{section}: {told}");
        }
    }
}
