/**
 * What Baton can do with a client, as questions with fixed answers. Each answer has a short form for tables and a
 * sentence that explains it: docs/agents.md, `baton agent clients` and `baton doctor` use the same words.
 */
export const QUESTIONS = {
  gate: {
    title: 'stop gate',
    answers: {
      'http-hook': ['HTTP hook', 'a hook of the client asks the supervisor over HTTP'],
      'command-hook': ['command hook', 'a hook of the client runs a command that asks the supervisor'],
      prompt: [
        'further prompt',
        'the end of a turn is a stop attempt; to block it, Baton sends a further prompt in the same session. ' +
          'The agent has no hook that it could switch off',
      ],
      none: ['none', 'the process can end at any time; it can ask with `baton agent hook stop`'],
    },
  },
  message: {
    title: 'a message arrives',
    answers: {
      'at-once': ['at once', 'even in the middle of a turn'],
      'next-stop': ['at its next stop', 'as the reason of a blocked stop, or as the prompt of the next turn'],
      stdin: ['on standard input', 'when the program reads it'],
    },
  },
  resume: {
    title: 'resume',
    answers: {
      conversation: ['same conversation', 'even after a crash'],
      'new-conversation': ['new conversation', 'a new process begins with the prompt and the message'],
      offered: ['if offered', 'the same conversation if the agent offers `session/load`'],
      process: ['new process', 'the program keeps its own state in `BATON_AGENT_DIR`'],
    },
  },
  attach: {
    title: '`attach`',
    answers: {
      terminal: ['yes', "the client's interactive mode, in your terminal"],
      lines: ['lines', 'only `baton agent attach --chat`'],
    },
  },
  permissions: {
    title: 'permission prompts',
    answers: {
      asked: ['`on_prompt`', 'a request for permission runs the handler `on_prompt`'],
      none: ['none', 'the client has full access to its sandbox'],
      'allowed-or-asked': [
        'allowed, or `on_prompt`',
        'Baton allows each request; with `acp.permissions = "ask"`, each request runs `on_prompt`',
      ],
      own: ['its own', 'Baton does not see them'],
    },
  },
  usage: {
    title: 'usage',
    answers: {
      request: ['each request', 'reported during the turn'],
      turn: ['each turn', 'reported at the end of the turn'],
      conversation: ['running total', 'reported at the end of each turn'],
      'last-request': ['last request', 'only the last request of each turn is reported, so the total is too low'],
      offered: ['if offered', 'as the agent reports it'],
      none: ['none', 'the client reports no tokens'],
    },
  },
  budget: {
    title: 'budget binds',
    answers: {
      held: [
        'before a tool',
        'the tool call waits for the decision about the budget; each open conversation can make one more request',
      ],
      request: ['after a request', 'Baton cancels the turn at the next report or tool call'],
      turn: ['after a turn', 'Baton holds the next turn, or cancels it at its first tool call'],
      offered: ['as reported', 'after a request or a turn; without reports, only `time` binds'],
      time: ['time only', 'a budget of tokens or cost is an error in the runbook'],
      end: ['at its end', 'the program runs to its end or to its `timeout`; the next step waits'],
    },
  },
  cost: {
    title: 'cost',
    answers: {
      reported: ['reported', 'by the client'],
      'price-list': ['price list', 'computed from tokens'],
      offered: ['if offered', 'reported, or computed from tokens'],
      none: ['unknown', 'the client reports no tokens to compute it from'],
    },
  },
  errors: {
    title: 'API errors',
    answers: {
      kind: ['kind known', 'read from fields of the output, and handled by `on_error`'],
      partly: ['partly', 'some kinds; other errors end the process'],
      none: ['unknown', 'an error ends the turn or the process'],
    },
  },
  limits: {
    title: 'end of a rate limit',
    answers: {
      subscription: ['with a subscription', 'with an API key, the client reports a short wait at most'],
      named: ['if named', 'the API may state a wait'],
      none: ['unknown', 'Baton waits one minute, and doubles the wait each time'],
    },
  },
  mcp: {
    title: 'MCP',
    answers: {
      http: ['HTTP', "the model sees Baton's tools at once"],
      search: ['HTTP, search', "the model must search for Baton's tools first"],
      stdio: ['stdio', 'the client starts `baton mcp`'],
      offered: ['HTTP or stdio', 'as the agent announces it'],
      address: ['address', 'at `$BATON_URL/mcp`'],
    },
  },
  verdict: {
    title: 'verdict',
    answers: {
      matched: [
        'matched',
        "the client's output has each tool call with its arguments, so Baton knows that the client sent the verdict. " +
          'It counts alone if the shell of the session is separate too',
      ],
      unnamed: [
        'confirmed by a person',
        'the protocol fixes neither how an agent names its calls of tools nor that it reports their whole arguments, ' +
          'so the client cannot prove that it sent its verdict, and a person confirms an approval',
      ],
      unreported: [
        'confirmed: reports no calls',
        'the program reports no calls of tools, so nothing proves who sent its verdict, and a person confirms an approval',
      ],
    },
  },
  sandbox: {
    title: 'sandbox',
    answers: {
      inside: ['inside', 'the client runs inside the sandbox of its session'],
      'own-off': [
        'inside, own off',
        'the client runs inside the sandbox of its session; its own sandbox, which would fail there or block the session, is off',
      ],
    },
  },
  shell: {
    title: "a judge's shell",
    answers: {
      separate: [
        'separate',
        'in a bubblewrap sandbox, the shell commands of a session that judges run in a second sandbox without its token',
      ],
      shared: ['shared', 'shell commands run in the sandbox of the client, which has its token'],
    },
  },
} as const;

type Questions = typeof QUESTIONS;
export type Question = keyof Questions;

/** The answers of one client. */
export type Answers = { readonly [Q in Question]: keyof Questions[Q]['answers'] };

interface Capabilities extends Answers {
  /** The client's hooks that Baton sets. */
  readonly hooks: readonly string[];
  /** Where the login comes from, in Markdown. */
  readonly login: string;
}

/** A client as people know it. */
export interface ClientProfile {
  readonly title: string;
  /** The program's name on the PATH; null if Baton brings it or the runbook names it. */
  readonly program: string | null;
  /** The name of its npm package. */
  readonly package: string | null;
  /** Versions that passed the client cases, oldest first. */
  readonly tested: readonly string[];
  /** Always set, even when Baton asks the client for its version. Switches off updates. */
  readonly env?: Readonly<Record<string, string>>;
  readonly capabilities: Capabilities;
}

/** A profile as an adapter states it. Whether a person can attach follows from the adapter itself. */
export interface AdapterProfile extends Omit<ClientProfile, 'capabilities'> {
  readonly capabilities: Omit<Capabilities, 'attach'>;
}

/** Returns the answer in a few words. */
export function renderAnswer(question: Question, { [question]: answer }: Answers): string {
  return wordsOf(question, answer)[0];
}

/** Returns the answer as a sentence. */
export function explainAnswer(question: Question, { [question]: answer }: Answers): string {
  const [short, about] = wordsOf(question, answer);
  return `${short}: ${about}`;
}

function wordsOf(question: Question, answer: string): readonly [string, string] {
  const answers: Readonly<Record<string, readonly [string, string]>> = QUESTIONS[question].answers;
  const words = answers[answer];
  if (words === undefined) throw new Error(`no words for ${question}: ${answer}`);
  return words;
}
