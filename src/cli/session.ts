import { printableFields } from './fields.ts';
import { operationCommand } from './operation-command.ts';
import { printable } from './text.ts';
import { readArgument, readDocumentArgument } from './operation-input.ts';
import type { Io } from './command.ts';
import { SELF_APPROVE_OPTION, selfApprovalCall } from './self-approve.ts';

/** What a session sends before it ends, from a file. The daemon reads it, strictly, as its own dialect. */
export const resultSubmitCommand = operationCommand({
  name: 'result submit',
  summary: 'Submit the result of your mission; the newest counts',
  examples: ['baton result submit .baton/session/result.yaml', 'cat result.yaml | baton result submit -'],
  args: [{ name: 'FILE|-', about: 'The result, YAML or JSON' }],
  operation: 'result_submit',
  input: async ({ args: [file = '-'] }, io) => readDocumentArgument(file, 'result', io),
  show: (result) => `Accepted: ${printable(String(printableFields(result)['status']))}.\n`,
});

export const handoffSendCommand = operationCommand({
  name: 'handoff send',
  summary: 'Send a handoff; it takes effect when your session ends',
  examples: ['baton handoff send .baton/session/handoff-to-reviewer-agent.xml'],
  args: [{ name: 'FILE|-', about: 'The handoff, XML' }],
  options: [{ name: 'task', value: 'ID', about: 'Operators: the task it is about' }, SELF_APPROVE_OPTION],
  before: (given) => selfApprovalCall(given.options.get('task'), given),
  operation: 'handoff_send',
  input: async ({ args: [file = '-'], options }, io) => {
    const read = await readText(file, io);
    const task_id = options.get('task');
    if (!('value' in read)) return read;
    return { value: { handoff: read.value, ...(task_id === undefined ? {} : { task_id }) } };
  },
  show: (result) => {
    const { held, task_id } = printableFields(result);
    return held === 'true' ? `Held until the session on ${task_id} ends.\n` : `Delivered for ${task_id}.\n`;
  },
});

export const missionShowCommand = operationCommand({
  name: 'mission show',
  summary: 'Show what your session is asked to do',
  examples: ['baton mission show'],
  operation: 'mission_get',
  input: () => ({ value: {} }),
  show: (result) => `${JSON.stringify(result, null, 2).split('\n').map(printable).join('\n')}\n`,
});

async function readText(file: string, io: Io): Promise<{ readonly value: string } | { readonly usage: string }> {
  const read = await readArgument(file, io);
  return 'usage' in read ? read : { value: new TextDecoder().decode(read.bytes) };
}
