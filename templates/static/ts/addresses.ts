// What an address really is, however it is written. Pure.

// Characters that change the order or look of text without being seen.
const UNSEEN = /[\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
const CLAIM = /(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+[\p{L}][\p{L}\p{N}-]*/gu;
// What looks like the end of a host in the name of a file.
const FILES = new Set(
  ("c cc cfg cpp cs css csv conf doc docx env go h html ini ipynb java js json jsx lock log md pdf " +
    "php png py r rb rs rst sh sql svg toml ts tsx txt xls xlsx xml yaml yml zip").split(" "),
);

const CLAIM_CHARACTERS = 300; // where a host would be seen; the search is quadratic in it

export interface Address {
  /** Where it leads: an ASCII host with its port, or a mail address. */
  readonly host: string;
  /** True if its text hides or contradicts that. */
  readonly deceives: boolean;
}

export function addressOf(href: string, text: string): Address {
  let url: URL;
  try {
    url = new URL(href);
  } catch {
    return { host: href, deceives: true };
  }
  const host = url.protocol === "mailto:" ? url.pathname : url.host;
  const hides = url.username !== "" || url.password !== "" || host.includes("xn--");
  return { host, deceives: hides || isMarked(text) || contradicts(text, url) };
}

/** The text with unseen characters spelled out. */
export function spelled(text: string): string {
  return text.replace(UNSEEN, (character) => {
    const code = character.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${code}`;
  });
}

function isMarked(text: string): boolean {
  return text !== spelled(text);
}

function contradicts(text: string, url: URL): boolean {
  const real = url.protocol === "mailto:" ? url.pathname.toLowerCase() : url.hostname;
  for (const [claim] of text.slice(0, CLAIM_CHARACTERS).normalize("NFKC").toLowerCase().matchAll(CLAIM)) {
    if (!text.includes("://") && FILES.has(claim.slice(claim.lastIndexOf(".") + 1))) continue;
    if (real !== claim && `www.${real}` !== claim && !real.endsWith(`.${claim}`)) {
      return !url.href.toLowerCase().includes(`/${claim}`) && !real.endsWith(`@${claim}`);
    }
  }
  return false;
}
