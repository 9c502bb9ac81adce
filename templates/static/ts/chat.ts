// The chat page: composes conversation, socket, thread and composer.
import { AgentPicker, type AgentOption } from "./agent_picker.ts";
import { Composer } from "./composer.ts";
import type { Health } from "./connection.ts";
import {
  accepted,
  apply,
  ask,
  empty,
  isOpen,
  openTurn,
  prepend,
  type Turn,
} from "./conversation.ts";
import { embedded, find, h } from "./dom.ts";
import { Drafts } from "./drafts.ts";
import { Following } from "./follow.ts";
import { textOf, type Frame } from "./frames.ts";
import { request } from "./http.ts";
import { open } from "./ledger.ts";
import { newKey, openConversation, sendInput, stopRuns, type Outgoing } from "./outbox.ts";
import { refreshSidebar } from "./sidebar.ts";
import { say } from "./strings.ts";
import { ThreadView } from "./thread_view.ts";

interface Page {
  readonly conversation: string | null;
  readonly applied: number;
  readonly first: number;
  readonly has_earlier: boolean;
  readonly frames: Frame[];
  readonly agent: AgentOption;
  readonly me: { readonly id: string; readonly name: string };
  readonly found: number | null;
}

const READ_DELAY_MS = 150;

const page = embedded<Page>("page");
const state = empty();
const drafts = new Drafts(page.me.id);
const unsent = new Map<string, Outgoing>();
const conversationKey = newKey();
let conversation = page.conversation;
let firstPosition = page.first;
let readTimer: ReturnType<typeof setTimeout> | undefined;
const ledger = open(page.applied);

const thread = new ThreadView(state, page.me.name, { retry, takeBack });
const picker = new AgentPicker(page.agent, () => composer.focus());
const composer = new Composer(conversation, drafts, {
  send: (text) => void send({ key: newKey(), text, agent: picker.chosen.id }),
  stop: () => void stop(),
  lastMessage: () => state.turns.findLast((turn) => turn.ask)?.ask?.text ?? "",
});

function start(): void {
  for (const frame of page.frames) apply(state, frame);
  redraw();
  thread.draw();
  if (conversation) follow(conversation);
  for (const starter of document.querySelectorAll<HTMLElement>("[data-starter]")) {
    starter.addEventListener("click", () => {
      composer.write(starter.dataset.starter ?? "");
      composer.focus();
    });
  }
  document.addEventListener("kaizen:focus-composer", () => composer.focus());
  document.addEventListener("visibilitychange", markRead);
  window.addEventListener("pagehide", sendRead);
  window.addEventListener("popstate", () => location.reload());
  find("earlier-button").addEventListener("click", () => void showEarlier());
  find("earlier").hidden = !page.has_earlier;
  if (matchMedia("(pointer: fine)").matches) composer.focus();
  if (page.found !== null) void reveal(page.found);
  markRead();
}

function follow(id: string): void {
  void new Following(id, state, ledger, { changed, health: showHealth });
}

function changed(turn: Turn, frame: Frame | null): void {
  redraw();
  if (frame === null) return;
  if (frame.event === "assistant_message") thread.speak(textOf(frame.data, "text"));
  if (isOpen(turn)) return;
  if (turn.state === "failed") thread.speak(turn.message || say.failure());
  if (turn.state === "cancelled") thread.speak(say.stopped());
  markRead();
  void refreshSidebar();
}

function redraw(): void {
  find("main").toggleAttribute("data-empty", state.turns.length === 0);
  composer.running = openTurn(state) !== null;
  thread.schedule();
}

async function send(outgoing: Outgoing, shown: Turn | null = null): Promise<void> {
  const message = { text: outgoing.text, author: page.me.name, at: new Date().toISOString() };
  const turn = shown ?? ask(state, message, picker.chosen.name);
  unsent.set(turn.key, outgoing);
  turn.state = "sending";
  turn.message = "";
  turn.version += 1;
  thread.follow();
  redraw();
  const id = await reachConversation();
  const reply = id.ok ? await sendInput(id.body.id, outgoing) : id;
  if (!reply.ok) {
    turn.state = "unsent";
    turn.message = reply.message;
    turn.version += 1;
    if (reply.status === 401) showHealth("signed-out");
    return redraw();
  }
  unsent.delete(turn.key);
  accepted(state, turn, reply.body.input_id);
  if (composer.text === "") drafts.save(conversation, "");
  redraw();
  void refreshSidebar();
}

// The first message makes the conversation; its address becomes the page's.
async function reachConversation(): ReturnType<typeof openConversation> {
  if (conversation) return { ok: true, status: 200, body: { id: conversation } };
  const reply = await openConversation(conversationKey);
  if (reply.ok && conversation === null) {
    conversation = reply.body.id;
    history.pushState(null, "", `/c/${conversation}`);
    document.body.dataset.conversation = conversation;
    composer.moveTo(conversation);
    drafts.save(null, "");
    follow(conversation);
  }
  return reply;
}

function retry(turn: Turn): void {
  const outgoing = unsent.get(turn.key);
  if (outgoing) return void send(outgoing, turn);
  if (turn.ask) void send({ key: newKey(), text: turn.ask.text, agent: picker.chosen.id });
}

function takeBack(turn: Turn): void {
  state.turns.splice(state.turns.indexOf(turn), 1);
  unsent.delete(turn.key);
  composer.write(turn.ask?.text ?? "");
  composer.focus();
  redraw();
}

async function stop(): Promise<void> {
  if (conversation) await stopRuns(conversation);
}

async function showEarlier(): Promise<boolean> {
  if (!conversation) return false;
  const button = find<HTMLButtonElement>("earlier-button");
  button.disabled = true;
  const reply = await request<{ items: Frame[]; has_earlier: boolean }>(
    `/c/${conversation}/earlier?before=${firstPosition}`,
  );
  button.disabled = false;
  if (!reply.ok) {
    thread.speak(say.earlierFailed());
    return false;
  }
  firstPosition = reply.body.items[0]?.position ?? firstPosition;
  thread.holding(() => {
    prepend(state, reply.body.items);
    find("earlier").hidden = !reply.body.has_earlier;
  });
  return reply.body.has_earlier;
}

async function reveal(position: number): Promise<void> {
  while (position < firstPosition && (await showEarlier()));
  requestAnimationFrame(() => thread.reveal(position));
}

function showHealth(health: Health): void {
  const banner = find("connection");
  const words: Record<Health, string> = {
    live: "",
    trying: say.connectionLost(),
    "signed-out": say.signedOut(),
    gone: say.gone(),
  };
  banner.replaceChildren(words[health]);
  if (health === "signed-out") {
    const next = encodeURIComponent(location.pathname);
    banner.append(h("a", { href: `/sign-in?next=${next}` }, say.signIn()));
  }
}

function markRead(): void {
  if (document.hidden || !conversation || ledger.applied === 0) return;
  clearTimeout(readTimer);
  readTimer = setTimeout(sendRead, READ_DELAY_MS);
}

function sendRead(): void {
  if (readTimer === undefined) return;
  clearTimeout(readTimer);
  readTimer = undefined;
  const form = { position: String(ledger.applied) };
  void request(`/c/${conversation}/read`, { method: "POST", form, keepalive: true });
}

start();
