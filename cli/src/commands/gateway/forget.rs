//! `agon gateway forget`: a gateway leaves out what a model's server has refused, for an hour; this
//! asks with it again at once, for whoever has updated the server. Only asks and shows. Called by
//! `commands/gateway.rs`.

use agon_proto::v1::ForgetLearntRequest;

use super::address::{Client, Replicas};
use crate::failure::Failure;

/// Arguments of `agon gateway forget`.
#[derive(Debug, clap::Args)]
pub struct Forget {
    /// The model, as `agon gateway status` shows it: PROVIDER/MODEL [default: all models]
    #[arg(value_name = "MODEL")]
    model: Option<String>,
    #[command(flatten)]
    replicas: Replicas,
}

/// Forgets and says what.
///
/// # Errors
/// A gateway cannot be reached.
pub async fn run(arguments: &Forget) -> Result<(), Failure> {
    let model = arguments.model.clone().unwrap_or_default();
    let forget = async |client: &mut Client| {
        let request = ForgetLearntRequest {
            model: model.clone(),
        };
        let forgotten = client.forget_learnt(request).await?.into_inner().forgotten;
        let forgotten = forgotten.into_iter().map(|learnt| {
            let (provider, model) = (learnt.provider, learnt.provider_model);
            format!(
                "{provider}/{model} is asked with {} again",
                learnt.parameter
            )
        });
        Ok(forgotten.collect())
    };
    let nothing = "no parameter was being left out";
    arguments.replicas.ask(nothing, forget).await
}
