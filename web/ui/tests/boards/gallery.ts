// Mounts every state of every scene, or those of the scene in the address (?scene=line&open&narrow).
import { mount } from "svelte";
import Board from "../../src/boards/Board.svelte";
import "./gallery.css";
import { shots } from "./shots";

const target = document.getElementById("gallery")!;
const asked = new URLSearchParams(location.search);
for (const shot of shots) {
  const wanted = asked.get("scene");
  if (wanted !== null && wanted !== shot.board.scene.scene) continue;
  const box = document.createElement("div");
  box.className = "gallery-shot";
  const name = document.createElement("p");
  name.className = "gallery-state";
  name.textContent = `${shot.board.scene.scene}: ${shot.state}`;
  box.append(name);
  target.append(box);
  mount(Board, { target: box, props: { board: shot.board, seats: shot.seats } });
}
document.body.classList.toggle("narrow", asked.has("narrow"));
if (asked.has("open"))
  for (const details of document.querySelectorAll("details")) details.open = true;
