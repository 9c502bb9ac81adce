// Loaded with the first finished code block: colours for the languages people meet most.
import core from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import json from "highlight.js/lib/languages/json";
import python from "highlight.js/lib/languages/python";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

core.registerLanguage("bash", bash);
core.registerLanguage("css", css);
core.registerLanguage("diff", diff);
core.registerLanguage("go", go);
core.registerLanguage("ini", ini);
core.registerLanguage("java", java);
core.registerLanguage("json", json);
core.registerLanguage("python", python);
core.registerLanguage("rust", rust);
core.registerLanguage("sql", sql);
core.registerLanguage("typescript", typescript);
core.registerLanguage("xml", xml);
core.registerLanguage("yaml", yaml);
core.registerAliases(["javascript", "js", "jsx"], { languageName: "typescript" });
core.registerAliases(["shell", "console"], { languageName: "bash" });

/** Markup with class names only, or null for a language that is not known here. */
export function highlight(source: string, language: string): string | null {
  if (!core.getLanguage(language)) return null;
  return core.highlight(source, { language, ignoreIllegals: true }).value;
}
