//! The calls that were in flight when a gateway died, by the gateways' own ledger: a call's address is
//! claimed there before the call is made and until its answer is recorded. Of two gateways, the claims
//! of the one that lives change all the time; those that are still there a while later are the dead
//! one's. Called by `killer.rs`.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use agon_tests::redis::RedisServer;

/// Far longer than a call takes, and than the gateway that lives takes to record an answer.
const A_WHILE: Duration = Duration::from_millis(1_500);

/// Every claim that lasts in one string: key, address, expiry, holder, digest.
const CLAIMS: &str = "local lines, time = {}, redis.call('TIME') \
    for _, key in ipairs(redis.call('KEYS', 'agon:claims:*')) do \
      local all = redis.call('HGETALL', key) \
      for i = 1, #all, 2 do \
        if tonumber(string.match(all[i + 1], '^%d+')) > time[1] * 1000 then \
          lines[#lines + 1] = key .. ' ' .. all[i] .. ' ' .. all[i + 1] \
        end \
      end \
    end \
    return table.concat(lines, '\\n')";

/// Claims: session, address, holder.
type Claims = BTreeSet<String>;

/// Calls that died with a gateway, as far as it is known yet.
#[derive(Default)]
pub struct InFlight {
    /// Those of all deaths.
    all: Claims,
    /// Claims soon after a death that is looked into.
    soon: Option<(Instant, Claims)>,
    pending: bool,
}

impl InFlight {
    /// A gateway was killed; its calls are to be counted before it starts again.
    pub fn begin(&mut self) {
        self.pending = true;
        self.soon = None;
    }

    /// Whether a death is being looked into: nothing else should stand still meanwhile.
    pub fn is_pending(&self) -> bool {
        self.pending
    }

    /// Looks again; a Redis that is away is asked next time.
    pub fn look(&mut self, ledger: &RedisServer) {
        let due = self
            .soon
            .as_ref()
            .is_none_or(|(at, _)| at.elapsed() >= A_WHILE);
        if !self.pending || !due {
            return;
        }
        let Some(claims) = claims(ledger) else {
            return;
        };
        match self.soon.take() {
            None => self.soon = Some((Instant::now(), claims)),
            Some((_, soon)) => {
                self.all.extend(soon.intersection(&claims).cloned());
                self.pending = false;
            }
        }
    }

    /// How many there were.
    pub fn count(&self) -> u64 {
        self.all.len() as u64
    }
}

fn claims(ledger: &RedisServer) -> Option<Claims> {
    let text = ledger.ask(&["EVAL", CLAIMS, "0"])?;
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        let (session, address) = (words.next()?, words.next()?);
        let holder = words.nth(1)?;
        Some(format!("{session} {address} {holder}"))
    });
    Some(lines.collect())
}
