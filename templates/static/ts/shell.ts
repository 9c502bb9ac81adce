// What every page has: menus, search, shortcuts, sidebar.
import htmx from "htmx.org";
import { copy } from "./clipboard.ts";
import { forgetDrafts } from "./drafts.ts";
import { wireMenus } from "./menus.ts";
import { openSearch, wireSearch } from "./search_dialog.ts";
import { openShortcuts, wireShortcuts } from "./shortcuts.ts";
import {
  isSidebarShown,
  keepSidebarFresh,
  offerUndoFromAddress,
  toggleSidebar,
  wireThreadMenu,
} from "./sidebar.ts";
import { say } from "./strings.ts";

// No evaluation of attribute text, no style element of its own: the page's policy forbids both.
htmx.config.allowEval = false;
htmx.config.includeIndicatorStyles = false;
htmx.config.selfRequestsOnly = true;
htmx.config.historyEnabled = false;
htmx.config.responseHandling = [
  { code: "[23]..", swap: true }, // 204 too: it takes the row away that it was asked for
  { code: "[45]..", swap: false, error: true },
];

document.addEventListener("htmx:configRequest", (event) => {
  const { headers } = (event as CustomEvent<{ headers: Record<string, string> }>).detail;
  const token = document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]');
  if (token) headers["X-CSRFToken"] = token.content;
});

const DOERS: Readonly<Record<string, (element: HTMLElement) => void>> = {
  "toggle-sidebar": toggleSidebar,
  search: openSearch,
  shortcuts: openShortcuts,
  "forget-drafts": () => {
    forgetDrafts();
    // The answer clears what the browser keeps of other pages; this one it keeps only afterwards.
    addEventListener("pageshow", ({ persisted }) => persisted && location.reload());
  },
  "close-dialog": (element) => element.closest("dialog")?.close(),
  copy: (element) => void copy(element.dataset.text ?? "", say.codeCopied()),
  submit: (element) => element.closest("form")?.requestSubmit(),
};

document.addEventListener("click", (event) => {
  const element = (event.target as Element).closest<HTMLElement>("[data-do]");
  if (element) DOERS[element.dataset.do ?? ""]?.(element);
  // A press on the veil closes a dialog, as on every other veil.
  if (event.target instanceof HTMLDialogElement) event.target.close();
});
document.addEventListener("change", (event) => {
  const form = (event.target as HTMLElement).closest<HTMLFormElement>("form[data-autosave]");
  form?.requestSubmit();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && document.body.dataset.drawer === "open") toggleSidebar();
});

// The server groups conversations by days where the reader is.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
document.cookie = `tz=${zone};path=/;max-age=31536000;samesite=lax`;
wireMenus();
// Only secure pages have workers; others do without the offline page.
void navigator.serviceWorker?.register("/offline.js");
if (document.getElementById("sidebar")) {
  document.getElementById("sidebar-open")?.setAttribute("aria-expanded", String(isSidebarShown()));
  wireThreadMenu();
  wireSearch();
  wireShortcuts();
  offerUndoFromAddress();
  keepSidebarFresh();
}
