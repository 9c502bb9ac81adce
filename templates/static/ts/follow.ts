// Brings everything that happens in one conversation to its reducer: socket, ledger, and the
// journal itself wherever the socket left a hole.
import { Connection, type Health } from "./connection.ts";
import { apply, applyDelta, type Conversation } from "./conversation.ts";
import { sort, type Frame } from "./frames.ts";
import { request } from "./http.ts";
import { fill, hasGap, offer, type Ledger } from "./ledger.ts";
import { awaitsPiece, type Turn } from "./turn.ts";

const GAP_WAIT_MS = 400; // swapped arrivals settle by themselves within this
const HOLE_WAIT_MS = 1_500;

export interface Follower {
  readonly changed: (turn: Turn, frame: Frame | null) => void;
  readonly health: (health: Health) => void;
}

export class Following {
  readonly #id: string;
  readonly #conversation: Conversation;
  readonly #ledger: Ledger;
  readonly #follower: Follower;
  readonly #connection: Connection;
  #gapTimer: ReturnType<typeof setTimeout> | undefined;
  #holeTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(id: string, conversation: Conversation, ledger: Ledger, follower: Follower) {
    this.#id = id;
    this.#conversation = conversation;
    this.#ledger = ledger;
    this.#follower = follower;
    this.#connection = new Connection(id, {
      after: () => ledger.applied,
      message: (message) => this.#take(message),
      health: (health) => {
        follower.health(health);
        // Where no socket gets through, the page still moves, by asking.
        if (health === "trying") void this.catchUp();
      },
    });
  }

  /** Reads what the journal has after the last applied position. */
  async catchUp(): Promise<void> {
    const address = `/api/conversations/${this.#id}/events?after=${this.#ledger.applied}`;
    const reply = await request<{ items: Frame[] }>(address);
    if (reply.ok) for (const frame of fill(this.#ledger, reply.body.items)) this.#apply(frame);
  }

  #take(message: unknown): void {
    const incoming = sort(message);
    if (incoming.type === "frame") {
      for (const frame of offer(this.#ledger, incoming.frame)) this.#apply(frame);
      this.#mindGap();
    } else if (incoming.type === "delta") {
      const turn = applyDelta(this.#conversation, incoming.delta);
      if (turn) this.#follower.changed(turn, null);
      this.#mindHole();
    }
  }

  #apply(frame: Frame): void {
    const turn = apply(this.#conversation, frame);
    if (turn) this.#follower.changed(turn, frame);
  }

  #mindGap(): void {
    if (!hasGap(this.#ledger)) {
      clearTimeout(this.#gapTimer);
      this.#gapTimer = undefined;
      return;
    }
    this.#gapTimer ??= setTimeout(() => {
      this.#gapTimer = undefined;
      void this.catchUp();
    }, GAP_WAIT_MS);
  }

  // A lost delta is repeated by the server with the first message of a new socket.
  #mindHole(): void {
    if (!this.#conversation.turns.some(awaitsPiece)) {
      clearTimeout(this.#holeTimer);
      this.#holeTimer = undefined;
      return;
    }
    this.#holeTimer ??= setTimeout(() => {
      this.#holeTimer = undefined;
      if (this.#conversation.turns.some(awaitsPiece)) this.#connection.reopen();
    }, HOLE_WAIT_MS);
  }
}
