import { beforeDeadline } from './deadline.ts';
import { type PostgresProblem, recovering, storeClosed } from './problems.ts';

/**
 * Lets a project's statements pass only on a server whose chain was compared with what this process knows: another
 * server, timeline or server start may lack entries.
 */
export interface GenerationGate {
  isOpen(generation: string): boolean;
  /** Resolves once the chain is open on that server. Rejects at the deadline, or if the chain cannot be opened. */
  open(generation: string, deadline: number): Promise<void>;
  /** Starts the comparison: other hosts wait for this one, even if it has nothing to read or write. */
  start(generation: string): void;
  /** Makes the next statement compare again, because another host has found a fork. */
  recheck(): void;
  close(): void;
}

/**
 * Compares the chains and opens the server. Resolves with undefined once the chain is open, else with the problem. It
 * is called again for the next statement, unless this process alone has found that entries are lost. Rejects if the
 * session is stale.
 */
export type OpenChain = (generation: string, signal: AbortSignal) => Promise<PostgresProblem | undefined>;

export function makeGenerationGate(openChain: OpenChain): GenerationGate {
  const closing = new AbortController();
  const running = new Map<string, Promise<'open'>>();
  let passed: string | undefined;
  let stopped: PostgresProblem | undefined;

  const compare = async (generation: string): Promise<'open'> => {
    const problem = await openChain(generation, closing.signal);
    if (problem?.problem.code === 'ledger/rolled-back') stopped = problem;
    if (problem !== undefined) throw problem;
    passed = generation;
    return 'open';
  };

  const run = (generation: string): Promise<'open'> => {
    const found = running.get(generation);
    if (found !== undefined) return found;
    const started = compare(generation).finally(() => running.delete(generation));
    // All callers may have stopped waiting at their deadline.
    started.catch(() => undefined);
    running.set(generation, started);
    return started;
  };

  return {
    isOpen: (generation) => generation === passed && stopped === undefined,
    async open(generation, deadline) {
      if (stopped !== undefined) throw stopped;
      if (closing.signal.aborted) throw storeClosed();
      if ((await beforeDeadline(run(generation), deadline)) === undefined) throw recovering();
    },
    start(generation) {
      if (generation !== passed && stopped === undefined && !closing.signal.aborted) void run(generation);
    },
    recheck() {
      passed = undefined;
    },
    close: () => closing.abort(),
  };
}
