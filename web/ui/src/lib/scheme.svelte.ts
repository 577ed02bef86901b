// Whether pages are dark just now: by the reader's choice, or else by the system's.

import { theme } from "./theme.svelte";

const dark = matchMedia("(prefers-color-scheme: dark)");

class Scheme {
  #isSystemDark = $state(dark.matches);

  isDark = $derived(theme.chosen === "system" ? this.#isSystemDark : theme.chosen === "dark");

  constructor() {
    dark.addEventListener("change", () => (this.#isSystemDark = dark.matches));
  }
}

export const scheme = new Scheme();
