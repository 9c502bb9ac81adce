// The editor, loaded with the first look at a source. It lives in a shadow root: there its styles
// are sheets made by script, which the page's policy allows, and not style elements.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import {
  bracketMatching,
  indentOnInput,
  syntaxHighlighting,
  type LanguageSupport,
} from "@codemirror/language";
import { getChunks, goToNextChunk, unifiedMergeView } from "@codemirror/merge";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightSpecialChars,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { COLOURS, THEME } from "./artifact_editor_theme.ts";
import { words } from "./artifact_words.ts";
import { h } from "./dom.ts";

export interface EditorOptions {
  readonly label: string;
  readonly text: string;
  readonly language: string;
  readonly readOnly: boolean;
  readonly wraps: boolean;
  /** Text that the editor's own is compared with; changes of it are marked. */
  readonly theirs: string | null;
  readonly changed: () => void;
  readonly save: () => void;
}

type Loader = () => Promise<LanguageSupport>;

const script =
  (options: { jsx?: boolean; typescript?: boolean }): Loader =>
  async () =>
    (await import("@codemirror/lang-javascript")).javascript(options);
const markup: Loader = async () => (await import("@codemirror/lang-html")).html();
const xml: Loader = async () => (await import("@codemirror/lang-xml")).xml();
const python: Loader = async () => (await import("@codemirror/lang-python")).python();
const LANGUAGES: Readonly<Record<string, Loader>> = {
  css: async () => (await import("@codemirror/lang-css")).css(),
  html: markup,
  htm: markup,
  javascript: script({}),
  js: script({}),
  json: async () => (await import("@codemirror/lang-json")).json(),
  jsx: script({ jsx: true }),
  markdown: async () => (await import("@codemirror/lang-markdown")).markdown(),
  python,
  py: python,
  sql: async () => (await import("@codemirror/lang-sql")).sql(),
  svg: xml,
  ts: script({ typescript: true }),
  tsx: script({ jsx: true, typescript: true }),
  typescript: script({ typescript: true }),
  xml,
  yaml: async () => (await import("@codemirror/lang-yaml")).yaml(),
};

// Ctrl+/ lists the shortcuts everywhere else.
const KEYS = defaultKeymap.filter((binding) => binding.key !== "Mod-/");

export class Editor {
  readonly root = h("div", { class: "editor" });
  readonly #view: EditorView;
  readonly #language = new Compartment();

  constructor(options: EditorOptions) {
    const shadow = this.root.attachShadow({ mode: "open" });
    this.#view = new EditorView({
      root: shadow,
      parent: shadow,
      state: EditorState.create({
        doc: options.text,
        extensions: [...frame(options), this.#language.of([]), ...comparison(options.theirs)],
      }),
    });
    void this.#colour(options.language);
  }

  get text(): string {
    return this.#view.state.doc.toString();
  }

  /** Puts the cursor into the text. */
  focus(): void {
    this.#view.focus();
  }

  /** Replaces everything, as one step that can be undone. */
  write(text: string): void {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text } });
  }

  /** How many differences to the other text are left. */
  differences(): number {
    return getChunks(this.#view.state)?.chunks.length ?? 0;
  }

  nextDifference(): void {
    goToNextChunk(this.#view);
    this.focus();
  }

  close(): void {
    this.#view.destroy();
    this.root.remove();
  }

  async #colour(language: string): Promise<void> {
    const support = await LANGUAGES[language]?.();
    if (support) this.#view.dispatch({ effects: this.#language.reconfigure(support) });
  }
}

function frame(options: EditorOptions): Extension[] {
  const keys = [
    {
      key: "Mod-s",
      preventDefault: true,
      run: () => {
        options.save();
        return true;
      },
    },
    ...searchKeymap,
    ...historyKeymap,
    ...KEYS,
  ];
  return [
    lineNumbers(),
    highlightSpecialChars(),
    history(),
    drawSelection(),
    indentOnInput(),
    bracketMatching(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    search({ top: true }),
    keymap.of(keys),
    syntaxHighlighting(COLOURS),
    THEME,
    EditorView.contentAttributes.of({ "aria-label": options.label, dir: "auto" }),
    EditorView.updateListener.of((update) => {
      // A difference that is settled for mine changes no text.
      const settles = update.transactions.some((each) => each.effects.length > 0);
      if (update.docChanged || settles) options.changed();
    }),
    EditorState.phrases.of(phrases()),
    options.wraps ? EditorView.lineWrapping : [],
    options.readOnly ? [EditorState.readOnly.of(true), EditorView.editable.of(false), FOCUSABLE] : [],
  ];
}

// The words of the editor's own parts.
function phrases(): Readonly<Record<string, string>> {
  return {
    "$ unchanged lines": words.unchanged(2).replace("2", "$"),
    Find: words.find(),
    Replace: words.replace(),
    next: words.findNext(),
    previous: words.findPrevious(),
    all: words.findAll(),
    "match case": words.matchCase(),
    regexp: words.pattern(),
    "by word": words.wholeWords(),
    replace: words.replace(),
    "replace all": words.replaceAll(),
    close: words.close(),
  };
}

// What cannot be edited can still be scrolled and searched by keyboard.
const FOCUSABLE = EditorView.contentAttributes.of({ tabindex: "0" });

function comparison(theirs: string | null): Extension[] {
  if (theirs === null) return [];
  return [
    unifiedMergeView({
      original: theirs,
      highlightChanges: true,
      gutter: true,
      collapseUnchanged: { margin: 3, minSize: 8 },
      mergeControls: (type, action) => {
        const text = type === "accept" ? words.mine() : words.theirs();
        const button = h("button", { type: "button", class: `cm-choice cm-${type}` }, text);
        button.addEventListener("mousedown", (event) => event.preventDefault());
        button.addEventListener("click", action);
        return button;
      },
    }),
  ];
}
