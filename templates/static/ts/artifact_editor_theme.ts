// How the editor looks: the colours and type of every other page, by the same names.
import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--code-key)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--code-text)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom], color: "var(--code-number)" },
  {
    tag: [tags.typeName, tags.className, tags.tagName, tags.attributeName, tags.propertyName],
    color: "var(--code-name)",
  },
  { tag: tags.function(tags.variableName), color: "var(--code-name)" },
  { tag: [tags.comment, tags.meta, tags.processingInstruction], color: "var(--code-note)" },
  { tag: tags.heading, color: "var(--ink)", fontWeight: "600" },
  { tag: tags.strong, fontWeight: "600" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: [tags.link, tags.url], color: "var(--accent)" },
  { tag: tags.quote, color: "var(--ink-soft)" },
  { tag: tags.invalid, color: "var(--bad)" },
]);

export const THEME = EditorView.theme({
  "&": { blockSize: "100%", backgroundColor: "var(--surface)", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    fontSize: "var(--text-s)",
    lineHeight: "1.65",
    fontFeatureSettings: '"calt" 0',
  },
  ".cm-content": { padding: "0.75rem 0", caretColor: "var(--ink)" },
  ".cm-line": { padding: "0 1rem 0 0.5rem" },
  ".cm-cursor": { borderLeftColor: "var(--ink)", borderLeftWidth: "1.5px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground":
    { backgroundColor: "var(--selection)" },
  ".cm-gutters": {
    border: "0",
    backgroundColor: "transparent",
    color: "var(--ink-faint)",
    paddingInlineStart: "0.25rem",
  },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.25rem" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--paper-press) 45%, transparent)" },
  ".cm-selectionMatch": { backgroundColor: "var(--mark)" },
  ".cm-searchMatch": { backgroundColor: "var(--mark)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--accent-soft)" },
  ".cm-panels": {
    backgroundColor: "var(--paper-sunk)",
    color: "var(--ink)",
    borderColor: "var(--line)",
    fontFamily: "var(--sans)",
  },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { padding: "0.5rem 2rem 0.5rem 0.75rem", fontSize: "var(--text-s)" },
  ".cm-panel.cm-search label": { fontSize: "var(--text-s)" },
  ".cm-textfield": {
    padding: "0.25rem 0.5rem",
    border: "1px solid var(--edge)",
    borderRadius: "var(--radius-s)",
    backgroundColor: "var(--surface)",
    color: "var(--ink)",
    fontFamily: "inherit",
    fontSize: "var(--text-s)",
  },
  ".cm-textfield:focus-visible, .cm-button:focus-visible": {
    outline: "2px solid var(--accent)",
    outlineOffset: "1px",
  },
  ".cm-panel.cm-search [name=close]": {
    insetBlockStart: "0.375rem",
    insetInlineEnd: "0.5rem",
    inlineSize: "1.75rem",
    blockSize: "1.75rem",
    color: "var(--ink-soft)",
    fontSize: "var(--text-l)",
    cursor: "pointer",
  },
  ".cm-button": {
    padding: "0.25rem 0.625rem",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    color: "var(--ink)",
    fontFamily: "inherit",
    fontSize: "var(--text-s)",
    cursor: "pointer",
  },
  "&.cm-merge-b .cm-changedLine, .cm-insertedLine": {
    backgroundColor: "color-mix(in srgb, var(--good) 12%, transparent)",
  },
  "&.cm-merge-b .cm-changedText": {
    background: "color-mix(in srgb, var(--good) 26%, transparent)",
  },
  ".cm-deletedChunk": {
    padding: "0.25rem 1rem 0.25rem 0.5rem",
    backgroundColor: "color-mix(in srgb, var(--bad) 10%, transparent)",
  },
  ".cm-deletedChunk .cm-deletedText": {
    background: "color-mix(in srgb, var(--bad) 24%, transparent)",
  },
  ".cm-deletedLine del, .cm-deletedLine": { textDecoration: "none" },
  // In a line of its own: beside the text it would cover what is to be judged.
  ".cm-deletedChunk .cm-chunkButtons": {
    position: "static",
    display: "flex",
    gap: "0.375rem",
    paddingBlockEnd: "0.25rem",
  },
  ".cm-deletedChunk .cm-chunkButtons .cm-choice": {
    minBlockSize: "1.625rem",
    padding: "0 0.625rem",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius-s)",
    background: "var(--surface)",
    color: "var(--ink)",
    font: "500 var(--text-xs) / 1.5 var(--sans)",
    cursor: "pointer",
  },
  ".cm-deletedChunk .cm-chunkButtons .cm-choice:focus-visible": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  "&.cm-merge-b .cm-changedLineGutter": { background: "var(--good)" },
  ".cm-deletedLineGutter": { background: "var(--bad)" },
  ".cm-collapsedLines": {
    padding: "0.25rem 0.75rem",
    background: "var(--paper-sunk)",
    color: "var(--ink-faint)",
    fontFamily: "var(--sans)",
    fontSize: "var(--text-xs)",
  },
  "@media (pointer: coarse)": {
    ".cm-deletedChunk .cm-chunkButtons .cm-choice": { minBlockSize: "2.75rem", padding: "0 1rem" },
  },
  ".cm-collapsedLines:before, .cm-collapsedLines:after": { content: "none" },
});
