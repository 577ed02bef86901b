/** What games are called: the titles of the rules, which a test of the crate `web` compares with these. */

import { words } from "./format";

const TITLES: ReadonlyMap<string, string> = new Map([
  ["ascending_auction", "Ascending Auction"],
  ["battle_royale", "Battle Royale"],
  ["beauty_contest", "Beauty Contest"],
  ["diners_dilemma", "Diner's Dilemma"],
  ["divide_dollar", "Divide the Dollar"],
  ["el_farol", "El Farol Bar"],
  ["english_auction", "English Auction"],
  ["guess_to_survive", "Guessing 0.8 of the Average"],
  ["guess_two_thirds", "Guess 2/3 of the Average"],
  ["judging", "Judging"],
  ["pirate", "Pirate Game"],
  ["public_goods", "Public Goods"],
  ["sealed_bid_auction", "Sealed-Bid Auction"],
  ["second_price_auction", "Second-Price Auction"],
  ["water_allocation", "Water Allocation Challenge"],
]);

/** The title of a game, or the name of one that is played elsewhere. */
export function titleOf(game: string): string {
  return TITLES.get(game) ?? words(game);
}
