import { parseResult } from '../protocol/result.ts';
import { answerOf, badInput, type Handler } from './handler.ts';
import { order } from './task-handlers.ts';

/** The result of a mission, kept with the claim until the session ends. It is read strictly, as its own dialect. */
export const resultHandler: Handler = async (call) => {
  const parsed = parseResult(call.input);
  if (!parsed.ok) return badInput(parsed);
  const settled = await order(call, { kind: 'submit-result', command: { result: parsed.value } });
  return answerOf(settled, () => ({ status: parsed.value.status }));
};
