import type { LoopMeasure } from '../../api/all-clear.ts';
import type { Answer, ApiError } from '../../api/answer.ts';
import type { Operation } from '../../api/operations/operation.ts';
import type { ProjectOperationName, ResultOf } from '../../api/operations/registry.ts';
import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import type { CommandKind } from '../../protocol/command-access.ts';
import type { AdviseSandbox } from '../../protocol/sandbox.ts';
import type { Parsed, Problem } from '../../protocol/shape/problem.ts';
import { actorOf, type Caller } from '../../state/caller.ts';
import { type AnswerOf, type CommandOf, decide } from '../../state/decide.ts';
import { decided, type Outcome, type Refusal } from '../../state/outcome.ts';
import type { State } from '../../state/state.ts';
import type { HostClock } from '../fleet/host-clock.ts';
import type { Log } from '../log.ts';
import type { CommandResult, DecideContext } from '../loop/request.ts';
import type { Project } from '../project/project.ts';
import type { Rulebook } from '../rules/rulebook.ts';
import type { RunbookWatch } from '../rules/runbook-watch.ts';

export interface Call<I = unknown> {
  readonly project: Project;
  readonly input: I;
  readonly caller: Caller;
  readonly services: Services;
  readonly key?: string;
  /** The call is from the outbox, and its turn has come. */
  readonly isKept?: boolean;
  readonly signal?: AbortSignal;
}

export interface Services {
  readonly newId: () => string;
  readonly issueToken: (session: { sessionId: string; taskId: string; epoch: number; project: string }) => string;
  readonly git: GitPort;
  /** The working file, which is only a proposal: nothing starts by it. */
  readonly runbook: RunbookWatch;
  /** The adopted runbooks, by which everything starts. */
  readonly rulebook: Rulebook;
  /** The project's flag for exit signals. Sessions of the built-in workflow use `usesExitProtocol`. */
  readonly exitProtocol: boolean;
  readonly log: Log;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly monotonicMs: () => number;
  readonly loop: LoopMeasure;
  /** Corrected by the database's clock in a fleet. */
  readonly clock: HostClock;
  readonly now: () => Date;
  /** Returns which sandbox works on this machine. */
  readonly adviseSandbox: AdviseSandbox;
}

export type OperationHandler<R = unknown> = (call: Call) => Promise<Answer<R>>;
export type Handlers = { readonly [N in ProjectOperationName]: OperationHandler<ResultOf<N>> };

export function handlerFor<I, R>(
  { parse }: Operation<string, I, R>,
  run: (call: Call<I>) => Promise<Answer<NoInfer<R>>>,
): OperationHandler<R> {
  return async (call) => {
    const input = parse(call.input);
    return input.ok ? run({ ...call, input: input.value }) : inputErrorAnswer(input);
  };
}

export function reads<I, R>(
  operation: Operation<string, I, R>,
  look: (view: DecideContext, call: Call<I>) => Outcome<NoInfer<R>>,
): OperationHandler<R> {
  return handlerFor(operation, async (call) => {
    const settled = await call.project.commandLoop.read((view) => look(view, call));
    return settled.ok ? answerFor(settled.answer, (result) => result) : refusalOf(settled);
  });
}

export function submits<I, R, K extends CommandKind>(
  operation: Operation<string, I, R, K>,
  commandOf: (input: I, call: Call<I>) => PayloadOf<K>,
  show: (answer: AnswerOf<K>, input: I, call: Call<I>) => NoInfer<R>,
): OperationHandler<R> {
  return handlerFor(operation, async (call) => {
    const command = commandFor(operation, commandOf(call.input, call));
    return answerFor(await submitCommand(call, command), (answer) => show(answer, call.input, call));
  });
}

/**
 * Like `submits`, for a run or decision named by an id prefix, which is resolved when the command is decided. `prepare`
 * runs once.
 */
export function steers<T, I, R, K extends CommandKind>(
  operation: Operation<string, I, R, K>,
  find: (state: State, input: I) => FoundRun<T>,
  prepare: (input: I, call: Call<I>) => (run: T) => PayloadOf<K>,
  show: (answer: AnswerOf<K>, call: Call<I>) => NoInfer<R>,
): OperationHandler<R> {
  return handlerFor(operation, async (call) => {
    const commandOf = prepare(call.input, call);
    const settled = await call.project.commandLoop.submit<AnswerOf<K>>({
      actor: actorOf(call.caller),
      ...keyOf(call),
      decide: ({ state, rules, here }) => {
        const found = find(state, call.input);
        if (!found.ok) return found;
        return decide(state, commandFor(operation, commandOf(found.run)), call.caller, rules, here);
      },
    });
    return answerFor(settled, (answer) => show(answer, call));
  });
}

export type FoundRun<T> = { readonly ok: true; readonly run: T } | { readonly ok: false; readonly refusal: Refusal };
type PayloadOf<K extends CommandKind> = CommandOf<K>['command'];

function commandFor<K extends CommandKind>(
  { command: kind }: { readonly command?: K },
  command: PayloadOf<K>,
): CommandOf<K> {
  // Only operations that declare the command K get here, so the pair is a command.
  return { kind, command } as CommandOf<K>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** Submits a command for the caller; `complete` may add to the same commit. */
export async function submitCommand<K extends CommandKind>(
  call: Call,
  command: CommandOf<K>,
  complete: (outcome: Outcome<AnswerOf<K>>, view: DecideContext) => Outcome<AnswerOf<K>> = (outcome) => outcome,
): Promise<CommandResult<AnswerOf<K>>> {
  return call.project.commandLoop.submit<AnswerOf<K>>({
    actor: actorOf(call.caller),
    ...keyOf(call),
    decide: (view) => complete(decide(view.state, command, call.caller, view.rules, view.here), view),
  });
}

export function keyOf({ key }: Pick<Call, 'key'>): { readonly key?: string } {
  return key === undefined ? {} : { key };
}

export function unchanged<A>(answer: A): Outcome<A> {
  return decided([], answer);
}

/** Combines all problems of an input in one error. The first one decides the code and the hint. */
export function inputErrorAnswer(refused: Extract<Parsed<unknown>, { ok: false }>): Refused {
  return { ok: false, error: inputErrorOf(refused) };
}

export type Refused = Extract<Answer, { ok: false }>;

export function inputErrorOf({ problems: [first, ...rest] }: Extract<Parsed<unknown>, { ok: false }>): ApiError {
  const message = [first, ...rest].map((each) => each.message).join('; ');
  return { code: SPECIFIC_CODES.has(first.code) ? first.code : 'bad-request', message, hint: first.hint };
}

const SPECIFIC_CODES: ReadonlySet<string> = new Set(['too-large', 'runbook/usage']);

export function answerFor<A, R>(settled: CommandResult<A>, show: (answer: A) => R): Answer<R> {
  return settled.ok ? { ok: true, result: show(settled.answer) } : refusalOf(settled);
}

export function refusalOf(settled: Extract<CommandResult<unknown>, { ok: false }>): Refused {
  return { ok: false, error: 'refusal' in settled ? settled.refusal : storeUnavailableError(settled.problem) };
}

export function problemAnswer({ code, message, hint }: Pick<Problem, 'code' | 'message' | 'hint'>): Refused {
  return { ok: false, error: { code, message, hint } };
}

/** The error after which callers with an outbox keep the call. */
export function storeUnavailableError({ message, hint }: Pick<Problem, 'message' | 'hint'>): ApiError {
  return { code: 'store-unavailable', message, hint };
}

export interface GitPort {
  /** Copies a commit to Baton's own repository. Returns why that failed. */
  keepCommit(own: Pick<OwnRepositoryImporter, 'with'>, sha: string): Promise<Problem | undefined>;
}
