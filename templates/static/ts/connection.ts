// The socket of one conversation. Keeps it open, says how it is, and leaves order and repeats
// to the ledger.

export type Health = "live" | "trying" | "signed-out" | "gone";

export interface Listener {
  /** Position the server shall continue after. */
  readonly after: () => number;
  readonly message: (message: unknown) => void;
  readonly health: (health: Health) => void;
}

const FIRST_WAIT_MS = 300;
const LONGEST_WAIT_MS = 10_000;
const FLOODED_WAIT_MS = 5_000; // after close code 4429
const SILENCE_MS = 40_000; // two missed keep-alives of 15 s and some
const STEADY_MS = 5_000; // an opening that lasts this long counts as success

const DRAINING = 4000;
const SIGNED_OUT = 4401;
const GONE = 4404;
const TOO_FAST = 4429;

export class Connection {
  readonly #conversation: string;
  readonly #listener: Listener;
  #socket: WebSocket | null = null;
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #watch: ReturnType<typeof setTimeout> | undefined;
  #steady: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  constructor(conversation: string, listener: Listener) {
    this.#conversation = conversation;
    this.#listener = listener;
    window.addEventListener("online", () => this.reopen());
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && this.#socket === null) this.reopen();
    });
    this.#open();
  }

  /** Opens a new socket at once; the server then sends what is missing. */
  reopen(): void {
    if (this.#closed) return;
    const old = this.#socket;
    this.#socket = null;
    old?.close();
    this.#open();
  }

  #open(): void {
    clearTimeout(this.#retry);
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const path = `/ws/conversations/${this.#conversation}?after=${this.#listener.after()}`;
    const socket = new WebSocket(`${scheme}://${location.host}${path}`, ["kaizen.v1"]);
    this.#socket = socket;
    this.#listen();
    socket.addEventListener("open", () => {
      if (socket !== this.#socket) return;
      this.#steady = setTimeout(() => (this.#failures = 0), STEADY_MS);
      this.#listener.health("live");
    });
    socket.addEventListener("message", (event: MessageEvent<string>) => {
      if (socket !== this.#socket) return;
      this.#listen();
      for (const message of parse(event.data)) this.#listener.message(message);
    });
    socket.addEventListener("close", (event) => {
      if (socket === this.#socket) this.#lost(event.code);
    });
  }

  #listen(): void {
    clearTimeout(this.#watch);
    this.#watch = setTimeout(() => this.reopen(), SILENCE_MS);
  }

  #lost(code: number): void {
    clearTimeout(this.#watch);
    clearTimeout(this.#steady);
    this.#socket = null;
    if (code === SIGNED_OUT || code === GONE) {
      this.#closed = true;
      return this.#listener.health(code === GONE ? "gone" : "signed-out");
    }
    if (code === DRAINING && this.#failures === 0) {
      this.#failures = 1;
      this.#retry = setTimeout(() => this.#open(), Math.random() * FIRST_WAIT_MS);
      return;
    }
    this.#listener.health("trying");
    const longest = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures);
    const wait = code === TOO_FAST ? FLOODED_WAIT_MS : longest * (0.5 + Math.random() / 2);
    this.#failures += 1;
    this.#retry = setTimeout(() => this.#open(), wait);
  }
}

// One socket message may carry one object or a list of them.
function parse(data: string): unknown[] {
  try {
    const value: unknown = JSON.parse(data);
    return Array.isArray(value) ? value : [value];
  } catch {
    return [];
  }
}
