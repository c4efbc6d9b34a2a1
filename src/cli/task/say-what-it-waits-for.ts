import { createObserver } from '../ask.ts';
import type { ParsedArguments, Io } from '../command.ts';
import { fieldsIn } from '../run/read-fields.ts';
import { whyNobodyClaims } from './show-task.ts';

/** Whoever waits for a task that nobody can claim now is told why, once; one that can be claimed at once is claimed in silence. */
export function reportBlockers(taskId: string, given: ParsedArguments, io: Io): Disposable {
  const gone = new AbortController();
  const timer = setTimeout(() => {
    void (async () => {
      const client = createObserver(given, io);
      const answer = await client.call('task_get', { task_id: taskId }, { signal: gone.signal });
      client.close();
      const why = answer.ok && !gone.signal.aborted ? whyNobodyClaims(fieldsIn(answer.result)) : undefined;
      if (why !== undefined) io.err(`Waiting: ${why}\n`);
    })();
  }, AT_ONCE_MS);
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      gone.abort();
    },
  };
}

const AT_ONCE_MS = 500;
