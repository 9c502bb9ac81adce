// The page of one artifact: the panel over the full width.
import { ArtifactPanel } from "./artifact_panel.ts";
import { embedded, find } from "./dom.ts";

const page = embedded<{ artifact: string }>("page");
const panel = new ArtifactPanel({
  place: "page",
  close: () =>
    void panel.mayLeave().then((free) => {
      if (!free) return;
      leaving = true;
      location.assign("/artifacts");
    }),
});
let leaving = false;

find("panel-holder").replaceChildren(panel.root);
void panel.open(page.artifact);
addEventListener("beforeunload", (event) => {
  if (panel.isDirty && !leaving) event.preventDefault();
});
