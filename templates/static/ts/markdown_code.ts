/** Code as Markdown, whatever ticks it holds itself. */
export function fenced(code: string, language: string): string {
  const longest = Math.max(2, ...[...code.matchAll(/`+/g)].map((run) => run[0].length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${code}${code.endsWith("\n") ? "" : "\n"}${fence}`;
}
