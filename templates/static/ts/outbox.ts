// What a member tells the server. One message has one key from the first press on, so that a
// repeat after a lost reply is answered with the message that is there already.
import { request, type Reply } from "./http.ts";

export interface Outgoing {
  readonly key: string;
  readonly text: string;
  readonly agent: string;
  /** Input this one stands beside, after an edit or to ask the same again. */
  readonly replaces: string | null;
}

interface Acceptance {
  readonly input_id: string;
  readonly accepted_position: number;
  readonly status: string;
}

const LOST_REPLY_TRIES = 2;
const LOST_REPLY_WAIT_MS = 800;

export function newKey(): string {
  // randomUUID exists on secure pages only; a plain HTTP intranet page is not one.
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Makes a conversation; the same key makes the same one. */
export async function openConversation(key: string): Promise<Reply<{ id: string }>> {
  return patiently(() => request("/api/conversations", { method: "POST", key }));
}

export async function sendInput(
  conversation: string,
  outgoing: Outgoing,
): Promise<Reply<Acceptance>> {
  const { text, agent, replaces, key } = outgoing;
  const json = {
    kind: "message",
    message: text,
    agent: agent || null,
    ...(replaces === null ? {} : { replaces }),
  };
  return patiently(() => request(about(conversation, "inputs"), { method: "POST", json, key }));
}

/** Tells a running turn something; refused with 409 once it reads no more. */
export async function steer(
  conversation: string,
  turn: string,
  message: string,
): Promise<Reply<unknown>> {
  const key = newKey();
  const json = { message, turn_id: turn };
  return patiently(() => request(about(conversation, "steer"), { method: "POST", json, key }));
}

/** What happens to a message that waits: `queued` ones are inputs, others steers. */
export async function changeWaiting(
  conversation: string,
  kind: "inputs" | "steers",
  id: string,
  message: string,
): Promise<Reply<unknown>> {
  return request(about(conversation, kind, id), { method: "PATCH", json: { message } });
}

export async function removeWaiting(
  conversation: string,
  kind: "inputs" | "steers",
  id: string,
): Promise<Reply<unknown>> {
  return request(about(conversation, kind, id), { method: "DELETE" });
}

/** Makes a queued message one that the running turn reads. */
export async function steerQueued(conversation: string, input: string): Promise<Reply<unknown>> {
  return request(about(conversation, "inputs", input, "steer"), { method: "POST", key: newKey() });
}

/** Makes what the running turn has not read yet a message of its own, asked after it. */
export async function queueSteer(conversation: string, steered: string): Promise<Reply<unknown>> {
  return patiently(() =>
    request(about(conversation, "steers", steered, "queue"), { method: "POST", key: newKey() }),
  );
}

export async function selectBranch(conversation: string, input: string): Promise<Reply<unknown>> {
  const json = { input_id: input };
  return request(about(conversation, "branch"), { method: "POST", json, key: newKey() });
}

/** Has everything so far summarised, to make room in the model's window. */
export async function compact(conversation: string): Promise<Reply<unknown>> {
  return request(about(conversation, "compact"), { method: "POST", key: newKey() });
}

export async function stopRuns(conversation: string): Promise<boolean> {
  const reply = await request(about(conversation, "stop"), { method: "POST", key: newKey() });
  return reply.ok;
}

function about(conversation: string, ...rest: string[]): string {
  return ["/api/conversations", conversation, ...rest].join("/");
}

async function patiently<Body>(attempt: () => Promise<Reply<Body>>): Promise<Reply<Body>> {
  let reply = await attempt();
  for (let tries = 1; tries < LOST_REPLY_TRIES && isLost(reply); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, LOST_REPLY_WAIT_MS));
    reply = await attempt();
  }
  return reply;
}

function isLost(reply: Reply<unknown>): boolean {
  return reply.status === 0 || reply.status === 502 || reply.status === 503;
}
