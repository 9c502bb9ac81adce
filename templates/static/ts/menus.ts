// Menus are popovers: the browser opens, stacks and closes them. Here they are placed beside
// their button and walked with the arrow keys.

const GAP_PX = 6;
const EDGE_PX = 8;

export function wireMenus(): void {
  for (const menu of document.querySelectorAll<HTMLElement>(".menu[popover]")) {
    menu.addEventListener("beforetoggle", (event) => {
      if ((event as ToggleEvent).newState === "open") menu.style.visibility = "hidden";
    });
    menu.addEventListener("toggle", (event) => {
      const opened = (event as ToggleEvent).newState === "open";
      const button = openerOf(menu);
      button?.setAttribute("aria-expanded", String(opened));
      if (!opened) return;
      if (button) place(menu, button);
      menu.style.visibility = "";
      const items = itemsOf(menu);
      (items.find((item) => item.getAttribute("aria-checked") === "true") ?? items[0])?.focus();
    });
    menu.addEventListener("keydown", (event) => walk(menu, event));
  }
  document.addEventListener("click", (event) => {
    const button = (event.target as Element).closest<HTMLElement>("[popovertarget]");
    if (button) openers.set(button.getAttribute("popovertarget") ?? "", button);
  }, true);
}

const openers = new Map<string, HTMLElement>();

function openerOf(menu: HTMLElement): HTMLElement | null {
  return openers.get(menu.id) ?? document.querySelector(`[popovertarget="${menu.id}"]`);
}

function itemsOf(menu: HTMLElement): HTMLElement[] {
  return [...menu.querySelectorAll<HTMLElement>("[role^=menuitem]:not([hidden])")];
}

function place(menu: HTMLElement, button: HTMLElement): void {
  const anchor = button.getBoundingClientRect();
  const box = menu.getBoundingClientRect();
  const below = anchor.bottom + GAP_PX + box.height <= innerHeight - EDGE_PX;
  const top = below ? anchor.bottom + GAP_PX : Math.max(EDGE_PX, anchor.top - GAP_PX - box.height);
  const startsRight = getComputedStyle(menu).direction === "rtl";
  const wanted = startsRight ? anchor.right - box.width : anchor.left;
  const left = Math.min(Math.max(EDGE_PX, wanted), innerWidth - box.width - EDGE_PX);
  menu.style.top = `${top}px`;
  menu.style.left = `${left}px`;
}

function walk(menu: HTMLElement, event: KeyboardEvent): void {
  const items = itemsOf(menu);
  const at = items.indexOf(document.activeElement as HTMLElement);
  const next: Record<string, number> = {
    ArrowDown: (at + 1) % items.length,
    ArrowUp: (at - 1 + items.length) % items.length,
    Home: 0,
    End: items.length - 1,
  };
  const to = next[event.key];
  if (to !== undefined) {
    event.preventDefault();
    items[to]?.focus();
  } else if (event.key === "Tab") {
    menu.hidePopover();
  }
}
