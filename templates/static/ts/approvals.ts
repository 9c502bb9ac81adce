// Deciding about approvals, and telling this browser's other tabs that something was decided.
import type { Decision } from "./approval_view.ts";
import type { Approval } from "./calls.ts";
import { request } from "./http.ts";
import { say } from "./strings.ts";

const channel = new BroadcastChannel("kaizen:approvals");

/** Answers "" once the server took the decision, else why it did not. */
export async function decide(
  approval: Approval,
  decision: Decision,
  reason: string,
): Promise<string> {
  const address = `/api/approvals/${approval.id}`;
  const { digest } = approval;
  const json = { decision, digest, ...(reason === "" ? {} : { reason }) };
  const reply =
    decision === "withdraw"
      ? await request(`${address}/withdraw`, { method: "POST" })
      : await request(address, { method: "POST", json });
  announce();
  return reply.ok ? "" : reply.message || say.failure();
}

/** Says in every other tab that approvals have changed. */
export function announce(): void {
  channel.postMessage("changed");
}

/** Runs `act` whenever another tab says so. */
export function onAnnounced(act: () => void): void {
  channel.addEventListener("message", act);
}
