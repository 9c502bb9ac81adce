// What the panel asks the server for. Answers are values with everything a view needs.
import type { Cell } from "./artifact_rows.ts";
import { request, type Failed, type Reply } from "./http.ts";

export type Kind = "markdown" | "code" | "graph" | "renderable" | "text";

export interface Author {
  readonly name: string;
  readonly isAgent: boolean;
}

export interface VersionItem {
  readonly number: number;
  readonly language: string;
  readonly author: Author;
  readonly createdAt: string;
}

export interface Version extends VersionItem {
  readonly content: string;
  readonly renderable: Renderable | null;
}

export interface RenderableColumn {
  readonly label: string;
  readonly type: "boolean" | "date" | "datetime" | "mixed" | "number" | "text";
  /** Numbers of the rows as this column sorts them, empty cells last. */
  readonly order: readonly number[];
}

/** A renderable version as the server shows it: its table or its words, markings and origin. */
export interface Renderable {
  readonly shows: "table" | "text";
  readonly text: string;
  readonly table: {
    readonly columns: readonly RenderableColumn[];
    readonly rows: readonly (readonly Cell[])[];
    readonly total: number;
    readonly cut: boolean;
  } | null;
  readonly result_ref: {
    readonly id: string;
    readonly content_digest: string;
    readonly version?: string | number;
  } | null;
  readonly banner: readonly string[];
  readonly markings: readonly { readonly portion: string | null; readonly marking: string }[];
  readonly provenance: Readonly<Record<"cluster" | "dataset" | "job", string>>;
}

export interface Artifact {
  readonly id: string;
  readonly title: string;
  readonly kind: Kind;
  readonly mayEdit: boolean;
  readonly newest: Version;
}

export interface VersionPage {
  readonly items: readonly VersionItem[];
  readonly next: string | null;
}

export type DiffLine = readonly ["=" | "-" | "+", string];

interface SentVersion {
  readonly number: number;
  readonly language: string;
  readonly author: { readonly name: string; readonly is_agent: boolean };
  readonly created_at: string;
  readonly content?: string;
  readonly renderable?: Renderable | null;
}

interface SentArtifact {
  readonly id: string;
  readonly title: string;
  readonly kind: Kind;
  readonly may: { readonly edit: boolean };
  readonly newest: SentVersion;
}

interface SentPage {
  readonly items: readonly SentVersion[];
  readonly next: string | null;
}

export async function readArtifact(id: string): Promise<Reply<Artifact>> {
  return mapped(await request<SentArtifact>(about(id)), (sent) => ({
    id: sent.id,
    title: sent.title,
    kind: sent.kind,
    mayEdit: sent.may.edit,
    newest: version(sent.newest),
  }));
}

export async function readVersion(id: string, number: number): Promise<Reply<Version>> {
  return mapped(await request<SentVersion>(about(id, "versions", number)), version);
}

/** A page of versions, newest first; `cursor` asks for the ones after an earlier page. */
export async function readVersions(id: string, cursor: string | null): Promise<Reply<VersionPage>> {
  const query = cursor === null ? "" : `?cursor=${encodeURIComponent(cursor)}`;
  return mapped(await request<SentPage>(about(id, "versions") + query), (sent) => ({
    items: sent.items.map(item),
    next: sent.next,
  }));
}

export async function readDifference(
  id: string,
  before: number,
  after: number,
): Promise<Reply<readonly DiffLine[]>> {
  const address = about(id, "versions", before, "diff", after);
  return mapped(await request<{ lines: readonly DiffLine[] }>(address), (sent) => sent.lines);
}

/** Appends a version; 409 when `expected` is not the newest any more. */
export async function saveContent(
  id: string,
  content: string,
  expected: number,
): Promise<Reply<{ version: number }>> {
  return request(about(id), { method: "PUT", json: { content, expected_version: expected } });
}

/** Appends a version that says what an earlier one said. */
export async function restoreVersion(
  id: string,
  number: number,
  expected: number,
): Promise<Reply<{ version: number }>> {
  const json = { version: number, expected_version: expected };
  return request(about(id, "restore"), { method: "POST", json });
}

export function downloadAddress(id: string, number: number): string {
  return `${about(id, "download")}?version=${number}`;
}

export function previewAddress(id: string, number: number): string {
  return `/artifacts/${encodeURIComponent(id)}/versions/${number}/preview`;
}

export function isStale(reply: Failed): boolean {
  return reply.status === 409;
}

function about(id: string, ...rest: (string | number)[]): string {
  return ["/api/artifacts", encodeURIComponent(id), ...rest].join("/");
}

function item(sent: SentVersion): VersionItem {
  return {
    number: sent.number,
    language: sent.language,
    author: { name: sent.author.name, isAgent: sent.author.is_agent },
    createdAt: sent.created_at,
  };
}

function version(sent: SentVersion): Version {
  return { ...item(sent), content: sent.content ?? "", renderable: sent.renderable ?? null };
}

function mapped<Sent, Body>(reply: Reply<Sent>, map: (sent: Sent) => Body): Reply<Body> {
  return reply.ok ? { ...reply, body: map(reply.body) } : reply;
}
