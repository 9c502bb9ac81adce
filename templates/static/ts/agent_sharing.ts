// The dialogue that says who else may use an agent: people, groups, and all members.
import closeIcon from "../icons/close.svg";
import type { AgentPage } from "./agent_page.ts";
import { words } from "./agent_words.ts";
import { find, h, iconButton } from "./dom.ts";
import { request } from "./http.ts";
import { say } from "./strings.ts";
import { toast } from "./toasts.ts";

interface Named {
  readonly id: string;
  readonly name: string;
  readonly username?: string;
}

interface Holder extends Named {
  readonly kind: "member" | "group";
}

interface Shared extends Holder {
  rights: string;
}

interface Shares {
  readonly audience: "private" | "everyone";
  readonly shares: readonly {
    readonly member?: Named;
    readonly group?: Named;
    readonly rights: readonly string[];
  }[];
}

const TYPING_MS = 200;
const LEAST_CHARACTERS = 2;
const RIGHTS = Object.keys(words.rightsOf);

export class SharingDialog {
  readonly #dialog = find<HTMLDialogElement>("share-dialog");
  readonly #error = find("share-error");
  readonly #everyone = document.getElementById("share-everyone") as HTMLInputElement | null;
  readonly #page: AgentPage;
  #shared: Shared[] = [];
  #groups: readonly Named[] = [];
  #audience: "private" | "everyone" = "private";
  #found: readonly Holder[] = [];
  #at = -1;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(page: AgentPage) {
    this.#page = page;
    find("share").addEventListener("click", () => void this.#open());
    find("share-save").addEventListener("click", () => void this.#save());
    if (!page.owned) return;
    const field = this.#field();
    field.addEventListener("input", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => void this.#search(), TYPING_MS);
    });
    field.addEventListener("keydown", (event) => this.#onKey(event));
    // An answer on its way must not open the list again.
    field.addEventListener("blur", () => clearTimeout(this.#timer));
  }

  async #open(): Promise<void> {
    this.#error.textContent = "";
    this.#audience = this.#page.audience ?? "private";
    if (this.#page.owned) {
      const [shares, groups] = await Promise.all([
        request<Shares>(this.#address()),
        request<{ items: Named[] }>("/api/groups"),
      ]);
      if (!shares.ok) return toast(shares.message || say.failure());
      this.#read(shares.body);
      this.#groups = groups.ok ? groups.body.items : [];
      this.#field().value = "";
      this.#close();
      this.#drawShares();
    }
    this.#drawAudience();
    this.#dialog.showModal();
  }

  #read(shares: Shares): void {
    this.#audience = shares.audience;
    this.#shared = shares.shares.flatMap(({ member, group, rights }) => {
      const named = member ?? group;
      if (!named) return [];
      const also = rights.filter((right) => right !== "use");
      const held = ["use", ...also].join(" ");
      return [{ ...named, kind: member ? "member" : "group", rights: held } as Shared];
    });
  }

  #drawAudience(): void {
    if (!this.#everyone) return;
    this.#everyone.checked = this.#audience === "everyone";
    const holder = document.getElementById("share-everyone-holder");
    if (holder) holder.hidden = this.#audience !== "everyone";
  }

  #drawShares(): void {
    find("share-none").hidden = this.#shared.length > 0;
    find("share-list").replaceChildren(...this.#shared.map((shared) => this.#row(shared)));
  }

  #row(shared: Shared): HTMLElement {
    const rights = h("select", { class: "input", "aria-label": words.rights(shared.name) });
    for (const value of RIGHTS) {
      const label = words.rightsOf[value]?.() ?? value;
      rights.append(h("option", { value, selected: value === shared.rights }, label));
    }
    rights.addEventListener("change", () => {
      shared.rights = rights.value;
    });
    const remove = () => {
      this.#shared = this.#shared.filter((each) => each !== shared);
      this.#drawShares();
      this.#field().focus();
    };
    return h(
      "li",
      {},
      h(
        "span",
        { class: "who", dir: "auto" },
        shared.name,
        shared.kind === "group" && h("span", { class: "tag" }, words.groupOf()),
      ),
      rights,
      iconButton(closeIcon, words.removed(shared.name), remove),
    );
  }

  async #search(): Promise<void> {
    const text = this.#field().value.trim();
    if (text.length < LEAST_CHARACTERS) return this.#close();
    const reply = await request<{ items: Named[] }>(`/api/people?q=${encodeURIComponent(text)}`);
    if (this.#field().value.trim() !== text) return;
    const low = text.toLowerCase();
    const groups = this.#groups.filter((group) => group.name.toLowerCase().includes(low));
    const people = reply.ok ? reply.body.items : [];
    const all: Holder[] = [
      ...groups.map((group) => ({ ...group, kind: "group" as const })),
      ...people.map((person) => ({ ...person, kind: "member" as const })),
    ];
    this.#found = all.filter(
      (each) => !this.#shared.some((known) => known.id === each.id && known.kind === each.kind),
    );
    this.#drawFound();
  }

  #drawFound(): void {
    const list = find("people-found");
    this.#at = this.#found.length > 0 ? 0 : -1;
    list.replaceChildren(
      ...this.#found.map((holder, at) => {
        const option = h(
          "li",
          { role: "option", id: `people-${at}`, "aria-selected": "false", dir: "auto" },
          holder.name,
          h("span", { class: "help" }, holder.kind === "group" ? words.groupOf() : (holder.username ?? "")),
        );
        // Before the field loses the focus.
        option.addEventListener("pointerdown", (event) => event.preventDefault());
        option.addEventListener("click", () => this.#add(holder));
        return option;
      }),
    );
    if (this.#found.length === 0) {
      list.append(h("li", { class: "empty", role: "option", "aria-disabled": "true" }, words.nobodyFound()));
    }
    list.hidden = false;
    this.#field().setAttribute("aria-expanded", "true");
    this.#mark();
  }

  #mark(): void {
    const field = this.#field();
    for (const [at, option] of [...find("people-found").children].entries()) {
      option.setAttribute("aria-selected", String(at === this.#at));
    }
    if (this.#at >= 0) field.setAttribute("aria-activedescendant", `people-${this.#at}`);
    else field.removeAttribute("aria-activedescendant");
  }

  #onKey(event: KeyboardEvent): void {
    const open = !find("people-found").hidden;
    if (event.key === "Enter") {
      event.preventDefault();
      const holder = this.#found[this.#at];
      if (open && holder) this.#add(holder);
    } else if (event.key === "Escape" && open) {
      event.preventDefault();
      event.stopPropagation();
      this.#close();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && open && this.#found.length > 0) {
      event.preventDefault();
      const step = event.key === "ArrowDown" ? 1 : -1;
      this.#at = (this.#at + step + this.#found.length) % this.#found.length;
      this.#mark();
    }
  }

  #add(holder: Holder): void {
    this.#shared.push({ ...holder, rights: "use" });
    this.#field().value = "";
    this.#close();
    this.#drawShares();
    toast(words.added(holder.name));
    this.#field().focus();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#found = [];
    this.#at = -1;
    find("people-found").hidden = true;
    this.#field().setAttribute("aria-expanded", "false");
    this.#field().removeAttribute("aria-activedescendant");
  }

  async #save(): Promise<void> {
    const wanted = this.#everyone?.checked ? "everyone" : "private";
    const shares = this.#shared.map(({ kind, id, rights }) => ({
      [`${kind}_id`]: id,
      rights: rights.split(" "),
    }));
    const json = {
      ...(this.#everyone && wanted !== this.#audience ? { audience: wanted } : {}),
      ...(this.#page.owned ? { shares } : {}),
    };
    if (Object.keys(json).length === 0) return this.#dialog.close();
    const button = find<HTMLButtonElement>("share-save");
    button.disabled = true;
    const reply = await request<Shares>(this.#address(), { method: "PUT", json });
    button.disabled = false;
    if (!reply.ok) {
      this.#error.textContent = reply.message || say.failure();
      return;
    }
    this.#dialog.close();
    toast(words.sharingSaved());
  }

  #address(): string {
    return `/api/agents/${this.#page.agent}/shares`;
  }

  #field(): HTMLInputElement {
    return find<HTMLInputElement>("people");
  }
}
