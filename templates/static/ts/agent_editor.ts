// The editor of one agent: saves versions, meets others' changes, keeps unsaved ones from being lost.
import { wireActions } from "./agent_actions.ts";
import { showConflict } from "./agent_conflict.ts";
import { AgentForm } from "./agent_form.ts";
import { meet } from "./agent_merging.ts";
import { same, type AgentPage, type Change, type Content } from "./agent_page.ts";
import { words } from "./agent_words.ts";
import { askToDiscard } from "./artifact_leaving.ts";
import { embedded, find } from "./dom.ts";
import { request, type Failed, type Reply } from "./http.ts";
import { newKey } from "./outbox.ts";
import { toast } from "./toasts.ts";

interface Saved {
  readonly id: string;
  readonly version: number;
}

const page = embedded<AgentPage & { readonly content: Content }>("page");
const form = new AgentForm(page.content, draw);
const state = find("save-state");
const saveButton = find<HTMLButtonElement>("save");
const conflict = find("conflict");
const trial = document.getElementById("trial") as HTMLIFrameElement | null;
let version = page.version;
// The form reads line ends and blanks in its own way: what it shows at first is what is saved.
let saved = form.read();
let saving = false;
let leaving = false;
let createKey = newKey();

function isDirty(): boolean {
  return !same(form.read(), saved);
}

function draw(): void {
  const dirty = isDirty();
  if (!saving) state.textContent = dirty ? words.unsaved() : "";
  saveButton.disabled = saving || (!dirty && page.agent !== null);
  find("discard").hidden = !dirty || saving;
  if (trial) {
    find("trial-unsaved").hidden = !dirty;
    find("trial-version").textContent = words.answersAs(version);
  }
}

async function save(): Promise<boolean> {
  if (saving || !form.check()) return false;
  if (!isDirty() && page.agent !== null) return true;
  const content = form.read();
  saving = true;
  state.textContent = words.saving();
  draw();
  const reply = await send(content);
  saving = false;
  if (!reply.ok) refused(reply, content);
  else if (page.agent === null) {
    leaving = true;
    location.replace(`/agents/${reply.body.id}`);
  } else accepted(reply.body.version, content);
  draw();
  if (!reply.ok && reply.status !== 409) state.textContent = reply.message || words.saveFailed();
  return reply.ok;
}

function send(content: Content): Promise<Reply<Saved>> {
  if (page.agent === null) {
    return request<Saved>("/api/agents", { method: "POST", json: { content }, key: createKey });
  }
  const json = { content, expected_version: version };
  return request<Saved>(`/api/agents/${page.agent}`, { method: "PUT", json, key: newKey() });
}

function accepted(number: number, content: Content): void {
  const changedSurface = content.mode !== saved.mode;
  version = number;
  saved = content;
  conflict.hidden = true;
  find("agent-version").textContent = words.version(number);
  const title = document.querySelector(".studio-head .page-title");
  if (title) title.textContent = content.name;
  saveButton.textContent = words.saveAs(number + 1);
  toast(words.savedAs(number));
  if (changedSurface) startOver();
}

function refused(reply: Failed, mine: Content): void {
  const current = Number(reply.details.current);
  if (reply.status === 409 && Number.isInteger(current)) return collide(current, mine, reply);
  if (reply.status === 422) {
    form.blame(reply.fields ?? []);
    createKey = newKey(); // a corrected definition is another request
  }
}

function collide(current: number, mine: Content, reply: Failed): void {
  const changes = (reply.details.changes ?? []) as readonly Change[];
  const meeting = meet(saved, mine, changes);
  const theirs: Record<string, unknown> = { ...saved };
  for (const change of changes) theirs[change.field] = change.after;
  version = current;
  saved = theirs as Content;
  find("agent-version").textContent = words.version(current);
  form.write(meeting.content);
  saveButton.textContent = words.saveAs(current + 1);
  showConflict(conflict, current, mine, meeting, {
    put: (field, value) => {
      form.write({ ...form.read(), [field]: value });
      draw();
    },
    putMine: () => {
      form.write(mine);
      draw();
      saveButton.focus();
    },
  });
}

function startOver(): void {
  trial?.contentWindow?.location.reload();
}

/** Links ask in our own words; closing, reloading and going back ask in the browser's. */
function guardLeaving(): void {
  addEventListener("beforeunload", (event) => {
    if (isDirty() && !leaving) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const link = (event.target as Element).closest<HTMLAnchorElement>("a[href]");
    const elsewhere = event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0;
    if (!link || link.target || elsewhere || event.defaultPrevented || !isDirty()) return;
    event.preventDefault();
    void askToDiscard(find("main")).then((discards) => {
      if (!discards) return;
      leaving = true;
      location.assign(link.href);
    });
  });
}

form.root.addEventListener("submit", (event) => {
  event.preventDefault();
  void save();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "s" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
  event.preventDefault();
  void save();
});
find("discard").addEventListener("click", () => {
  form.write(saved);
  form.blame([]);
  conflict.hidden = true;
  draw();
  find("f-name").focus();
});
document.getElementById("save-and-try")?.addEventListener("click", () => {
  void save().then((done) => done && trial?.focus());
});
document.getElementById("trial-again")?.addEventListener("click", startOver);
guardLeaving();
wireActions(page);
draw();
