import type { ResultOf } from '../api/operations/registry.ts';
import type { Io, ParsedArguments } from './command.ts';
import { numberOption, operationCommand, SELF_APPROVE_OPTION, selfApprovalCall } from './operation-command.ts';
import { readArgument, readDocumentArgument, readTextArgument } from './operation-input.ts';
import { columnsOf } from './status/paint.ts';
import { renderTable } from './table.ts';
import { printable, printableLines, shortId } from './text.ts';

export const resultSubmitCommand = operationCommand({
  examples: ['baton result submit .baton/session/result.yaml', 'cat result.yaml | baton result submit -'],
  args: [{ name: 'FILE|-', about: 'The result, YAML or JSON' }],
  operation: 'result_submit',
  sendsMessage: true,
  input: async ({ args: [file = '-'] }, io) => readDocumentArgument(file, 'result', io),
  show: ({ status }) => `Accepted: ${status}.\n`,
});

export const handoffSendCommand = operationCommand({
  examples: ['baton handoff send .baton/session/handoff-to-reviewer-agent.xml'],
  args: [{ name: 'FILE|-', about: 'The handoff, XML' }],
  options: [{ name: 'task', value: 'ID', about: 'Operators only: the task of the handoff' }, SELF_APPROVE_OPTION],
  before: (given) => selfApprovalCall(given.options.get('task'), given),
  operation: 'handoff_send',
  sendsMessage: true,
  input: async ({ args: [file = '-'], options }, io) => {
    const read = await readArgument(file, io);
    if ('usage' in read) return read;
    const task_id = options.get('task');
    const handoff = new TextDecoder().decode(read.bytes);
    return { value: { handoff, ...(task_id === undefined ? {} : { task_id }) } };
  },
  show: ({ held, task_id: id }) => {
    const task_id = printable(id);
    return held === true ? `Held until the session on ${task_id} ends.\n` : `Delivered for ${task_id}.\n`;
  },
});

/** Prints a blank message, to redirect into a file. */
const template = { operation: 'form_get', show: ({ text }: ResultOf<'form_get'>) => printableLines(text) } as const;
const templateTask = { name: 'TASK', about: 'The task (default: that of your claim)', optional: true } as const;

export const thoughtTemplateCommand = operationCommand({
  ...template,
  examples: ['baton thought template > record.yaml', 'baton thought template P0.1.1'],
  args: [templateTask],
  input: ({ args: [task_id] }) => ({ value: { kind: 'record', ...(task_id === undefined ? {} : { task_id }) } }),
});

export const resultTemplateCommand = operationCommand({
  ...template,
  examples: ['baton result template > result.yaml'],
  args: [templateTask],
  input: ({ args: [task_id] }) => ({ value: { kind: 'result', ...(task_id === undefined ? {} : { task_id }) } }),
});

export const handoffTemplateCommand = operationCommand({
  ...template,
  examples: ['baton handoff template reviewer-agent > handoff.xml', 'baton handoff template'],
  args: [{ name: 'TO', about: 'The receiver, such as reviewer-agent (default: all)', optional: true }],
  options: [{ name: 'task', value: 'ID', about: 'The task (default: that of your claim)' }],
  input: ({ args: [to], options }) => {
    const task_id = options.get('task');
    return { value: { kind: 'handoff', ...(to === undefined ? {} : { to }), ...(task_id && { task_id }) } };
  },
});

export const missionShowCommand = operationCommand({
  examples: ['baton mission show'],
  operation: 'mission_get',
  input: () => ({ value: {} }),
  show: (mission) => `${printableLines(JSON.stringify(mission, null, 2))}\n`,
});

export const handoffListCommand = operationCommand({
  examples: ['baton handoff list', 'baton handoff list W-00001'],
  args: [{ name: 'TASK', about: 'Only handoffs of this task', optional: true }],
  operation: 'handoff_list',
  input: ({ args: [task_id] }) => ({ value: task_id === undefined ? {} : { task_id } }),
  show: ({ handoffs }, _given, io) => {
    const rows = handoffs.map(({ handoff_id, task_id, status, from, to, reason }) => [
      shortId(handoff_id),
      task_id,
      status,
      `${from} → ${to ?? 'workflow-complete'}`,
      reason ?? '',
    ]);
    if (rows.length === 0) return 'No handoffs.\n';
    return renderTable([['ID', 'TASK', 'STATUS', 'FROM → TO', 'REASON'], ...rows], columnsOf(io));
  },
});

export const handoffShowCommand = operationCommand({
  examples: ['baton handoff show 5d0e7b41'],
  args: [{ name: 'ID', about: 'The handoff, or the beginning of its id' }],
  operation: 'handoff_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: ({ from, to, status, reason, xml }) => {
    const head = `${from} → ${to ?? 'workflow-complete'}, ${status}${reason ? `: ${reason}` : ''}`;
    return [head, '', ...xml.split('\n')].map((line) => `${printable(line)}\n`).join('');
  },
});

export const thoughtRecordCommand = operationCommand({
  examples: ['baton thought record record.json', 'cat record.yaml | baton thought record -'],
  args: [{ name: 'FILE|-', about: 'The thought record, JSON or YAML' }],
  options: [{ name: 'epoch', value: 'N', about: 'Operators only: record for the holder of this claim' }],
  operation: 'thought_record',
  sendsMessage: true,
  input: async (given, io) => {
    const record = await readDocumentArgument(given.args[0] ?? '-', 'thought', io);
    if (!('value' in record)) return record;
    const epoch = numberOption(given, 'epoch');
    if ('usage' in epoch) return epoch;
    return { value: { ...record.value, ...(epoch.value === undefined ? {} : { epoch: epoch.value }) } };
  },
  show: ({ record_id, task_id }) => `Recorded ${record_id} for ${printable(task_id)}.\n`,
});

export const thoughtListCommand = operationCommand({
  examples: ['baton thought list P0.1.1'],
  args: [{ name: 'TASK', about: 'The task' }],
  operation: 'thought_list',
  input: ({ args: [task_id] }) => ({ value: { task_id } }),
  show: ({ records }) => {
    if (records.length === 0) return 'No records.\n';
    return renderTable([['ID', 'COMMIT', 'SEE', 'NOTE'], ...records.map(thoughtRow)]);
  },
});

function thoughtRow({ id, seq, commitSha, reinstates }: ResultOf<'thought_list'>['records'][number]): string[] {
  return [shortId(id), commitSha.slice(0, 12), `baton ledger show ${seq}`, reinstates ? 'reinstates the task' : ''];
}

export const mergeCommand = operationCommand({
  examples: ['baton merge W-00001'],
  options: [SELF_APPROVE_OPTION],
  before: (given) => selfApprovalCall(given.args[0], given),
  args: [{ name: 'TASK', about: 'The task (default: that of your claim)', optional: true }],
  operation: 'merge_request',
  input: ({ args: [task_id] }) => ({ value: task_id === undefined ? {} : { task_id } }),
  show: ({ task_id }) => `Requested the merge of ${printable(task_id)}. Follow it: baton ledger log -f\n`,
});

export const emitExitCommand = operationCommand({
  examples: [
    `baton emit exit '{"protocol":"apm2_agent_exit","version":"1.0.0","phase_completed":"IMPLEMENTATION","exit_reason":"completed"}'`,
    'baton emit exit - < signal.json',
  ],
  args: [{ name: 'JSON|-', about: 'The signal; - is standard input' }],
  operation: 'exit_signal',
  sendsMessage: true,
  input: async ({ args: [json = ''] }, io) => readTextArgument(json, io),
  show: ({ next_phase, exit_reason }) => {
    if (next_phase === null)
      return `Accepted (${exit_reason}); your session has ended, and the task keeps its phase.\n`;
    return `Accepted (${exit_reason}); the task is now ${next_phase}.\n`;
  },
});

const agentOption = { name: 'agent', value: 'ID', about: 'The agent (default: BATON_AGENT_ID)' } as const;

export const emitAgentSignalCommand = operationCommand({
  examples: [
    `baton emit agent:signal --agent 5d0e7b41 '{"kind":"complete","message":"All tests pass"}'`,
    'baton emit agent:signal - < signal.json',
  ],
  args: [{ name: 'JSON|-', about: 'The signal; - is standard input' }],
  options: [agentOption],
  operation: 'agent_signal',
  sendsMessage: true,
  input: async (given, io) => {
    const { value: json } = await readTextArgument(given.args[0] ?? '', io);
    return { value: addAgentId(json, agentIdOf(given, io)) };
  },
  show: renderSignal,
});

export const emitAgentIdleCommand = operationCommand({
  examples: ['baton emit agent:idle --agent 5d0e7b41'],
  options: [agentOption],
  operation: 'agent_idle',
  input: (given, io) => ({ value: agentIdOf(given, io) }),
  show: () => 'Recorded: idle.\n',
});

export const emitAgentStopCommand = operationCommand({
  examples: ['baton emit agent:stop --agent 5d0e7b41'],
  options: [agentOption],
  operation: 'agent_stop',
  input: (given, io) => ({ value: agentIdOf(given, io) }),
  show: () => 'Recorded: stop.\n',
});

/** A token identifies its caller. Without one, the option or the environment names the agent. */
function agentIdOf({ options }: ParsedArguments, { env }: Io): { readonly agent_id?: string } {
  const named = options.get('agent') ?? (env['BATON_TOKEN'] ? undefined : env['BATON_AGENT_ID']);
  return named === undefined || named === '' ? {} : { agent_id: named };
}

/** Invalid JSON is sent unchanged, because the daemon's error names the position. */
function addAgentId(json: string, agent: { readonly agent_id?: string }): unknown {
  if (agent.agent_id === undefined) return json;
  try {
    const signal: unknown = JSON.parse(json);
    return typeof signal === 'object' && signal !== null && !Array.isArray(signal) ? { ...signal, ...agent } : json;
  } catch {
    return json;
  }
}

function renderSignal({ kind, task_id: id, phase, holds_claim }: ResultOf<'agent_signal'>): string {
  if (id === undefined) return `Recorded: ${kind}.\n`;
  const task_id = printable(id);
  if (kind === 'continue') return `Recorded: you continue ${task_id}. Your claim is renewed.\n`;
  if (kind === 'complete')
    return `Recorded: your part of ${task_id} is complete. It is now ${phase}, and your claim has ended.\n`;
  if (holds_claim === true) return `Recorded: a person is asked. You keep ${task_id} meanwhile.\n`;
  return `Recorded: ${task_id} waits for a person. It is now ${phase}, and your claim has ended.\n`;
}
