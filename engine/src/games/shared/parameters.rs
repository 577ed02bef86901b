//! How a game lists its parameters: once, with everything that there is to say of each.
//! From the list follow the struct with its defaults, its JSON Schema, the checks, what is
//! declared of who is told, and the briefing.

/// The parameters of a game. `players`, `rounds` (unless the game has no such number) and
/// `foul_allowance` are given by their defaults; the others stand in sections, each with its
/// meaning, its default and, after `in`, its bounds. A section says who is told:
///
/// - `told`: everybody, by a fact of the briefing; with a rule in quotes where that is
///   another one than the briefing itself;
/// - `hidden "RULE"`: nobody, by this rule; it stands in the briefing for the record;
/// - `deducible "RULE"`: everybody, by this rule; it stands in the briefing for the record;
/// - `alike`: nobody needs to be told, since it holds for all alike and is no secret;
/// - `briefed`: everybody; the game itself puts into its briefing what follows from it;
/// - `declared`: what `disclosures` of the game says.
macro_rules! parameters {
    (
        $(#[$about:meta])*
        pub struct $name:ident(
            players = $players:expr, $(rounds = $rounds:expr,)? foul_allowance = $fouls:expr
        );
        $($told:ident $($rule:literal)? {
            $(
                $(#[$meaning:meta])*
                $parameter:ident: $type:ty = $default:expr $(, in $bounds:expr)?;
            )*
        })*
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// Number of players; taken from the seats of the experiment.
            pub players: usize,
            $(
                /// Number of rounds.
                pub rounds: parameters!(@given $rounds, u32),
            )?
            $($($(#[$meaning])* pub $parameter: $type,)*)*
            /// Fouls forgiven per ask before it is forfeited.
            pub foul_allowance: u32,
        }

        impl Default for $name {
            fn default() -> Self {
                Self {
                    players: $players,
                    $(rounds: $rounds,)?
                    $($($parameter: $default,)*)*
                    foul_allowance: $fouls,
                }
            }
        }

        impl Parameters for $name {
            const DISCLOSURES: &'static [Disclosure] = &[
                Disclosure::briefed(&["players", $(parameters!(@given $rounds, "rounds"))?]),
                Disclosure::alike(&["foul_allowance"]),
                $(parameters!(@disclosed $told [$($rule)?] $($parameter)*),)*
            ];

            fn setup(&self) -> Setup {
                let rounds: &[u32] = &[$(parameters!(@given $rounds, self.rounds))?];
                Setup {
                    players: self.players,
                    rounds: rounds.first().copied(),
                    foul_allowance: self.foul_allowance,
                }
            }

            fn check(&self) -> Result<(), ParameterError> {
                $($($(check_within(stringify!($parameter), self.$parameter, $bounds)?;)?)*)*
                Ok(())
            }

            fn brief(&self, event: Event) -> Event {
                $(let event = parameters!(@brief $told self event $($parameter)*);)*
                event
            }
        }
    };
    (@given $given:expr, $($then:tt)*) => { $($then)* };
    (@disclosed told [$rule:literal] $($parameter:ident)*) => {
        Disclosure::to_everybody($rule, &[$(stringify!($parameter)),*])
    };
    (@disclosed deducible [$rule:literal] $($parameter:ident)*) => {
        Disclosure::to_everybody($rule, &[$(stringify!($parameter)),*])
    };
    (@disclosed told [] $($parameter:ident)*) => {
        Disclosure::briefed(&[$(stringify!($parameter)),*])
    };
    (@disclosed briefed [] $($parameter:ident)*) => {
        Disclosure::briefed(&[$(stringify!($parameter)),*])
    };
    (@disclosed hidden [$rule:literal] $($parameter:ident)*) => {
        Disclosure::to_nobody($rule, &[$(stringify!($parameter)),*])
    };
    (@disclosed alike [] $($parameter:ident)*) => {
        Disclosure::alike(&[$(stringify!($parameter)),*])
    };
    (@disclosed declared [] $($parameter:ident)*) => { Disclosure::alike(&[]) };
    (@brief told $self:ident $event:ident $($parameter:ident)*) => {
        $event$(.fact(stringify!($parameter), value_of(&$self.$parameter)))*
    };
    (@brief hidden $self:ident $event:ident $($parameter:ident)*) => {
        $event$(.hidden(stringify!($parameter), value_of(&$self.$parameter)))*
    };
    (@brief deducible $($rest:tt)*) => { parameters!(@brief hidden $($rest)*) };
    (@brief $other:ident $self:ident $event:ident $($parameter:ident)*) => { $event };
}

pub(in crate::games) use parameters;
