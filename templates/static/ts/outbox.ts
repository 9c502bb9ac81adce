// Sending a message. One message has one key from the first press on, so that a repeat after a
// lost reply is answered with the message that is there already.
import { request, type Reply } from "./http.ts";

export interface Outgoing {
  readonly key: string;
  readonly text: string;
  readonly agent: string;
}

export interface Acceptance {
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
  const json = { kind: "message", message: outgoing.text, agent: outgoing.agent || null };
  const address = `/api/conversations/${conversation}/inputs`;
  return patiently(() => request(address, { method: "POST", json, key: outgoing.key }));
}

export async function stopRuns(conversation: string): Promise<boolean> {
  const reply = await request(`/api/conversations/${conversation}/stop`, {
    method: "POST",
    key: newKey(),
  });
  return reply.ok;
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
