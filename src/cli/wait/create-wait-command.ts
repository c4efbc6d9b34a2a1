import type { Answer } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { RunWait, WaitedRun } from '../../api/operations/run-wait.ts';
import { createObserver, reportWhenAway, withClient } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { parseTimeout, WAIT_OPTIONS } from '../operation-input.ts';
import { printLong } from '../pager.ts';
import { untilInterrupted } from '../run/follow-entries.ts';
import { showElapsed } from '../show-elapsed.ts';
import { exitCodeOfWaits } from './render-waits.ts';
import { waitForRuns } from './wait-for-runs.ts';

interface WaitCommandOptions<T> extends Pick<CliCommand, 'examples'> {
  /** All ids are of this kind. */
  readonly kind?: WaitedRun['kind'];
  /** About the first id, and about those that follow. */
  readonly about: string;
  readonly more: string;
  /** Reads what is printed at the end. */
  readonly read: (ended: RunWait, client: Client) => Promise<Answer<T>>;
  /** One line of JSON each. */
  readonly json: (result: T) => readonly object[];
  readonly show: (result: T) => string;
  /** The documents that `json` makes. */
  readonly documents: NonNullable<CliCommand['json']>;
}

/** A command that waits for several runs. The daemon waits and answers once: nothing is polled. */
export function createWaitCommand<T>(options: WaitCommandOptions<T>): CliCommand {
  const { kind, examples, about, more, read, json, show, documents } = options;
  return {
    examples,
    args: [{ name: 'ID', about }],
    rest: { name: 'ID', about: more },
    options: [
      { name: 'any', about: 'Wait until one of them is over or needs a person' },
      { name: 'all', about: 'Wait until all of them are (default)' },
      ...WAIT_OPTIONS,
      ...COMMON_OPTIONS,
    ],
    json: documents,
    exitCodes: {
      0: 'all are done; with --any, the first one is',
      1: 'one failed or was cancelled, or the time is up',
      3: 'one waits for a person',
      130: 'interrupted with Ctrl-C; what runs continues',
    },
    async run(given, io) {
      const timeoutMs = parseTimeout(given);
      if (typeof timeoutMs !== 'number') return timeoutMs;
      const isAny = given.options.has('any');
      if (isAny && given.options.has('all')) return { usage: '--any and --all exclude each other' };
      using interrupt = untilInterrupted();
      using elapsed = showElapsed(io);
      using observer = createObserver(given, io);
      using _away = reportWhenAway(elapsed.io, observer);
      return await withClient(given, elapsed.io, async (client) => {
        const input = { ids: given.args, any: isAny, ...(kind === undefined ? {} : { kind }) };
        const ended = await waitForRuns(client, input, { signal: interrupt.signal, timeoutMs });
        if (interrupt.signal.aborted) return EXIT.interrupted;
        const found = ended.ok ? await read(ended.result, client) : ended;
        elapsed[Symbol.dispose]();
        if (!ended.ok) return reportError(ended.error, given, io);
        if (!found.ok) return reportError(found.error, given, io);
        if (given.options.has('json')) for (const line of json(found.result)) io.out(`${JSON.stringify(line)}\n`);
        else printLong(show(found.result), io);
        return exitCodeOfWaits(ended.result.waits, isAny);
      });
    },
  };
}

/** Reads each of them; the first error counts. */
export async function readEach<T>(
  waits: readonly WaitedRun[],
  read: (run: WaitedRun) => Promise<Answer<T>>,
): Promise<Answer<readonly T[]>> {
  const answers = await Promise.all(waits.map(read));
  const failed = answers.find((answer) => !answer.ok);
  return failed ?? { ok: true, result: answers.flatMap((answer) => (answer.ok ? [answer.result] : [])) };
}
