import { operationCommand, pickOptions } from '../operation-command.ts';
import { exitCodeOfOutcome, parseWaitInput, readArgument, WAIT_EXIT_CODES, WAIT_OPTIONS } from '../operation-input.ts';
import { type Fields, fieldsIn, findText, listIn, parseAgent, shortId, textIn } from '../run/views.ts';
import { renderAge } from '../status/paint.ts';
import { renderFacts, renderTable } from '../table.ts';
import { printable } from '../text.ts';

export const agentArgument = { name: 'ID', about: 'The agent, or the beginning of its id' } as const;

export const agentListCommand = operationCommand({
  name: 'agent list',
  summary: 'List the running agents, oldest first',
  examples: ['baton agent list', 'baton agent list --all'],
  options: [{ name: 'all', short: 'a', about: 'Also those that are over' }],
  operation: 'agent_list',
  input: ({ options }) => ({ value: options.has('all') ? { all: true } : {} }),
  show: (result) => {
    const agents = listIn(fieldsIn(result)['agents']).map(parseAgent);
    if (agents.length === 0) return 'No agents.\n';
    const now = Date.now();
    return renderTable(
      agents.map((agent) => [
        shortId(agent.id),
        agent.name,
        agent.status,
        agent.pipelineId === null ? '-' : `${shortId(agent.pipelineId)}:${agent.step ?? ''}`,
        agent.taskId ?? '-',
        renderAge(agent.since, now),
        agent.reason ?? '',
      ]),
    );
  },
});

export const agentShowCommand = operationCommand({
  name: 'agent show',
  summary: 'Show one agent',
  examples: ['baton agent show 5d0e7b41'],
  args: [agentArgument],
  operation: 'agent_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: (result) => renderAgent(fieldsIn(result)),
});

/** Tokens, as the client counts them; null where it says nothing. */
function renderUsed(usage: Fields): string | null {
  const { input_tokens: input, output_tokens: output, cached_tokens: cached, model, conversation_id: id } = usage;
  if (typeof input !== 'number' || typeof output !== 'number') return null;
  const from = [model, id].filter((each) => typeof each === 'string').join(', ');
  return `${input} tokens in, ${output} out, ${Number(cached)} cached${from === '' ? '' : ` (${from})`}`;
}

/** How its last process ended, where that was not well, and the last that it said. */
function renderExit({ code, signal, output }: Fields): string | null {
  const how =
    typeof signal === 'string' ? `signal ${signal}` : typeof code === 'number' && code !== 0 ? `code ${code}` : null;
  const words = textIn(output).trim().split('\n').at(-1) ?? '';
  return how === null || words === '' ? how : `${how}: ${words}`;
}

/** Names of the daemon's environment variables that it did not get. */
function renderDropped(names: unknown): string | null {
  const known = Array.isArray(names) ? names.filter((each) => typeof each === 'string') : [];
  return known.length === 0 ? null : printable(known.join(', '));
}

export function renderAgent(result: Fields): string {
  const { id, name, status, run, reason, decisionId, pipelineId, step, taskId, worker, since, pid, log, attached } =
    parseAgent(result);
  return renderFacts(`${name}  ${id}`, [
    ['status', status],
    ['reason', reason],
    ['decide', decisionId === null ? null : `baton decision show ${shortId(decisionId)}`],
    ['runs', run],
    ['attached', attached],
    ['process', pid],
    ['pipeline', pipelineId === null ? null : `${shortId(pipelineId)}, step ${step ?? ''}`],
    ['task', taskId],
    ['worker', worker],
    ['since', since],
    ['exit', renderExit(fieldsIn(result['exit']))],
    ['used', renderUsed(fieldsIn(result['usage']))],
    ['log', log],
    ['not passed', renderDropped(result['env_dropped'])],
  ]);
}

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
