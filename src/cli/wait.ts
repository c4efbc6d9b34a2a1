import { EXIT, type ParsedArguments } from './command.ts';
import { numberOption, type CommandInput } from './operation-command.ts';
import { fieldsIn, textIn } from './run/read-fields.ts';

export const WAIT_OPTIONS = [
  { name: 'timeout', value: 'SECONDS', about: 'Wait no longer than this; the exit code is then 1' },
] as const;

export const WAIT_EXIT_CODES = {
  0: 'done',
  1: 'failed, cancelled, or still under way',
  3: 'waiting for a person',
} as const;

/** A day: the daemon waits no longer. */
const LONGEST_MS = 86_400_000;

export function parseWaitInput(given: ParsedArguments): CommandInput {
  const timeout = numberOption(given, 'timeout');
  if ('usage' in timeout) return timeout;
  const waitMs = timeout.value === undefined ? LONGEST_MS : Math.min(LONGEST_MS, Math.ceil(timeout.value * 1000));
  return { value: { id: given.args[0], wait_ms: Math.max(0, waitMs) } };
}

/** The exit code for how a pipeline or an agent stands. */
export function exitCodeOfOutcome(result: unknown): number {
  const { status, outcome } = fieldsIn(result);
  // An agent that is about to leave has its outcome already.
  const word = textIn(outcome ?? status);
  if (word === 'done') return EXIT.ok;
  return word === 'waiting' || word === 'escalated' ? EXIT.waiting : EXIT.failed;
}
