//! Where a model of a cloud is found, and as whom this gateway asks there: the settings of Vertex AI
//! and Amazon Bedrock. Checked by `config/cloud.rs`.

use std::path::PathBuf;

use super::settings::ProviderKind;

/// Where Google serves its newest models to everybody.
pub(crate) const GLOBAL: &str = "global";

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cloud {
    /// Vertex AI: the project that pays.
    pub project: String,
    /// Vertex AI: where the model runs.
    pub location: String,
    /// Amazon Bedrock: the region.
    pub region: String,
    /// Amazon Bedrock: the profile whose credentials are used; absent: as AWS's own programs do.
    pub profile: Option<String>,
    /// Amazon Bedrock: the file with profiles; absent: where AWS's own programs look.
    pub credentials_file: Option<PathBuf>,
}

impl Cloud {
    /// The address of a provider that states none.
    pub(crate) fn base_url(&self, kind: ProviderKind) -> Option<String> {
        match kind {
            ProviderKind::Vertex if self.location == GLOBAL => {
                Some("https://aiplatform.googleapis.com/v1".to_owned())
            }
            ProviderKind::Vertex => Some(format!(
                "https://{}-aiplatform.googleapis.com/v1",
                self.location
            )),
            ProviderKind::Bedrock => Some(format!(
                "https://bedrock-runtime.{}.amazonaws.com",
                self.region
            )),
            _ => None,
        }
    }
}
