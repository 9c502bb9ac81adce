// The list of conversations: kept fresh by htmx, changed through one menu.
import htmx from "htmx.org";
import { find } from "./dom.ts";
import { request } from "./http.ts";
import { say } from "./strings.ts";
import { toast } from "./toasts.ts";

const WHILE_RUNNING_MS = 3_000;
const WHILE_QUIET_MS = 30_000;

/** Reads the list again and takes the page's title from its entry. */
export async function refreshSidebar(): Promise<void> {
  const list = document.getElementById("conversations");
  if (!list || document.querySelector("#thread-menu:popover-open")) return;
  const current = document.body.dataset.conversation ?? "";
  await htmx.ajax("get", `/sidebar?current=${current}`, { target: list, swap: "innerHTML" });
  const title = list.querySelector("[aria-current] .title")?.textContent;
  if (!title) return;
  find("page-title").textContent = title;
  document.title = `${title} · Kaizen`;
}

/** Asks again soon while something runs, seldom otherwise, never in a hidden tab. */
export function keepSidebarFresh(): void {
  const tick = () => {
    const running = document.querySelector("#conversations [data-running]") !== null;
    setTimeout(() => {
      if (!document.hidden) void refreshSidebar();
      tick();
    }, running ? WHILE_RUNNING_MS : WHILE_QUIET_MS);
  };
  tick();
}

/** Opens and shuts the sidebar: a column on wide pages, a drawer on narrow ones. */
export function toggleSidebar(): void {
  const { dataset } = document.body;
  if (matchMedia("(max-width: 52rem)").matches) {
    dataset.drawer = dataset.drawer === "open" ? "closed" : "open";
    if (dataset.drawer === "open") find("sidebar").querySelector("a")?.focus();
    else find("sidebar-open").focus();
  } else {
    dataset.sidebar = dataset.sidebar === "closed" ? "open" : "closed";
    document.cookie = `sidebar=${dataset.sidebar};path=/;max-age=31536000;samesite=lax`;
  }
  find("sidebar-open").setAttribute("aria-expanded", String(isSidebarShown()));
}

export function isSidebarShown(): boolean {
  const { sidebar, drawer } = document.body.dataset;
  return matchMedia("(max-width: 52rem)").matches ? drawer === "open" : sidebar !== "closed";
}

interface Target {
  readonly id: string;
  readonly title: string;
  readonly pinned: boolean;
}

let target: Target | null = null;

/** Wires the shared menu: the button that opens it says which conversation it is about. */
export function wireThreadMenu(): void {
  const menu = document.getElementById("thread-menu");
  if (!menu) return;
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[data-thread-menu]");
    if (!button) return;
    const { threadMenu: id = "", title = "", pinned } = button.dataset;
    target = { id, title, pinned: pinned !== undefined };
    find("menu-pin").hidden = target.pinned;
    find("menu-unpin").hidden = !target.pinned;
  });
  const actions: Record<string, (conversation: Target) => void> = {
    "menu-rename": rename,
    "menu-pin": (each) => void change(each, "pin"),
    "menu-unpin": (each) => void change(each, "unpin"),
    "menu-archive": (each) => void leave(each, "archive", "unarchive", say.conversationArchived()),
    "menu-delete": (each) => void leave(each, "delete", "restore", say.conversationDeleted()),
  };
  for (const [id, act] of Object.entries(actions)) {
    find(id).addEventListener("click", () => {
      menu.hidePopover();
      if (target) act(target);
    });
  }
}

function rename(conversation: Target): void {
  const dialog = find<HTMLDialogElement>("rename-dialog");
  const field = find<HTMLInputElement>("rename-title");
  field.value = conversation.title;
  dialog.showModal();
  field.select();
  dialog.onclose = () => {
    const title = field.value.trim();
    if (dialog.returnValue !== "save" || title === "" || title === conversation.title) return;
    void change(conversation, "rename", { title });
  };
}

async function change(
  conversation: Target,
  verb: string,
  form: Readonly<Record<string, string>> = {},
): Promise<boolean> {
  const reply = await request(`/c/${conversation.id}/${verb}`, { method: "POST", form });
  if (!reply.ok) toast(reply.message || say.failure());
  await refreshSidebar();
  return reply.ok;
}

async function leave(
  conversation: Target,
  verb: string,
  back: string,
  words: string,
): Promise<void> {
  if (!(await change(conversation, verb))) return;
  if (document.body.dataset.conversation === conversation.id) {
    const query = new URLSearchParams({ undo: back, of: conversation.id });
    location.assign(`/?${query}`);
    return;
  }
  offerUndo(conversation.id, back, words);
}

function offerUndo(id: string, back: string, words: string): void {
  const run = async () => {
    await request(`/c/${id}/${back}`, { method: "POST" });
    await refreshSidebar();
  };
  toast(words, { label: say.undo(), run: () => void run() });
}

/** After leaving the open conversation by deleting or archiving it, the way back is here. */
export function offerUndoFromAddress(): void {
  const query = new URLSearchParams(location.search);
  const [back, id] = [query.get("undo"), query.get("of")];
  if (!id || !/^[0-9a-f-]{36}$/.test(id)) return;
  if (back === "restore") offerUndo(id, back, say.conversationDeleted());
  if (back === "unarchive") offerUndo(id, back, say.conversationArchived());
  history.replaceState(null, "", location.pathname);
}
