import type { Answer, ApiError } from '../../api/answer.ts';
import type { Parsed, Problem } from '../../protocol/shape/problem.ts';
import type { Call } from './call.ts';
import type { CommandResult } from '../loop/request.ts';

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
