// Asks before unsaved changes are lost.
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";

/** True if the reader gives the changes up. */
export function askToDiscard(holder: HTMLElement): Promise<boolean> {
  return new Promise((settle) => {
    let discards = false;
    const dialog = h("dialog", { "aria-labelledby": "discard-heading" });
    const discard = () => {
      discards = true;
      dialog.close();
    };
    dialog.append(
      h("div", { class: "dialog-head" }, h("h2", { id: "discard-heading" }, words.discardQuestion())),
      h("div", { class: "dialog-body" }, h("p", {}, words.discardWarning())),
      h(
        "div",
        { class: "dialog-foot" },
        h("button", { type: "button", class: "button danger", onclick: discard }, words.discard()),
        h(
          "button",
          { type: "button", class: "button primary", autofocus: true, onclick: () => dialog.close() },
          words.keep(),
        ),
      ),
    );
    // Its Escape answers the question; the panel below must not hear of it.
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    dialog.addEventListener("close", () => {
      dialog.remove();
      settle(discards);
    });
    holder.append(dialog);
    dialog.showModal();
  });
}
