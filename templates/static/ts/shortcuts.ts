// The keyboard map. People whose assistive technology uses the same keys switch it off in
// their account; everything it does is reachable without it.
import { find } from "./dom.ts";
import { openSearch } from "./search_dialog.ts";
import { toggleSidebar } from "./sidebar.ts";

interface Shortcut {
  readonly matches: (event: KeyboardEvent) => boolean;
  readonly run: () => void;
}

const command = (event: KeyboardEvent) => (event.ctrlKey || event.metaKey) && !event.altKey;

const SHORTCUTS: readonly Shortcut[] = [
  {
    matches: (event) => command(event) && !event.shiftKey && event.key.toLowerCase() === "k",
    run: openSearch,
  },
  {
    matches: (event) => command(event) && event.shiftKey && event.code === "KeyO",
    run: () => location.assign("/"),
  },
  {
    matches: (event) => command(event) && event.shiftKey && event.code === "KeyS",
    run: toggleSidebar,
  },
  { matches: (event) => command(event) && event.key === "/", run: openShortcuts },
  {
    matches: (event) => event.shiftKey && event.key === "Escape",
    run: () => document.dispatchEvent(new CustomEvent("kaizen:focus-composer")),
  },
];

export function openShortcuts(): void {
  const dialog = find<HTMLDialogElement>("shortcuts-dialog");
  if (!dialog.open) dialog.showModal();
}

export function wireShortcuts(): void {
  if (document.body.dataset.shortcuts !== "on") return;
  document.addEventListener("keydown", (event) => {
    const shortcut = SHORTCUTS.find((each) => each.matches(event));
    if (!shortcut) return;
    event.preventDefault();
    shortcut.run();
  });
}
