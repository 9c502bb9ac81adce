// Saying something to a running answer, and what a member does with messages that wait.
import { waiting, liveTurn, type Conversation, type Waiting } from "./conversation.ts";
import { changeWaiting, queueSteer, removeWaiting, steer as tell, steerQueued } from "./outbox.ts";
import type { Reply } from "./http.ts";
import { say } from "./strings.ts";
import { toast } from "./toasts.ts";
import type { Steer } from "./turn.ts";
import type { WaitingActions } from "./waiting_view.ts";

interface Ends extends Omit<WaitingActions, "focusComposer"> {
  readonly steer: (text: string) => void;
}

interface Means {
  readonly conversation: () => string | null;
  readonly state: Conversation;
  readonly redraw: () => void;
  /** Asks it as a message of its own. */
  readonly send: (text: string) => void;
}

export function steering({ conversation, state, redraw, send }: Means): Ends {
  /** Says it to the running turn; one that reads no more leaves it as an ordinary message. */
  async function steer(text: string): Promise<void> {
    const turn = liveTurn(state);
    const id = conversation();
    if (!turn?.runId || !id) return send(text);
    const said: Steer = { id: "", text, state: "sending", reason: "" };
    turn.steers.push(said);
    redraw();
    const reply = await tell(id, turn.runId, text);
    if (reply.ok) return;
    turn.steers = turn.steers.filter((each) => each !== said);
    redraw();
    if (reply.status === 409) send(text);
    else toast(reply.message || say.notSent());
  }

  async function change(each: Waiting, text: string): Promise<void> {
    await act(each, (id, kind, name) => changeWaiting(id, kind, name, text));
  }

  async function removal(each: Waiting): Promise<void> {
    await act(each, removeWaiting);
  }

  async function convert(each: Waiting): Promise<void> {
    const turn = each.type === "queued" ? steerQueued : queueSteer;
    await act(each, (id, _kind, name) => turn(id, name));
  }

  async function act(
    each: Waiting,
    run: (id: string, kind: "inputs" | "steers", name: string) => Promise<Reply<unknown>>,
  ): Promise<void> {
    const id = conversation();
    const name = each.type === "steer" ? each.steer.id : each.turn.inputId;
    if (!id || !name || !isStillWaiting(each)) return;
    const reply = await run(id, each.type === "steer" ? "steers" : "inputs", name);
    if (!reply.ok) toast(reply.message || say.failure());
  }

  function isStillWaiting(each: Waiting): boolean {
    return waiting(state).some((other) =>
      each.type === "steer"
        ? other.type === "steer" && other.steer === each.steer
        : other.type === "queued" && other.turn === each.turn,
    );
  }

  return {
    steer: (text) => void steer(text),
    change: (each, text) => void change(each, text),
    convert: (each) => void convert(each),
    remove: (each) => void removal(each),
  };
}
