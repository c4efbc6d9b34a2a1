import { operationCommand } from './operation-command.ts';
import { readArgument } from './read-argument.ts';
import { fieldsOf } from './fields.ts';

export const emitExit = operationCommand({
  name: 'emit exit',
  summary: 'End your session with an exit signal',
  examples: [
    `baton emit exit '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}'`,
    'baton emit exit - < signal.json',
  ],
  args: [{ name: 'JSON|-', about: 'The signal; - is standard input' }],
  operation: 'exit_signal',
  input: async ({ args: [json = ''] }, io) => {
    if (json !== '-') return { value: json };
    const read = await readArgument('-', io);
    return 'usage' in read ? read : { value: new TextDecoder().decode(read.bytes) };
  },
  show: (result) => {
    const { next_phase, exit_reason } = fieldsOf(result);
    return `Accepted (${exit_reason}); the task is now ${next_phase}.\n`;
  },
});

export const emitAgentSignal = operationCommand({
  name: 'emit agent:signal',
  summary: 'Say how your run stands: complete, escalate or continue',
  examples: [`baton emit agent:signal '{"kind":"complete","message":"All tests pass"}'`],
  args: [{ name: 'JSON|-', about: 'The signal; - is standard input' }],
  options: [{ name: 'agent', value: 'ID', about: 'The agent, where the environment does not say' }],
  operation: 'agent_signal',
  input: async ({ args: [json = ''] }, io) => {
    if (json !== '-') return { value: json };
    const read = await readArgument('-', io);
    return 'usage' in read ? read : { value: new TextDecoder().decode(read.bytes) };
  },
  show: (result) => showSignal(fieldsOf(result)),
});

/** What follows from the signal, in words: whoever sent it should not have to ask. */
function showSignal({ kind, task_id, phase }: Record<string, string>): string {
  switch (kind) {
    case 'complete':
      return `Heard: ${task_id} is complete on your side. It is now ${phase}, and your claim has ended.\n`;
    case 'escalate':
      return `Heard: ${task_id} waits for a person. It is now ${phase}, and your claim has ended.\n`;
    default:
      return `Heard: you go on with ${task_id}. Your claim is renewed.\n`;
  }
}
