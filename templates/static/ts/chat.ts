// The chat page: composes conversation, socket, thread, waiting messages and composer.
import { AgentPicker, type AgentOption } from "./agent_picker.ts";
import { ArtifactDock } from "./artifact_dock.ts";
import { wireApprovalKeys } from "./approval_view.ts";
import { announce, decide, onAnnounced } from "./approvals.ts";
import { Composer, type During } from "./composer.ts";
import type { Health } from "./connection.ts";
import { drawMeter } from "./context_meter.ts";
import {
  accepted,
  apply,
  ask,
  empty,
  fill,
  lastAsked,
  liveTurn,
  openTurn,
  prepend,
  remove,
  select,
  show,
  shownTurns,
  waiting,
} from "./conversation.ts";
import { embedded, find, h } from "./dom.ts";
import { Drafts } from "./drafts.ts";
import { Following } from "./follow.ts";
import { textOf, type Frame } from "./frames.ts";
import { request } from "./http.ts";
import { open } from "./ledger.ts";
import {
  compact,
  newKey,
  openConversation,
  selectBranch,
  sendInput,
  stopRuns,
  type Outgoing,
} from "./outbox.ts";
import { refreshSidebar } from "./sidebar.ts";
import { steering } from "./steering.ts";
import { say } from "./strings.ts";
import { ThreadView } from "./thread_view.ts";
import { toast } from "./toasts.ts";
import { buildings, isOpen, type Turn } from "./turn.ts";
import { WaitingView } from "./waiting_view.ts";

interface Page {
  readonly conversation: string | null;
  readonly applied: number;
  readonly first: number;
  readonly has_earlier: boolean;
  readonly frames: Frame[];
  readonly agent: AgentOption;
  /** On `search` a turn answers one question: nothing is told to it or queued behind it. */
  readonly surface: "chat" | "search";
  /** Shown in a frame beside an editor: the address of the page is nobody's business. */
  readonly is_trial: boolean;
  readonly me: { readonly id: string; readonly name: string; readonly during: During };
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
let following: Following | null = null;
const ledger = open(page.applied);

const focusComposer = () => composer.focus();
const ends = steering({
  conversation: () => conversation,
  state,
  redraw: () => redraw(),
  send: (text) => void pose(text),
});
const thread = new ThreadView(state, page.me.name, {
  retry,
  takeBack,
  edit: (turn, text) => void pose(text, turn),
  choose: (sibling) => void choose(sibling.inputId),
  goOn: () => void pose(say.goOnMessage()),
  say: (text) => void pose(text),
  openArtifact: (id) => void dock.open(id),
  watch: (callId) => void dock.watch(callId),
  decide: async (approval, decision, reason) => {
    const refusal = await decide(approval, decision, reason);
    void following?.catchUp(); // the frame itself may come by another way, or not at all
    return refusal;
  },
  focusComposer,
});
const chips = new WaitingView({ ...ends, focusComposer });
const picker = new AgentPicker(page.agent, focusComposer);
const during = page.surface === "search" ? null : page.me.during;
const composer = new Composer(conversation, drafts, during, {
  send: (text) => void pose(text),
  steer: ends.steer,
  stop: () => void stop(),
  editLast,
});

const dock = new ArtifactDock({
  building: (callId) => {
    const parts = state.turns.flatMap(buildings);
    return parts.find((part) => part.building.callId === callId)?.building ?? null;
  },
  focusComposer,
});
let shownPath = location.pathname;

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
  document.addEventListener("kaizen:focus-composer", focusComposer);
  document.addEventListener("visibilitychange", markRead);
  window.addEventListener("pagehide", sendRead);
  window.addEventListener("popstate", () => {
    if (location.pathname === shownPath) void dock.travel();
    else location.reload();
  });
  find("earlier-button").addEventListener("click", () => void showEarlier());
  find("earlier").hidden = !page.has_earlier;
  find("sum-up").addEventListener("click", () => void sumUp());
  wireApprovalKeys();
  onAnnounced(() => void following?.catchUp());
  if (matchMedia("(pointer: fine)").matches && !page.is_trial) composer.focus();
  if (page.found !== null) void reveal(page.found);
  else if (state.wanted !== null) void reveal(0);
  markRead();
}

function follow(id: string): void {
  following = new Following(id, state, ledger, { changed, health: showHealth });
}

function changed(turn: Turn, frame: Frame | null): void {
  redraw();
  dock.schedule();
  if (frame === null) return;
  if (frame.event === "artifact_saved") dock.kept(frame.data);
  if (frame.event === "assistant_message") thread.speak(textOf(frame.data, "text"));
  if (frame.event === "approval_requested") {
    thread.speak(`${say.approvalNeeded()}: ${textOf(frame.data, "label")}`);
  }
  if (frame.event === "approval_requested" || frame.event === "approval_settled") {
    announce();
    void refreshSidebar();
  }
  if (isOpen(turn)) return;
  dock.ended();
  if (turn.state === "failed") thread.speak(turn.message || say.failure());
  if (turn.state === "cancelled") thread.speak(say.stopped());
  markRead();
  void refreshSidebar();
}

function redraw(): void {
  find("main").toggleAttribute("data-empty", state.turns.length === 0);
  const live = liveTurn(state) !== null;
  composer.state(openTurn(state) !== null, live);
  chips.draw(waiting(state), live);
  drawMeter(fill(state));
  thread.schedule();
}

/** Asks something new, or with `beside` in place of that turn's question. */
async function pose(text: string, beside: Turn | null = null): Promise<void> {
  const replaces = beside?.inputId ?? null;
  await send({ key: newKey(), text, agent: picker.chosen.id, replaces }, null, beside);
}

async function send(outgoing: Outgoing, shown: Turn | null, beside: Turn | null): Promise<void> {
  const message = { text: outgoing.text, author: page.me.name, at: new Date().toISOString() };
  const turn = shown ?? ask(state, message, picker.chosen.name, beside);
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
    if (!page.is_trial) {
      shownPath = `/c/${conversation}`;
      history.pushState(null, "", shownPath);
    }
    document.body.dataset.conversation = conversation;
    composer.moveTo(conversation);
    drafts.save(null, "");
    follow(conversation);
  }
  return reply;
}

function retry(turn: Turn): void {
  const outgoing = unsent.get(turn.key);
  if (outgoing) void send(outgoing, turn, null);
  else if (turn.kind === "compaction") void sumUp();
  else if (turn.ask) void pose(turn.ask.text, turn);
}

function takeBack(turn: Turn): void {
  remove(state, turn);
  unsent.delete(turn.key);
  composer.write(turn.ask?.text ?? "");
  composer.focus();
  redraw();
}

function editLast(): boolean {
  if (openTurn(state)) return chips.editLast();
  const turn = lastAsked(state, page.me.name);
  if (turn?.inputId) thread.edit(turn);
  return turn !== null;
}

async function choose(inputId: string | null): Promise<void> {
  const turn = state.turns.find((each) => each.inputId === inputId);
  if (!turn || !conversation || inputId === null) return;
  const before = state.tip;
  select(state, turn);
  redraw();
  const reply = await selectBranch(conversation, inputId);
  if (reply.ok) return;
  show(state, before);
  toast(reply.message || say.failure());
  redraw();
}

async function sumUp(): Promise<void> {
  find("context-menu").hidePopover();
  if (!conversation) return;
  const reply = await compact(conversation);
  if (!reply.ok) toast(reply.message || say.failure());
  thread.follow();
}

async function stop(): Promise<void> {
  if (conversation) await stopRuns(conversation);
}

/** Loads pages above until something of the shown branch appears; false once there are no more. */
async function showEarlier(): Promise<boolean> {
  const before = shownTurns(state)[0];
  let more = true;
  while (more && shownTurns(state)[0] === before) more = await loadEarlier();
  return more;
}

async function loadEarlier(): Promise<boolean> {
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
  while ((position < firstPosition || state.wanted !== null) && (await loadEarlier()));
  if (position === 0) return;
  const turn = state.turns.findLast((each) => each.order <= position);
  if (turn && !shownTurns(state).includes(turn)) await choose(turn.inputId);
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
