import type { Answer } from '../../src/api/answer.ts';

/** The result of an answer; throws if it is a refusal. */
export function resultOf(answer: Answer | undefined): Record<string, unknown> {
  if (answer?.ok !== true) throw new Error(`refused: ${JSON.stringify(answer)}`);
  return { ...(answer.result as object) }; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** The token of a claim. */
export function tokenOf(claim: Answer | Record<string, unknown> | undefined): string {
  const result: Record<string, unknown> = isAnswer(claim) ? resultOf(claim) : (claim ?? {});
  const { token } = result;
  if (typeof token !== 'string') throw new Error(`not a claim: ${JSON.stringify(claim)}`);
  return token;
}

/** The exact text of a refusal, without its code. */
export function refusalOf(answer: Answer): string {
  if (answer.ok) throw new Error(`not refused: ${JSON.stringify(answer.result)}`);
  return `${answer.error.code}: ${answer.error.message}`;
}

function isAnswer(value: Answer | Record<string, unknown> | undefined): value is Answer {
  return value !== undefined && typeof value['ok'] === 'boolean';
}
