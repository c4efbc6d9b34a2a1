import type { Problem } from '../protocol/shape/problem.ts';

/** Thrown by the reads and writes of a store that cannot do its work. The problem says why, and what to do. */
export class StoreProblem extends Error {
  override readonly name: string = 'StoreProblem';
  readonly problem: Problem;

  constructor(problem: Problem, cause?: unknown) {
    super(problem.message, { cause });
    this.problem = problem;
  }
}

/** The store does not answer for now. That says nothing about what it holds. */
export function isStoreUnavailable(error: unknown): error is StoreProblem {
  return error instanceof StoreProblem && AWAY.has(error.problem.code);
}

const AWAY: ReadonlySet<string> = new Set(['ledger/locked', 'ledger/unavailable']);
