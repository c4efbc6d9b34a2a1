import type { ApiError } from '../../api/answer.ts';
import type { Client } from '../../api/client/client.ts';
import type { TaskWait } from '../../api/operations/task-work.ts';
import { createObserver, reportWhenAway, withClient } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { MAX_WAIT_MS, parseTimeout, WAIT_OPTIONS } from '../operation-input.ts';
import { untilInterrupted } from '../run/follow-entries.ts';
import { renderTable } from '../table.ts';
import { shortId } from '../text.ts';

export const taskWaitCommand: CliCommand = {
  examples: [
    'baton task wait P0.1.1',
    'baton task wait P0.1.1 P0.1.2 --timeout 10m',
    'baton task wait T1 T2 --any --json',
  ],
  args: [{ name: 'ID', about: 'The task' }],
  rest: { name: 'ID', about: 'More tasks' },
  options: [
    { name: 'any', about: 'Until one of the tasks is over or needs a person' },
    { name: 'all', about: 'Until each of them is; this is the default' },
    ...WAIT_OPTIONS,
    ...COMMON_OPTIONS,
  ],
  exitCodes: {
    0: 'all are done; with --any, the first one is',
    1: 'one was cancelled, or the time is up',
    3: 'one waits for a person',
    130: 'interrupted with Ctrl-C',
  },
  async run(given, io) {
    const ms = parseTimeout(given);
    if (typeof ms !== 'number') return ms;
    const isAny = given.options.has('any');
    if (isAny && given.options.has('all')) return { usage: '--any and --all exclude each other' };
    using interrupt = untilInterrupted();
    using observer = createObserver(given, io);
    using _away = reportWhenAway(io, observer);
    const until = performance.now() + ms;
    return await withClient(given, io, async (client) => {
      const waits = new TaskWaits(client, { signal: interrupt.signal, until });
      const ended = await (isAny ? waits.forAny(given.args) : waits.forAll(given.args));
      if (interrupt.signal.aborted) return EXIT.interrupted;
      if ('error' in ended) return reportError(ended.error, given, io);
      io.out(given.options.has('json') ? `${JSON.stringify({ tasks: ended.tasks })}\n` : renderWaits(ended.tasks));
      return exitCodeOf(isAny ? ended.tasks.filter(isSettled).slice(0, 1) : ended.tasks);
    });
  },
};

type WaitEnd = { readonly tasks: readonly TaskWait[] } | { readonly error: ApiError };

interface WaitOptions {
  readonly signal: AbortSignal;
  /** On the clock of `performance`. */
  readonly until: number;
}

/** Waits by calls that the daemon answers when something has happened. The client repeats a call whose daemon was restarted. */
class TaskWaits {
  readonly #client: Pick<Client, 'call'>;
  readonly #signal: AbortSignal;
  readonly #until: number;

  constructor(client: Pick<Client, 'call'>, { signal, until }: WaitOptions) {
    this.#client = client;
    this.#signal = signal;
    this.#until = until;
  }

  /** A task that waited for a person may go on while another one is waited for: then it is waited for again. */
  async forAll(ids: readonly string[]): Promise<WaitEnd> {
    for (;;) {
      const waited = await this.#each(ids, async (id) => this.#wait(id, this.#signal));
      const now = 'error' in waited || ids.length === 1 ? waited : await this.#each(ids, async (id) => this.#read(id));
      if ('error' in now || now.tasks.every(isSettled) || this.#isUp()) return now;
    }
  }

  async forAny(ids: readonly string[]): Promise<WaitEnd> {
    const found = new AbortController();
    const signal = AbortSignal.any([this.#signal, found.signal]);
    const waits = ids.map(async (id) => this.#wait(id, signal));
    const first = await Promise.race(waits);
    found.abort();
    await Promise.allSettled(waits);
    return 'error' in first ? first : this.#each(ids, async (id) => this.#read(id));
  }

  /** Until it is settled or the time is up: the daemon itself waits for a day at most. */
  async #wait(id: string, signal: AbortSignal): Promise<TaskEnd> {
    for (;;) {
      const left = Math.max(0, Math.min(MAX_WAIT_MS, Math.ceil(this.#until - performance.now())));
      const answer = await this.#client.call('task_wait', { task_id: id, wait_ms: left }, { signal });
      if (!answer.ok) return { error: answer.error };
      if (isSettled(answer.result) || this.#isUp() || signal.aborted) return { task: answer.result };
    }
  }

  async #read(id: string): Promise<TaskEnd> {
    const answer = await this.#client.call('task_wait', { task_id: id });
    return answer.ok ? { task: answer.result } : { error: answer.error };
  }

  async #each(ids: readonly string[], read: (id: string) => Promise<TaskEnd>): Promise<WaitEnd> {
    const ends = await Promise.all(ids.map(read));
    const failed = ends.find((end) => 'error' in end);
    return failed ?? { tasks: ends.flatMap((end) => ('task' in end ? [end.task] : [])) };
  }

  #isUp(): boolean {
    return performance.now() >= this.#until || this.#signal.aborted;
  }
}

type TaskEnd = { readonly task: TaskWait } | { readonly error: ApiError };

function isSettled({ state }: TaskWait): boolean {
  return state !== 'going';
}

/** A person who is needed comes first: nothing else goes on by itself. */
export function exitCodeOf(tasks: readonly Pick<TaskWait, 'state'>[]): number {
  if (tasks.some(({ state }) => state === 'waiting')) return EXIT.waiting;
  return tasks.length > 0 && tasks.every(({ state }) => state === 'done') ? EXIT.ok : EXIT.failed;
}

export function renderWaits(tasks: readonly TaskWait[]): string {
  const rows = tasks.map((task) => [task.task_id, STATES[task.state], task.phase, nextOf(task)]);
  return renderTable([['TASK', 'STATE', 'PHASE', 'NEXT'], ...rows]);
}

const STATES: Readonly<Record<TaskWait['state'], string>> = {
  going: 'still going',
  waiting: 'waits for a person',
  done: 'done',
  cancelled: 'cancelled',
};

function nextOf({ reason, decision_ids: [decision] }: TaskWait): string {
  return [reason ?? '', decision === undefined ? '' : `baton decision show ${shortId(decision)}`]
    .filter((part) => part !== '')
    .join('; ');
}
