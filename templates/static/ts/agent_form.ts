// The editor's form: a definition read from it and put into it, and what is wrong with its fields.
import type { Content } from "./agent_page.ts";
import { words } from "./agent_words.ts";
import { find } from "./dom.ts";
import type { FieldProblem } from "./http.ts";
import { count } from "./measures.ts";

const TEXTS = ["name", "description", "persona"] as const;

export class AgentForm {
  readonly root = find<HTMLFormElement>("agent-form");
  /** What stands in fields without a control of their own. */
  #rest: Content;

  constructor(content: Content, changed: () => void) {
    this.#rest = content;
    this.root.addEventListener("input", () => {
      this.#help();
      changed();
    });
    this.#help();
  }

  read(): Content {
    const data = new FormData(this.root);
    // Line ends of a form are those of the network; ours are those of texts.
    const text = (name: string) => String(data.get(name) ?? "").replaceAll("\r\n", "\n");
    const { effort: _effort, tools: _tools, ...posture } = this.#rest.posture;
    const families = data.getAll("family").map(String);
    const effort = text("effort");
    return {
      ...this.#rest,
      name: text("name").trim(),
      description: text("description"),
      persona: text("persona"),
      mode: text("mode"),
      capability_ceiling: text("capability_ceiling"),
      posture: {
        ...posture,
        ...(families.length > 0 || "tools" in this.#rest.posture ? { tools: families } : {}),
        ...(effort === "" ? {} : { effort }),
      },
    };
  }

  write(content: Content): void {
    this.#rest = content;
    for (const name of TEXTS) this.#control(name).value = content[name];
    this.#control("capability_ceiling").value = content.capability_ceiling;
    this.#control("effort").value = String(content.posture.effort ?? "");
    const families = (content.posture.tools ?? []) as readonly string[];
    for (const box of this.root.querySelectorAll<HTMLInputElement>("[name=family]")) {
      box.checked = families.includes(box.value);
    }
    for (const radio of this.root.querySelectorAll<HTMLInputElement>("[name=mode]")) {
      radio.checked = radio.value === content.mode;
    }
    this.#help();
  }

  /** True where nothing is missing; otherwise says so and puts the focus there. */
  check(): boolean {
    const empty = (["name", "persona"] as const).filter(
      (name) => this.#control(name).value.trim() === "",
    );
    this.blame(empty.map((name) => ({ field: `content.${name}`, reason: "missing_field" })));
    return empty.length === 0;
  }

  /** Says what is wrong beside the fields; false where none of the problems has a place here. */
  blame(problems: readonly FieldProblem[]): boolean {
    for (const note of this.root.querySelectorAll(".form-error")) note.textContent = "";
    for (const control of this.root.querySelectorAll("[aria-invalid]")) {
      control.removeAttribute("aria-invalid");
    }
    let first: HTMLElement | null = null;
    for (const { field, reason } of problems) {
      const name = field.replace(/^content\./, "");
      const note = document.getElementById(`e-${name}`);
      if (!note) continue;
      const said: Record<string, () => string> = {
        missing_field: words.missing,
        name_taken: words.nameTaken,
      };
      note.textContent = (said[reason] ?? words.invalid)();
      const control = document.getElementById(`f-${name}`);
      control?.setAttribute("aria-invalid", "true");
      first ??= control;
    }
    first?.focus();
    return first !== null || problems.length === 0;
  }

  #control(name: string): HTMLInputElement {
    return this.root.elements.namedItem(name) as HTMLInputElement;
  }

  #help(): void {
    const persona = this.#control("persona");
    const counter = find("persona-count");
    counter.textContent = words.characters(count(persona.value.length), count(Number(counter.dataset.most)));
    const ceiling = this.root.elements.namedItem("capability_ceiling") as HTMLSelectElement;
    find("h-ceiling").textContent = ceiling.selectedOptions[0]?.dataset.help ?? "";
    const mode = new FormData(this.root).get("mode");
    for (const help of this.root.querySelectorAll<HTMLElement>("[data-for-mode]")) {
      help.hidden = help.dataset.forMode !== mode;
    }
  }
}
