import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import { listKept, readKept } from '../api/outbox.ts';

export function hasSignalInOutbox(outbox: string, token: string): boolean {
  return listKept(outbox).some((name) => {
    const call = readKept(outbox, name);
    return call?.token === token && isFinalSignal(call.operation, call.input);
  });
}

/** Reports whether this call is a signal that ends the agent's work; `continue` is not. */
export function isFinalSignal(operation: string, input: string): boolean {
  if (operation === 'exit_signal') return true;
  if (operation !== 'agent_signal') return false;
  const { kind } = fieldsInJson(input);
  return kind === 'complete' || kind === 'escalate';
}
