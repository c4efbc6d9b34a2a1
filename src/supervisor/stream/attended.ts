import type { TokenUsage, UsageEvent } from '../../streams/stream-event.ts';
import { CONVERSATION_FINDERS } from '../../streams/find-conversation.ts';
import { NOTHING_USED } from '../../streams/tally.ts';
import { TRANSCRIPT_READERS } from '../../streams/transcript.ts';
import type { Launch } from '../contract.ts';

/** What a client does in a person's terminal, as its own records tell it: nobody hears it there. */
export class TerminalUsage {
  readonly #launch: Launch;
  readonly #began = Date.now();
  readonly #since: string;
  #known: TokenUsage = NOTHING_USED;

  /** What came before `since` has been counted. A turn that was interrupted for the person has not. */
  constructor(launch: Launch, since: string) {
    this.#launch = launch;
    this.#since = since;
  }

  /** What it has used since the last time; undefined where nothing has come. */
  readNewUsage(conversation: string | null): UsageEvent | undefined {
    const { output, env } = this.#launch;
    if (output === 'text' || conversation === null) return undefined;
    const said = TRANSCRIPT_READERS[output]({
      conversation,
      since: this.#since,
      env: { ...process.env, ...env },
    });
    if (said === undefined || said.of === 'conversation') return said;
    const before = this.#known;
    this.#known = said.usage;
    return { ...said, usage: minus(said.usage, before) };
  }

  /** The conversation that was begun here, where no hook came to name it. */
  findConversation(): string | null {
    const { output, cwd, env } = this.#launch;
    if (output === 'text') return null;
    return CONVERSATION_FINDERS[output]({ since: this.#began, cwd, env: { ...process.env, ...env } });
  }
}

function minus(a: TokenUsage, b: TokenUsage): TokenUsage {
  return {
    input: Math.max(0, a.input - b.input),
    output: Math.max(0, a.output - b.output),
    cacheRead: Math.max(0, a.cacheRead - b.cacheRead),
    cacheWrite: Math.max(0, a.cacheWrite - b.cacheWrite),
    costMillicents: null,
  };
}
