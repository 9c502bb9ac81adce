// Every text the browser code shows. `gettext` and `ngettext` come from Django's catalogue
// (/texts.js); without it, in tests, the English text stands.

interface Catalogue {
  gettext?: (text: string) => string;
  ngettext?: (one: string, many: string, count: number) => string;
}

const catalogue = globalThis as Catalogue;

export function gettext(text: string): string {
  return catalogue.gettext?.(text) ?? text;
}

export function ngettext(one: string, many: string, count: number): string {
  return catalogue.ngettext?.(one, many, count) ?? (count === 1 ? one : many);
}

export function fill(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replace(/%(?:\((\w+)\)s|%)/g, (whole, name: string | undefined) =>
    name === undefined ? "%" : String(values[name] ?? whole),
  );
}

export const say = {
  agent: () => gettext("Agent"),
  answerCopied: () => gettext("Answer copied"),
  approvalExpired: () => gettext("Nobody decided in time. It did not run."),
  approvalNeeded: () => gettext("Approval needed"),
  approvalOver: () => gettext("Expired"),
  approvalSuperseded: () => gettext("No longer needed. It did not run."),
  approvalWithdrawn: () => gettext("You withdrew this request. It did not run."),
  approvedOnce: () => gettext("You approved this call once"),
  approveOnce: () => gettext("Approve once"),
  arguments: () => gettext("Sent"),
  askAgain: () => gettext("Try again"),
  askedBy: () => gettext("Asked by"),
  askMeNow: () => gettext("Ask me now"),
  backToWriting: () => gettext("Put it back into the message field"),
  byApproval: () => gettext("Approval"),
  byBudget: () => gettext("Budget"),
  byCeiling: () => gettext("The agent’s ceiling"),
  byMember: () => gettext("Your rights"),
  byOffer: () => gettext("What the agent was offered"),
  byPolicy: () => gettext("Administrators’ policy"),
  byRepeat: () => gettext("Repeated calls"),
  bySchema: () => gettext("What the tool accepts"),
  cancel: () => gettext("Cancel"),
  canvas: () => gettext("Canvas"),
  codeCopied: () => gettext("Code copied"),
  compacted: (before: number, after: number) =>
    fill(gettext("Earlier messages were summarised: %(before)s tokens became %(after)s"), { before, after }),
  compactedPlain: () => gettext("Earlier messages were summarised"),
  connectionLost: () => gettext("Connection lost. Trying again …"),
  contextFull: (percent: number) =>
    fill(gettext("%(percent)s%% of the model’s memory is used"), { percent }),
  contextTokens: (used: string, all: string) =>
    fill(gettext("%(used)s of %(all)s tokens"), { used, all }),
  conversationArchived: () => gettext("Conversation archived"),
  conversationDeleted: () => gettext("Conversation deleted"),
  copyAnswer: () => gettext("Copy answer"),
  copyCode: () => gettext("Copy code"),
  copyFailed: () => gettext("Copying is not allowed here"),
  copyMessage: () => gettext("Copy message"),
  deniedByYou: () => gettext("You denied this call"),
  deniedTool: () => gettext("Denied"),
  deny: () => gettext("Deny"),
  denyReason: () => gettext("Why not?"),
  denyReasonHint: () => gettext("Why not? The agent reads it. Optional."),
  doneTool: () => gettext("Done"),
  download: () => gettext("Download"),
  earlierFailed: () => gettext("Earlier messages could not be loaded"),
  editHint: () => gettext("Ctrl Enter asks anew, Esc leaves"),
  editMessage: () => gettext("Edit message"),
  editQuestion: () => gettext("Edit your question"),
  editWaiting: () => gettext("Edit"),
  effectRead: () => gettext("Only reads"),
  effectSensitive: () => gettext("Sensitive"),
  effectWrite: () => gettext("Changes data"),
  exactArguments: () => gettext("Exactly this"),
  expiresIn: (left: string) => fill(gettext("Expires in %(left)s"), { left }),
  failedTool: () => gettext("Failed"),
  failure: () => gettext("Something went wrong before the answer was finished."),
  gone: () => gettext("This conversation is not available any more."),
  goOn: () => gettext("Continue"),
  goOnMessage: () => gettext("Continue where you stopped."),
  inConversation: () => gettext("In"),
  messageCopied: () => gettext("Message copied"),
  milliseconds: (count: number) => fill(gettext("%(count)s ms"), { count }),
  noResult: () => gettext("Nothing was returned."),
  notSent: () => gettext("Not sent."),
  ofCalls: (over: number, all: number) => fill(gettext("%(over)s of %(all)s"), { over, all }),
  note: (label: string) => fill(gettext("Note %(label)s"), { label }),
  openImage: () => gettext("Open image"),
  opensElsewhere: () => gettext("opens in a new tab"),
  outsideImage: (host: string) => fill(gettext("Image on %(host)s"), { host }),
  plainText: () => gettext("text"),
  queued: () => gettext("Queued"),
  queuedTool: () => gettext("Queued"),
  queueInstead: () => gettext("Queue it instead"),
  removeWaiting: () => gettext("Remove"),
  result: () => gettext("Returned"),
  retry: () => gettext("Try again"),
  runningTool: () => gettext("Running"),
  runsAs: () => gettext("Runs as"),
  save: () => gettext("Save"),
  saved: (version: number) => fill(gettext("Saved · version %(version)s"), { version }),
  savedPlain: () => gettext("Saved"),
  seconds: (count: string) => fill(gettext("%(count)s s"), { count }),
  send: () => gettext("Send"),
  sendAsMessage: () => gettext("Send as a message"),
  sending: () => gettext("Sending …"),
  signedOut: () => gettext("You are signed out."),
  signIn: () => gettext("Sign in"),
  someoneAsked: (name: string) => fill(gettext("%(name)s asked"), { name }),
  steering: () => gettext("Steering"),
  steerInstead: () => gettext("Steer with it now"),
  steerRead: () => gettext("You added"),
  steerUnread: () => gettext("The answer ended before this was read"),
  stop: () => gettext("Stop"),
  stopped: () => gettext("Stopped"),
  summingUp: () => gettext("Summing up earlier messages …"),
  target: () => gettext("Target"),
  taskDone: () => gettext("Done:"),
  taskOpen: () => gettext("To do:"),
  thinking: () => gettext("Thinking …"),
  thought: () => gettext("Thoughts"),
  tokens: (count: string) => fill(gettext("%(count)s tokens"), { count }),
  tokensInOut: (input: string, output: string) =>
    fill(gettext("%(input)s read, %(output)s written"), { input, output }),
  tools: (count: number) => ngettext("%s tool call", "%s tool calls", count).replace("%s", `${count}`),
  unasked: (label: string) =>
    fill(gettext("“%(label)s” waits for you to be here before it is asked."), { label }),
  undo: () => gettext("Undo"),
  untitled: () => gettext("New conversation"),
  versionAfter: () => gettext("Next version"),
  versionBefore: () => gettext("Previous version"),
  versions: (number: number, count: number) =>
    fill(gettext("Version %(number)s of %(count)s"), { number, count }),
  waiting: () => gettext("Waiting for your decision"),
  waitingTool: () => gettext("Waiting"),
  why: () => gettext("Why?"),
  whyAllowed: () => gettext("allowed it"),
  whyAsks: () => gettext("asks for approval"),
  whyDenied: () => gettext("denied it"),
  whyNarrowed: () => gettext("narrowed it"),
  withdraw: () => gettext("Withdraw"),
  working: () => gettext("Working …"),
  wrapLines: () => gettext("Wrap lines"),
  writing: () => gettext("Writing …"),
  youAsked: () => gettext("You asked"),
} as const;
