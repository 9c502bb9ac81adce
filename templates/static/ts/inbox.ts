// The inbox page: every call that waits for the reader, as the same card as in its conversation.
import { ApprovalView, OUTCOMES, wireApprovalKeys } from "./approval_view.ts";
import { decide, onAnnounced } from "./approvals.ts";
import { approvalOf, type Approval } from "./calls.ts";
import { drawing, embedded, find, h } from "./dom.ts";
import { textOf, type FrameData } from "./frames.ts";
import { request } from "./http.ts";
import { refreshSidebar } from "./sidebar.ts";
import { say } from "./strings.ts";

const WHILE_WAITING_MS = 1_500; // a decision made on another machine is here within two seconds
const WHILE_QUIET_MS = 5_000;

const cards = new Map<string, ApprovalView>();
let reading: Promise<void> | null = null;

// A card that was settled here stays where it is until the page is left, with its outcome.
function draw(items: readonly FrameData[]): void {
  const settled: FrameData[] = [];
  for (const item of items) {
    const approval = approvalOf(item);
    if (textOf(item, "state") === "unasked") showUnasked(item, approval);
    else if (approval.state === "pending") show(item, approval);
    else if (!cards.has(approval.id)) settled.push(item);
    cards.get(approval.id)?.update(approval, null);
  }
  find("settled-list").replaceChildren(...settled.map(settledRow));
  find("settled").hidden = settled.length === 0;
  find("nothing").hidden = find("asked").childElementCount > 0;
}

function show(item: FrameData, approval: Approval): void {
  if (cards.has(approval.id)) return;
  const view = new ApprovalView(approval, {
    decide: async (which, decision, reason) => {
      const refusal = await decide(which, decision, reason);
      await read();
      return refusal;
    },
  });
  cards.set(approval.id, view);
  find("asked").append(h("article", {}, origin(item), view.root));
}

// A run that nobody watched asks once its member is here.
function showUnasked(item: FrameData, approval: Approval): void {
  if (document.getElementById(`unasked-${approval.id}`)) return;
  const onclick = () =>
    void request(`/api/approvals/${approval.id}/answer`, { method: "POST" }).then(() => {
      root.remove();
      return read();
    });
  const root = h(
    "article",
    { id: `unasked-${approval.id}` },
    origin(item),
    h(
      "div",
      { class: "approval-unasked" },
      h("p", {}, say.unasked(approval.label)),
      h("button", { type: "button", class: "button primary", onclick }, say.askMeNow()),
    ),
  );
  find("asked").append(root);
}

function origin(item: FrameData): HTMLElement {
  const title = textOf(item, "title") || say.untitled();
  return h(
    "p",
    { class: "inbox-from" },
    say.inConversation(),
    h("a", { href: `/c/${textOf(item, "conversation_id")}`, dir: "auto" }, title),
  );
}

function settledRow(item: FrameData): HTMLElement {
  const { label, state, reason, conversation } = approvalOf(item);
  const { icon, words } = OUTCOMES[state];
  const said = state === "denied" && reason !== "" ? `${words()} · ${reason}` : words();
  const at = new Date(textOf(item, "decided_at"));
  return h(
    "li",
    { class: "settled", "data-state": state },
    drawing(icon),
    h(
      "div",
      { class: "what" },
      h("a", { href: `/c/${conversation}` }, label),
      h("span"),
      h("span", { dir: "auto" }, said),
    ),
    !Number.isNaN(at.valueOf()) && h("time", { datetime: at.toISOString() }, moment(at)),
  );
}

function moment(at: Date): string {
  const today = at.toDateString() === new Date().toDateString();
  return at.toLocaleString(document.documentElement.lang, {
    ...(today ? {} : { day: "numeric", month: "short" }),
    hour: "2-digit",
    minute: "2-digit",
  });
}

function read(): Promise<void> {
  reading ??= request<{ items: FrameData[] }>("/inbox/items").then((reply) => {
    reading = null;
    if (!reply.ok) return;
    const before = asking();
    draw(reply.body.items);
    if (asking() === before) return;
    void refreshSidebar();
    if (asking() > before) find("live").textContent = say.approvalNeeded();
  });
  return reading;
}

function asking(): number {
  return document.querySelectorAll("#asked .approval[data-state=pending]").length;
}

function keepFresh(): void {
  setTimeout(async () => {
    if (!document.hidden) await read();
    keepFresh();
  }, asking() > 0 ? WHILE_WAITING_MS : WHILE_QUIET_MS);
}

draw(embedded<{ items: FrameData[] }>("page").items);
wireApprovalKeys();
onAnnounced(() => void read());
document.addEventListener("visibilitychange", () => void read());
keepFresh();
