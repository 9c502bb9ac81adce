import assert from "node:assert/strict";
import { test } from "node:test";
import { meet } from "../static/ts/agent_merging.ts";
import { same, type Change, type Content } from "../static/ts/agent_page.ts";

const BASE: Content = {
  name: "Ferry",
  description: "Plans.",
  persona: "one\ntwo\nthree\n",
  mode: "chat",
  capability_ceiling: "read",
  posture: { tools: ["artifacts"], effort: "low" },
};

function change(field: string, after: unknown): Change {
  return { field, before: BASE[field], after, words: [] };
}

function outcomes(mine: Partial<Content>, ...changes: Change[]): [Content, string[]] {
  const { content, fields } = meet(BASE, { ...BASE, ...mine } as Content, changes);
  return [content, fields.map(({ outcome }) => outcome)];
}

test("what only they changed is taken over", () => {
  const [content, said] = outcomes({ name: "Mine" }, change("mode", "search"));
  assert.deepEqual(said, ["theirs"]);
  assert.deepEqual([content.name, content.mode], ["Mine", "search"]);
});

test("instructions changed in different lines have both changes", () => {
  const [content, said] = outcomes(
    { persona: "one\ntwo\nthree, mine\n" },
    change("persona", "one, theirs\ntwo\nthree\n"),
  );
  assert.deepEqual(said, ["merged"]);
  assert.equal(content.persona, "one, theirs\ntwo\nthree, mine\n");
});

test("where both changed the same line, mine stands and is asked about", () => {
  const [content, said] = outcomes(
    { persona: "one\nmine\nthree\n" },
    change("persona", "one\ntheirs\nthree\n"),
  );
  assert.deepEqual(said, ["both"]);
  assert.equal(content.persona, "one\nmine\nthree\n");
});

test("a field that both changed otherwise is never taken silently", () => {
  const [content, said] = outcomes(
    { description: "Mine.", posture: { tools: [] } },
    change("description", "Theirs."),
    change("posture", { tools: [] }),
  );
  assert.deepEqual(said, ["both", "same"]);
  assert.equal(content.description, "Mine.");
});

test("the order of fields makes no difference", () => {
  assert.ok(same({ effort: "low", tools: ["artifacts"] }, BASE.posture));
  assert.ok(!same({ tools: ["artifacts"] }, BASE.posture));
});
