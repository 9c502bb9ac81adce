// Requests to our own server. Failures are values: callers always know what to show.

import { say } from "./strings.ts";

export type Reply<Body> =
  | { readonly ok: true; readonly status: number; readonly body: Body }
  | Failed;

export interface Failed {
  readonly ok: false;
  readonly status: number;
  readonly message: string;
  /** What the server says beside the message, such as the current version after a conflict. */
  readonly details: Readonly<Record<string, unknown>>;
  /** Which fields of the body are wrong, and why. */
  readonly fields?: readonly FieldProblem[];
}

export interface FieldProblem {
  readonly field: string;
  readonly reason: string;
}

interface Options {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly key?: string;
  readonly timeoutMs?: number;
  /** Finish even if the page goes away. */
  readonly keepalive?: boolean;
}

const TIMEOUT_MS = 20_000;

/** Status 0 stands for a server that was not reached. */
export async function request<Body>(address: string, options: Options = {}): Promise<Reply<Body>> {
  const headers: Record<string, string> = { Accept: "application/json" };
  let body: BodyInit | undefined;
  if (options.json !== undefined) {
    headers["Content-Type"] = "application/json";
    body = JSON.stringify(options.json);
  }
  if (options.form) body = new URLSearchParams(options.form);
  if (options.key) headers["Idempotency-Key"] = options.key;
  if ((options.method ?? "GET") !== "GET") headers["X-CSRFToken"] = csrfToken();
  try {
    const response = await fetch(address, {
      method: options.method ?? "GET",
      headers,
      body: body ?? null,
      credentials: "same-origin",
      redirect: "error",
      keepalive: options.keepalive ?? false,
      signal: AbortSignal.timeout(options.timeoutMs ?? TIMEOUT_MS),
    });
    const parsed: unknown = response.status === 204 ? null : await response.json().catch(() => null);
    if (response.ok) return { ok: true, status: response.status, body: parsed as Body };
    // What the server says of missing proof is meant for programs, which have tokens.
    const message = response.status === 401 ? say.signedOut() : messageOf(parsed);
    const [details, fields] = [detailsOf(parsed), fieldsOf(parsed)];
    return { ok: false, status: response.status, message, details, fields };
  } catch {
    return { ok: false, status: 0, message: "", details: {} };
  }
}

function csrfToken(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csrf-token"]')?.content ?? "";
}

function detailsOf(body: unknown): Readonly<Record<string, unknown>> {
  const details = (body as { error?: { details?: unknown } } | null)?.error?.details;
  return typeof details === "object" && details !== null
    ? (details as Readonly<Record<string, unknown>>)
    : {};
}

function fieldsOf(body: unknown): readonly FieldProblem[] {
  const fields = (body as { error?: { fields?: unknown } } | null)?.error?.fields;
  return Array.isArray(fields) ? (fields as readonly FieldProblem[]) : [];
}

function messageOf(body: unknown): string {
  const error = (body as { error?: { message?: unknown } } | null)?.error;
  return typeof error?.message === "string" ? error.message : "";
}
