import type { ParsedArguments, Io } from './command.ts';
import { operationCommand } from './operation-command.ts';
import { readArgument } from './operation-input.ts';
import { printableFields } from './fields.ts';

export const emitExitCommand = operationCommand({
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
    const { next_phase, exit_reason } = printableFields(result);
    if (next_phase === 'null')
      return `Accepted (${exit_reason}); your session has ended, and the task keeps its phase.\n`;
    return `Accepted (${exit_reason}); the task is now ${next_phase}.\n`;
  },
});

const agentOption = {
  name: 'agent',
  value: 'ID',
  about: 'The agent; your own where the environment says which one you are',
} as const;

export const emitAgentSignalCommand = operationCommand({
  name: 'emit agent:signal',
  summary: 'Signal that your run is complete, escalates or continues',
  examples: [
    `baton emit agent:signal --agent 5d0e7b41 '{"kind":"complete","message":"All tests pass"}'`,
    'baton emit agent:signal - < signal.json',
  ],
  args: [{ name: 'JSON|-', about: 'The signal; - is standard input' }],
  options: [agentOption],
  operation: 'agent_signal',
  input: async (given, io) => {
    const [typed = ''] = given.args;
    const read = typed === '-' ? await readArgument('-', io) : { bytes: new TextEncoder().encode(typed) };
    if ('usage' in read) return read;
    const json = new TextDecoder().decode(read.bytes);
    return { value: addAgentId(json, agentIdOf(given, io)) };
  },
  show: (result) => renderSignal(printableFields(result)),
});

export const emitAgentIdleCommand = operationCommand({
  name: 'emit agent:idle',
  summary: 'Report that an agent waits for input',
  examples: ['baton emit agent:idle --agent 5d0e7b41'],
  options: [agentOption],
  operation: 'agent_idle',
  input: (given, io) => ({ value: agentIdOf(given, io) }),
  show: () => 'Heard: idle.\n',
});

export const emitAgentStopCommand = operationCommand({
  name: 'emit agent:stop',
  summary: 'Report that an agent tried to stop without a signal',
  examples: ['baton emit agent:stop --agent 5d0e7b41'],
  options: [agentOption],
  operation: 'agent_stop',
  input: (given, io) => ({ value: agentIdOf(given, io) }),
  show: () => 'Heard: stop.\n',
});

/** Whoever has a token is known by it; others are named by the option or by their environment. */
function agentIdOf({ options }: ParsedArguments, { env }: Io): { readonly agent_id?: string } {
  const named = options.get('agent') ?? (env['BATON_TOKEN'] ? undefined : env['BATON_AGENT_ID']);
  return named === undefined || named === '' ? {} : { agent_id: named };
}

/** JSON that cannot be read is passed on as it stands: the refusal names the place. */
function addAgentId(json: string, agent: { readonly agent_id?: string }): unknown {
  if (agent.agent_id === undefined) return json;
  try {
    const signal: unknown = JSON.parse(json);
    return typeof signal === 'object' && signal !== null && !Array.isArray(signal) ? { ...signal, ...agent } : json;
  } catch {
    return json;
  }
}

/** What follows from the signal, in words: whoever sent it should not have to ask. */
function renderSignal({ kind, task_id, phase, holds_claim }: Record<string, string>): string {
  if (task_id === undefined) return `Heard: ${kind}.\n`;
  if (kind === 'escalate' && holds_claim === 'true')
    return `Heard: a person is asked. You keep ${task_id} meanwhile.\n`;
  switch (kind) {
    case 'complete':
      return `Heard: ${task_id} is complete on your side. It is now ${phase}, and your claim has ended.\n`;
    case 'escalate':
      return `Heard: ${task_id} waits for a person. It is now ${phase}, and your claim has ended.\n`;
    default:
      return `Heard: you go on with ${task_id}. Your claim is renewed.\n`;
  }
}
