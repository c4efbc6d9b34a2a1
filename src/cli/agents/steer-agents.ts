import { operationCommand, pickOptions } from '../operation-command.ts';
import { readArgument } from '../operation-input.ts';
import { fieldsIn, findText } from '../run/read-fields.ts';
import { shortId } from '../run/views.ts';
import { exitCodeOfOutcome, WAIT_EXIT_CODES, parseWaitInput, WAIT_OPTIONS } from '../wait.ts';
import { agentArgument, renderAgent } from './agents.ts';

export const agentSendCommand = operationCommand({
  name: 'agent send',
  summary: 'Send a message to an agent, in its conversation',
  examples: ['baton agent send 5d0e7b41 "Use the helper in src/time.ts"', 'baton agent send 5d0e7b41 - < message.txt'],
  args: [agentArgument, { name: 'TEXT|-', about: 'What it is told; - is standard input' }],
  operation: 'agent_send',
  input: async ({ args: [id, text = ''] }, io) => {
    if (text !== '-') return { value: { id, text } };
    const read = await readArgument('-', io);
    return 'usage' in read ? read : { value: { id, text: new TextDecoder().decode(read.bytes) } };
  },
  show: (_, { args: [id = ''] }) => `Sent to agent ${shortId(id)}.\n`,
});

export const agentWaitCommand = operationCommand({
  name: 'agent wait',
  summary: 'Wait until an agent is done or needs a person',
  examples: ['baton agent wait 5d0e7b41', 'baton agent wait 5d0e7b41 --timeout 600'],
  args: [agentArgument],
  options: WAIT_OPTIONS,
  operation: 'agent_show',
  input: parseWaitInput,
  show: (result) => renderAgent(fieldsIn(result)),
  exitCode: exitCodeOfOutcome,
  exitCodes: WAIT_EXIT_CODES,
});

export const agentKillCommand = operationCommand({
  name: 'agent kill',
  summary: 'Stop an agent and every process that it started',
  examples: ['baton agent kill 5d0e7b41 -m "it loops"'],
  args: [agentArgument],
  options: [{ name: 'message', short: 'm', value: 'TEXT', about: 'Why: it is recorded' }],
  operation: 'agent_kill',
  input: (given) => ({ value: { id: given.args[0], ...pickOptions(given, { message: 'reason' }) } }),
  show: (result, { args: [id = ''] }) => {
    const outcome = findText(fieldsIn(result)['outcome']);
    return `Agent ${shortId(id)} ${outcome === null ? 'is being stopped' : `has gone already: ${outcome}`}.\n`;
  },
});
