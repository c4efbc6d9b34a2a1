import type { LoopMeasure } from '../../api/all-clear.ts';
import type { Answer, ApiError } from '../../api/answer.ts';
import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import type { Parsed, Problem } from '../../protocol/shape/problem.ts';
import type { Caller } from '../../state/caller.ts';
import type { Log } from '../log.ts';
import type { CommandResult } from '../loop/request.ts';
import type { Project } from '../project/project.ts';
import type { Rulebook } from '../rules/rulebook.ts';
import type { RunbookWatch } from '../rules/runbook-watch.ts';

/** One call of one operation, with everything that it may look at. */
export interface Call<I = unknown> {
  readonly project: Project;
  readonly input: I;
  readonly caller: Caller;
  readonly services: Services;
  /** A retry with the same key gets the first answer. */
  readonly key?: string;
  /** It comes from the outbox, in its turn. */
  readonly isKept?: boolean;
  /** Aborted when the caller has gone away. */
  readonly signal?: AbortSignal;
}

/** What calls need besides their project: chance, secrets and git come from outside. */
export interface Services {
  readonly newId: () => string;
  readonly issueToken: (session: { sessionId: string; taskId: string; epoch: number; project: string }) => string;
  readonly git: GitPort;
  /** The working file: what operators start, and what has no part in a gate. */
  readonly runbook: RunbookWatch;
  /** The adopted runbooks: what gates, merges and workers go by. */
  readonly rulebook: Rulebook;
  /** The project's flag for exit signals: see `exitProtocolEnabled`; sessions of the built-in workflow go by `usesExitProtocol`. */
  readonly exitProtocol: boolean;
  readonly log: Log;
  /** The daemon's own. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly monotonicMs: () => number;
  /** Whether the daemon's event loop turns. */
  readonly loop: LoopMeasure;
  readonly now: () => Date;
}

export type OperationHandler = (call: Call) => Promise<Answer>;

/** A handler whose input has been checked against the operation's shape. */
export function handlerFor<I>(
  operation: { readonly parse: (input: unknown) => Parsed<I> },
  run: (call: Call<I>) => Promise<Answer>,
): OperationHandler {
  return async (call) => {
    const input = operation.parse(call.input);
    return input.ok ? run({ ...call, input: input.value }) : inputErrorAnswer(input);
  };
}

/** Everything that is wrong with an input, in one error: the first problem speaks, the others follow it. */
export function inputErrorAnswer(refused: Extract<Parsed<unknown>, { ok: false }>): Answer {
  return { ok: false, error: inputErrorOf(refused) };
}

export function inputErrorOf({ problems: [first, ...rest] }: Extract<Parsed<unknown>, { ok: false }>): ApiError {
  const message = [first, ...rest].map((each) => each.message).join('; ');
  return { code: SPECIFIC_CODES.has(first.code) ? first.code : 'bad-request', message, hint: first.hint };
}

/** Codes that say more than that a request is bad: too large, or not what the command of a runbook takes. */
const SPECIFIC_CODES: ReadonlySet<string> = new Set(['too-large', 'runbook/usage']);

/** What the keeper settled, as an answer; `show` turns the decision's answer into what is sent. */
export function answerFor<A, R>(settled: CommandResult<A>, show: (answer: A) => R): Answer<R> {
  if (settled.ok) return { ok: true, result: show(settled.answer) };
  if ('refusal' in settled) return { ok: false, error: settled.refusal };
  return { ok: false, error: storeUnavailableError(settled.problem) };
}

/** The store cannot be read or written for now. Callers that have an outbox keep the call. */
export function storeUnavailableError({ message, hint }: Pick<Problem, 'message' | 'hint'>): ApiError {
  return { code: 'store-unavailable', message, hint };
}

/** What the daemon asks of git. The room `git/` answers; tests may answer for it. */
export interface GitPort {
  /** Copies a commit into Baton's own repository. Undefined if it is there, whole; else why it cannot be. */
  keepCommit(own: Pick<OwnRepositoryImporter, 'with'>, sha: string): Promise<Problem | undefined>;
}
