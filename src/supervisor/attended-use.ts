import type { Usage, UsageSaid } from '../streams/said.ts';
import { NOTHING_USED } from '../streams/tally.ts';
import { TRANSCRIPTS } from '../streams/transcript.ts';
import type { Launch } from './contract.ts';

/** What a client has used in a person's terminal, as its own record tells it: each time what has come since the last. */
export class AttendedUse {
  readonly #launch: Launch;
  readonly #since = new Date().toISOString();
  #known: Usage = NOTHING_USED;

  constructor(launch: Launch) {
    this.#launch = launch;
  }

  /** Undefined where nothing has come. */
  take(conversation: string | null): UsageSaid | undefined {
    const { output, env } = this.#launch;
    if (output === 'text' || conversation === null) return undefined;
    const said = TRANSCRIPTS[output]({ conversation, since: this.#since, env: { ...process.env, ...env } });
    if (said === undefined || said.of === 'conversation') return said;
    const before = this.#known;
    this.#known = said.usage;
    return { ...said, usage: minus(said.usage, before) };
  }
}

function minus(a: Usage, b: Usage): Usage {
  return {
    input: Math.max(0, a.input - b.input),
    output: Math.max(0, a.output - b.output),
    cacheRead: Math.max(0, a.cacheRead - b.cacheRead),
    cacheWrite: Math.max(0, a.cacheWrite - b.cacheWrite),
    costMillicents: null,
  };
}
