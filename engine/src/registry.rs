//! The only list of games. Everything that works on "every game" walks it; how a
//! game is played is left to its own file. Called by whoever has a game's name and
//! parameters: sessions, replay, experiment files, `agon games`.

use crate::game::ParameterError;
use crate::games::{
    ascending_auction, battle_royale, beauty_contest, diners_dilemma, divide_dollar, el_farol,
    english_auction, guess_to_survive, guess_two_thirds, judging, pirate, public_goods,
    sealed_bid_auction, second_price_auction, water_allocation,
};
use crate::names::among;

pub use crate::game::{Built, Registration};

/// Every game there is, by name.
pub static GAMES: &[Registration] = &[
    Registration::of::<guess_two_thirds::GuessParams>(),
    Registration::of::<divide_dollar::DollarParams>(),
    Registration::of::<public_goods::GoodsParams>(),
    Registration::of::<diners_dilemma::DinerParams>(),
    Registration::of::<el_farol::BarParams>(),
    Registration::of::<sealed_bid_auction::AuctionParams>(),
    Registration::of::<battle_royale::BattleParams>(),
    Registration::of::<pirate::PirateParams>(),
    Registration::of::<english_auction::EnglishAuctionParams>(),
    Registration::of::<water_allocation::WaterParams>(),
    Registration::of::<beauty_contest::ContestParams>(),
    Registration::of::<second_price_auction::AuctionParams>(),
    Registration::of::<ascending_auction::AscendingParams>(),
    Registration::of::<guess_to_survive::SurvivalParams>(),
    Registration::of::<judging::JudgingParams>(),
];

/// The game of this name.
///
/// # Errors
/// There is none; says which there are.
pub fn find(name: &str) -> Result<&'static Registration, ParameterError> {
    let found = GAMES.iter().find(|game| game.info.name == name);
    found.ok_or_else(|| {
        let known = among(name, GAMES.iter().map(|game| &*game.info.name));
        ParameterError::new("", format!("no game \"{name}\"{known}"))
    })
}
