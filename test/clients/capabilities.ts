/**
 * What Baton can do with each client, for people who choose one: the table of docs/clients.md. `npm run test:clients` runs the three real
 * programs and covers most of it. Seen by hand only: that Claude Code with an API key gives up on a long limit. Not tried: identical
 * answers of Gemini CLI, and the user's own GEMINI.md.
 */
interface Capabilities {
  readonly name: string;
  /** Where the hook that decides about stopping runs, and how it gets there. */
  readonly stopHook: string;
  readonly blocksInARow: string;
  readonly message: string;
  readonly resume: string;
  readonly attach: string;
  readonly tokens: string;
  /** Whether a tool waits while a budget is used up. */
  readonly hold: string;
  readonly cost: string;
  readonly errors: string;
  readonly endOfLimit: string;
  readonly permissions: string;
  readonly mcp: string;
  readonly instructions: string;
  readonly login: string;
}

const CAPABILITIES: Readonly<Record<'claude' | 'codex' | 'gemini' | 'command', Capabilities>> = {
  claude: {
    name: 'Claude Code',
    stopHook: 'HTTP, in a settings file of the run',
    blocksInARow: 'any number',
    message: 'at once, also in the middle of a turn',
    resume: 'yes, also after a crash',
    attach: 'its interactive mode, in your terminal',
    tokens: 'per turn, and per request in its transcript',
    hold: 'yes, at `PreToolUse`',
    cost: 'yes',
    errors: 'from its stream',
    endOfLimit: 'with a subscription; with an API key only short waits',
    permissions: 'asked of a person, who decides at the hook',
    mcp: 'listed at once',
    instructions: 'CLAUDE.md of the project',
    login: 'found as always; `apiKeyHelper` and `env` come along',
  },
  codex: {
    name: 'Codex',
    stopHook: 'a command, on the command line',
    blocksInARow: 'any number',
    message: 'when it next tries to stop, or by a resume',
    resume: 'yes, also after a crash',
    attach: 'its interactive mode, in your terminal',
    tokens: 'of the whole conversation, also inside a turn',
    hold: 'yes, at `PreToolUse`',
    cost: 'by a price list',
    errors: 'from its record of the conversation',
    endOfLimit: 'with a subscription',
    permissions: 'none: full access',
    mcp: 'found by its tool search',
    instructions: 'AGENTS.md',
    login: 'found as always, with all settings',
  },
  gemini: {
    name: 'Gemini CLI',
    stopHook: 'a command, in a home of its own',
    blocksInARow: 'any number of different answers',
    message: 'when it next tries to stop, or by a resume',
    resume: 'yes, also after a crash',
    attach: 'its interactive mode, in your terminal',
    tokens: 'per turn, and per request in its chat file',
    hold: 'yes, at `BeforeTool`',
    cost: 'by a price list',
    errors: 'from its stream and its exit code',
    endOfLimit: 'where the API names a wait',
    permissions: 'none: full access',
    mcp: 'listed at once',
    instructions: 'GEMINI.md of the project and of the user',
    login: 'linked; `security.auth`, `general`, `model`, `privacy` come along',
  },
  command: {
    name: 'any command',
    stopHook: 'none; it may ask with `baton agent hook stop`',
    blocksInARow: '–',
    message: 'on standard input',
    resume: 'started again',
    attach: 'line by line',
    tokens: 'no',
    hold: 'no',
    cost: 'no',
    errors: 'no',
    endOfLimit: 'no',
    permissions: 'its own',
    mcp: 'at `BATON_URL`',
    instructions: 'its own',
    login: 'its own',
  },
};

/** The table, a line for each question. */
export function renderCapabilities(): string {
  const clients = Object.values(CAPABILITIES);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [
    line(['', ...clients.map(({ name }) => name)]),
    `|${'---|'.repeat(clients.length + 1)}`,
    ...Object.entries(QUESTIONS).map(([key, question]) =>
      line([question, ...clients.map((client) => client[asKey(key)])]),
    ),
  ].join('\n');
}

const QUESTIONS: Readonly<Record<Exclude<keyof Capabilities, 'name'>, string>> = {
  stopHook: 'the stop hook',
  blocksInARow: 'blocks in a row',
  message: 'a message reaches it',
  resume: 'the same conversation goes on',
  attach: '`baton agent attach`',
  tokens: 'tokens',
  hold: 'held before a tool',
  cost: 'cost',
  errors: 'the kind of an API error is known',
  endOfLimit: 'the end of a rate limit is known',
  permissions: 'questions for permission',
  mcp: "Baton's MCP tools",
  instructions: 'instructions it reads',
  login: "the user's login",
};

function asKey(key: string): keyof Capabilities {
  // The keys of QUESTIONS are those of Capabilities, as its type says.
  return key as keyof Capabilities; // oxlint-disable-line typescript/no-unsafe-type-assertion
}
