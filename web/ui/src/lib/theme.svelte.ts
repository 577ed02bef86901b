// Light or dark: the reader's choice, stored in the browser, or the setting of the system.

export type Theme = "system" | "light" | "dark";

const KEY = "agon-theme";

class ThemeChoice {
  chosen = $state<Theme>(stored());

  constructor() {
    this.#apply();
  }

  choose(theme: Theme): void {
    this.chosen = theme;
    this.#apply();
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice then lasts as long as the page.
    }
  }

  #apply(): void {
    if (this.chosen === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = this.chosen;
  }
}

function stored(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return value === "light" || value === "dark" ? value : "system";
  } catch {
    return "system";
  }
}

export const theme = new ThemeChoice();
