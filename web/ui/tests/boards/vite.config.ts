// Builds the gallery of boards to /tmp/gallery; it is looked at, never shipped.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const here = fileURLToPath(new URL(".", import.meta.url));

export default defineConfig({
  root: here,
  base: "./",
  plugins: [svelte()],
  build: {
    outDir: "/tmp/gallery",
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    rolldownOptions: { input: `${here}gallery.html` },
  },
});
