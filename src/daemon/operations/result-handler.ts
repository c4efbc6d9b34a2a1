import { parseResult } from '../../protocol/result.ts';
import { answerFor, inputErrorAnswer, type OperationHandler } from './handler.ts';
import { submitCommand } from './tasks.ts';

/** The result of a mission, kept with the claim until the session ends. It is read strictly, as its own dialect. */
export const resultHandler: OperationHandler = async (call) => {
  const parsed = parseResult(call.input);
  if (!parsed.ok) return inputErrorAnswer(parsed);
  const settled = await submitCommand(call, { kind: 'submit-result', command: { result: parsed.value } });
  return answerFor(settled, () => ({ status: parsed.value.status }));
};
