// Why a call was allowed, narrowed, parked or denied: the chain that decided it, in plain words.
import checkIcon from "../icons/check.svg";
import chevronIcon from "../icons/chevron.svg";
import deniedIcon from "../icons/denied.svg";
import handIcon from "../icons/hand.svg";
import narrowIcon from "../icons/narrow.svg";
import type { Why } from "./calls.ts";
import { drawing, h } from "./dom.ts";
import { say } from "./strings.ts";

const SIGNS: Readonly<Record<string, { icon: string; words: () => string }>> = {
  allowed: { icon: checkIcon, words: say.whyAllowed },
  denied: { icon: deniedIcon, words: say.whyDenied },
  narrowed: { icon: narrowIcon, words: say.whyNarrowed },
  needs_approval: { icon: handIcon, words: say.whyAsks },
};
const WHO: Readonly<Record<string, () => string>> = {
  policy: say.byPolicy,
  ceiling: say.byCeiling,
  member: say.byMember,
  budget: say.byBudget,
  approval: say.byApproval,
  offer: say.byOffer,
  schema: say.bySchema,
  repeat: say.byRepeat,
};

/** A fold named "Why?" with one line a decision. `about` completes its name for a screen reader. */
export function whyFold(chain: readonly Why[], about: string, open: boolean): HTMLDetailsElement {
  const chevron = drawing(chevronIcon);
  chevron.classList.add("chevron");
  return h(
    "details",
    { class: "why", open },
    h(
      "summary",
      {},
      say.why(),
      h("span", { class: "visually-hidden" }, ` ${about}`),
      chevron,
    ),
    h("ol", { class: "why-chain" }, ...chain.map(link)),
  );
}

function link(each: Why): HTMLElement {
  const sign = SIGNS[each.outcome] ?? SIGNS.denied!;
  const who = WHO[each.by]?.() ?? each.by;
  return h(
    "li",
    { "data-outcome": each.outcome },
    drawing(sign.icon),
    h(
      "span",
      {},
      h("strong", {}, who),
      h("span", { class: "visually-hidden" }, ` ${sign.words()}:`),
      " ",
      each.text,
    ),
  );
}
