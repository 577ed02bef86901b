import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

// The build is committed and compared in CI, so it must be the same in every folder.
export default defineConfig({
  plugins: [svelte()],
  // Relative, for published sites in any folder; the server that has pages at several depths makes them absolute.
  base: "./",
  build: {
    outDir: "dist",
    assetsInlineLimit: 0,
    modulePreload: false,
    sourcemap: false,
    reportCompressedSize: true,
  },
});
