import { fieldsInJson } from '../protocol/shape/read-unknown.ts';
import { listKept, readKept } from '../api/outbox.ts';

/** Whether this agent's signal lies in the outbox: it has been given, only nobody has heard it yet. */
export function hasSignalInOutbox(outbox: string, token: string): boolean {
  return listKept(outbox).some((name) => {
    const call = readKept(outbox, name);
    return call?.token === token && isFinalSignal(call.operation, call.input);
  });
}

/** Whether this call says that the agent has done what it could: `continue` does not. */
export function isFinalSignal(operation: string, input: string): boolean {
  if (operation === 'exit_signal') return true;
  if (operation !== 'agent_signal') return false;
  const { kind } = fieldsInJson(input);
  return kind === 'complete' || kind === 'escalate';
}
