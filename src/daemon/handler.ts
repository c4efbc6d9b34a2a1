import type { Answer, ApiError } from '../api/answer.ts';
import type { Parsed } from '../protocol/problem.ts';
import type { Call } from './call.ts';
import type { Settled } from './request.ts';

export type Handler = (call: Call) => Promise<Answer>;

/** A handler whose input has been checked against the operation's shape. */
export function handle<I>(
  operation: { readonly parse: (input: unknown) => Parsed<I> },
  run: (call: Call<I>) => Promise<Answer>,
): Handler {
  return async (call) => {
    const input = operation.parse(call.input);
    return input.ok ? run({ ...call, input: input.value }) : badInput(input);
  };
}

/** Everything that is wrong with an input, in one error: the first problem speaks, the others follow it. */
export function badInput(refused: Extract<Parsed<unknown>, { ok: false }>): Answer {
  return { ok: false, error: errorOf(refused) };
}

export function errorOf({ problems: [first, ...rest] }: Extract<Parsed<unknown>, { ok: false }>): ApiError {
  const message = [first, ...rest].map((each) => each.message).join('; ');
  return { code: first.code === 'too-large' ? 'too-large' : 'bad-request', message, hint: first.hint };
}

/** What the keeper settled, as an answer; `show` turns the decision's answer into what is sent. */
export function answerOf<A, R>(settled: Settled<A>, show: (answer: A) => R): Answer<R> {
  if (settled.ok) return { ok: true, result: show(settled.answer) };
  if ('refusal' in settled) return { ok: false, error: settled.refusal };
  const { message, hint } = settled.problem;
  return { ok: false, error: { code: 'store-unavailable', message, hint } };
}
