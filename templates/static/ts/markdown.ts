// From a model's text to safe elements. Raw HTML is off in the parser, and what it writes goes
// through an allowlist without images, style or script: reading an answer fetches nothing.
import createDOMPurify, { type Config } from "dompurify";
import MarkdownIt from "markdown-it";

export const ALLOWED_TAGS = [
  "a", "blockquote", "br", "code", "del", "div", "em", "h1", "h2", "h3", "h4", "h5", "h6", "hr",
  "li", "ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
] as const;
export const ALLOWED_ATTRIBUTES = ["class", "href", "start", "dir"] as const;
const LINK = /^(?:https?:\/\/|mailto:)/i;

const parser = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
parser.validateLink = (url) => LINK.test(url.trim());

parser.renderer.rules.image = (tokens, index) => {
  const token = tokens[index];
  const address = String(token?.attrGet("src") ?? "");
  const label = parser.utils.escapeHtml(token?.content || address);
  if (!LINK.test(address)) return label;
  return `<a class="image-link" href="${parser.utils.escapeHtml(address)}">${label}</a>`;
};
// An ordinary paragraph says its own direction, so that mixed languages read right.
for (const name of ["paragraph_open", "heading_open", "blockquote_open"]) {
  parser.renderer.rules[name] = (tokens, index, options, _env, self) => {
    tokens[index]?.attrSet("dir", "auto");
    return self.renderToken(tokens, index, options);
  };
}

// Column alignment comes as a style attribute, which the sanitiser removes.
for (const name of ["th_open", "td_open"]) {
  parser.renderer.rules[name] = (tokens, index, options, _env, self) => {
    const token = tokens[index];
    const style = String(token?.attrGet("style") ?? "");
    if (style.includes("right")) token?.attrSet("class", "align-end");
    if (style.includes("center")) token?.attrSet("class", "align-center");
    return self.renderToken(tokens, index, options);
  };
}

/** What earlier blocks of the same text defined (link references). */
export type Definitions = Record<string, unknown>;

export interface Block {
  readonly html: string;
  /** Where the block ends in the source it was parsed from, in UTF-16 units. */
  readonly end: number;
}

/** The top-level blocks of a text, in order. All but the last are finished. */
export function blocks(source: string, definitions: Definitions): Block[] {
  const tokens = parser.parse(source, definitions);
  const starts: { token: number; line: number }[] = [];
  tokens.forEach((token, index) => {
    if (token.level === 0 && token.nesting >= 0 && token.map) {
      starts.push({ token: index, line: token.map[0] });
    }
  });
  const offsets = lineOffsets(source);
  return starts.map((start, index) => {
    const next = starts[index + 1];
    const part = tokens.slice(start.token, next?.token);
    return {
      html: parser.renderer.render(part, parser.options, definitions),
      end: next ? (offsets[next.line] ?? source.length) : source.length,
    };
  });
}

type Purifier = ReturnType<typeof createDOMPurify>;
const RULES: Config = {
  ALLOWED_TAGS: [...ALLOWED_TAGS],
  ALLOWED_ATTR: [...ALLOWED_ATTRIBUTES],
  ALLOWED_URI_REGEXP: LINK,
  ADD_URI_SAFE_ATTR: ["start", "dir"], // else their values would have to look like links
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** A sanitiser bound to a window; links leave it safe to follow. */
export function sanitiser(view: Window & typeof globalThis): (html: string) => DocumentFragment {
  const purifier: Purifier = createDOMPurify(view);
  purifier.addHook("afterSanitizeAttributes", (node) => {
    if (node.nodeName !== "A") return;
    if (!LINK.test(node.getAttribute("href") ?? "")) return node.removeAttribute("href");
    node.setAttribute("target", "_blank");
    node.setAttribute("rel", "noopener noreferrer nofollow");
  });
  return (html) => purifier.sanitize(html, { ...RULES, RETURN_DOM_FRAGMENT: true });
}

function lineOffsets(source: string): number[] {
  const offsets = [0];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) {
    offsets.push(at + 1);
  }
  return offsets;
}
