import type { Answer } from '../api/answer.ts';
import type { Io } from './command.ts';

interface HealthSource {
  call(operation: string, input: unknown, options: { readonly signal: AbortSignal }): Promise<Answer>;
}

/**
 * Shows at a terminal how far the first copy of a repository is while a command waits for it. One line per ten percent: the lines stand
 * between those of the command.
 */
export function reportCopying(
  io: Pick<Io, 'err' | 'isTerminal'>,
  client: HealthSource,
  lookMs = COPYING_POLL_MS,
): Disposable {
  const over = new AbortController();
  let said = '';
  let timer = io.isTerminal ? setTimeout(look, lookMs) : undefined;

  function look(): void {
    void client.call('status_get', {}, { signal: over.signal }).then((answer) => {
      if (over.signal.aborted) return;
      const progress = parseProgress(answer);
      if (progress !== undefined && stepOf(progress) !== said) io.err(`Copying the repository: ${progress}\n`);
      if (progress !== undefined) said = stepOf(progress);
      timer = setTimeout(look, lookMs);
    });
  }

  return {
    [Symbol.dispose]: () => {
      over.abort();
      clearTimeout(timer);
    },
  };
}

const COPYING_POLL_MS = 1000;

function parseProgress(answer: Answer): string | undefined {
  const { result } = answer.ok ? answer : { result: undefined };
  const isThere = typeof result === 'object' && result !== null && 'importing' in result;
  return isThere && typeof result.importing === 'string' ? result.importing : undefined;
}

/** What is being done, and the tens of its percentage. */
function stepOf(progress: string): string {
  const [, what = progress, percent = ''] = /^(.*?)(\d+)%/.exec(progress) ?? [];
  return `${what.trim()} ${percent === '' ? '' : Math.floor(Number(percent) / 10)}`;
}
