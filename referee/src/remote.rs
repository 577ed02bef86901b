//! The referee of a session whose game is played by another process. It remembers the answers of
//! every turn, so that the process may forget the play at any time, or be another one.

use agon_engine::{Answer, OutsideReply, SessionSpec};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use crate::client::GameClient;
use crate::history::{Beginning, History, given};
use crate::ruling::{Referee, RefereeError};

/// See the module.
pub struct RemoteReferee {
    client: GameClient,
    history: History,
}

impl RemoteReferee {
    /// The referee of one try to play a session.
    pub fn new(client: GameClient, spec: &SessionSpec) -> Self {
        let history = History::new(&Beginning {
            session: spec.id().as_str(),
            rules_version: spec.rules_version,
            params: &spec.params,
            seats: spec.seats.len(),
            luck: spec.luck,
        });
        Self { client, history }
    }

    async fn ask(&mut self, turn: u32, answers: Vec<Answer>) -> Result<OutsideReply, RefereeError> {
        let given = (turn > 0).then(|| given(answers));
        let reply = self.history.ruling(&self.client, given.as_ref()).await?;
        if reply.refused.is_empty() {
            self.history.push(given);
        }
        Ok(reply)
    }
}

impl Referee for RemoteReferee {
    fn rule(
        &mut self,
        turn: u32,
        answers: Vec<Answer>,
    ) -> BoxFuture<'_, Result<OutsideReply, RefereeError>> {
        self.ask(turn, answers).boxed()
    }
}
