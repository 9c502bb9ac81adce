// Which agent answers the next message. The server drew the options; this keeps the choice.
import { find } from "./dom.ts";
import { initial } from "./turn_view.ts";

export interface AgentOption {
  readonly id: string;
  readonly name: string;
}

export class AgentPicker {
  readonly #button = find<HTMLButtonElement>("agent-pick");
  readonly #menu = find("agent-menu");
  #chosen: AgentOption;

  constructor(chosen: AgentOption, picked: () => void) {
    this.#chosen = chosen;
    for (const option of this.#options()) {
      option.addEventListener("click", () => {
        this.#choose({ id: option.dataset.agent ?? "", name: option.dataset.name ?? "" });
        this.#menu.hidePopover();
        picked();
      });
    }
    this.#choose(chosen);
  }

  get chosen(): AgentOption {
    return this.#chosen;
  }

  #options(): NodeListOf<HTMLElement> {
    return this.#menu.querySelectorAll("[data-agent]");
  }

  #choose(agent: AgentOption): void {
    this.#chosen = agent;
    this.#button.querySelector(".name")!.textContent = agent.name;
    this.#button.querySelector(".agent-mark")!.textContent = initial(agent.name);
    for (const option of this.#options()) {
      option.setAttribute("aria-checked", String(option.dataset.agent === agent.id));
    }
  }
}
