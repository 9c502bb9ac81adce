// What can be done with an agent beside editing it: sharing and deleting, each in a dialogue.
import type { AgentPage } from "./agent_page.ts";
import { SharingDialog } from "./agent_sharing.ts";
import { find } from "./dom.ts";

export function wireActions(page: AgentPage): void {
  if (document.getElementById("share")) new SharingDialog(page);
  document.getElementById("delete-agent")?.addEventListener("click", () => {
    find("agent-actions").hidePopover();
    find<HTMLDialogElement>("delete-dialog").showModal();
  });
}
