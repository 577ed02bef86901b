// Starts the page. A token in the address is exchanged for a cookie before anything is shown.

import { mount } from "svelte";
import App from "./App.svelte";
import { takeLinkToken, takeRefusal } from "./lib/access.svelte";
import { enter } from "./lib/client";
import { isSite } from "./lib/place";
import { router } from "./lib/router.svelte";

takeRefusal();
const token = isSite ? null : takeLinkToken();
// A token that is refused needs no message here: the first call then leads to the sign-in page.
if (token !== null) await enter(token).catch(() => undefined);
router.start();
const place = document.getElementById("app");
if (place) mount(App, { target: place });
