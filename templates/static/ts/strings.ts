// Every text the browser code shows. `gettext` and `ngettext` come from Django's catalogue
// (/texts.js); without it, in tests, the English text stands.

interface Catalogue {
  gettext?: (text: string) => string;
  ngettext?: (one: string, many: string, count: number) => string;
}

const catalogue = globalThis as Catalogue;

function gettext(text: string): string {
  return catalogue.gettext?.(text) ?? text;
}

function ngettext(one: string, many: string, count: number): string {
  return catalogue.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
}

function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/%\((\w+)\)s/g, (whole, name: string) => String(values[name] ?? whole));
}

export const say = {
  agent: () => gettext("Agent"),
  allowed: () => gettext("Allowed"),
  answerCopied: () => gettext("Answer copied"),
  arguments: () => gettext("Sent"),
  backToWriting: () => gettext("Put it back into the message field"),
  building: (names: string) => fill(gettext("Building %(names)s …"), { names }),
  cancel: () => gettext("Cancel"),
  canvas: () => gettext("Canvas"),
  close: () => gettext("Close"),
  codeCopied: () => gettext("Code copied"),
  connectionLost: () => gettext("Connection lost. Trying again …"),
  conversationArchived: () => gettext("Conversation archived"),
  conversationDeleted: () => gettext("Conversation deleted"),
  copyAnswer: () => gettext("Copy answer"),
  copyCode: () => gettext("Copy code"),
  copyFailed: () => gettext("Copying is not allowed here"),
  copyMessage: () => gettext("Copy message"),
  deniedTool: () => gettext("Denied"),
  doneTool: () => gettext("Done"),
  download: () => gettext("Download"),
  earlier: () => gettext("Show earlier messages"),
  earlierFailed: () => gettext("Earlier messages could not be loaded"),
  failedTool: () => gettext("Failed"),
  failure: () => gettext("Something went wrong before the answer was finished."),
  gone: () => gettext("This conversation is not available any more."),
  image: () => gettext("Image"),
  jump: () => gettext("Jump to latest"),
  milliseconds: (count: number) => fill(gettext("%(count)s ms"), { count }),
  noResult: () => gettext("Nothing was returned."),
  notSent: () => gettext("Not sent."),
  opensElsewhere: () => gettext("opens in a new tab"),
  plainText: () => gettext("text"),
  queuedTool: () => gettext("Queued"),
  result: () => gettext("Returned"),
  retry: () => gettext("Try again"),
  runningTool: () => gettext("Running"),
  saved: (version: number) => fill(gettext("Saved · version %(version)s"), { version }),
  savedPlain: () => gettext("Saved"),
  seconds: (count: string) => fill(gettext("%(count)s s"), { count }),
  send: () => gettext("Send"),
  sending: () => gettext("Sending …"),
  signedOut: () => gettext("You are signed out."),
  signIn: () => gettext("Sign in"),
  someoneAsked: (name: string) => fill(gettext("%(name)s asked"), { name }),
  stop: () => gettext("Stop"),
  stopped: () => gettext("Stopped"),
  thinking: () => gettext("Thinking …"),
  thought: () => gettext("Thoughts"),
  tools: (count: number) => ngettext("%s tool call", "%s tool calls", count).replace("%s", `${count}`),
  undo: () => gettext("Undo"),
  untitled: () => gettext("New conversation"),
  waiting: () => gettext("Waiting for a decision"),
  waitingTool: () => gettext("Waiting"),
  working: () => gettext("Working …"),
  wrapLines: () => gettext("Wrap lines"),
  writing: () => gettext("Writing …"),
  youAsked: () => gettext("You asked"),
} as const;
