import { printable } from '../text.ts';
import { operationCommand } from '../operation-command.ts';
import { fieldsIn, listIn, textIn, type Fields } from '../run/read-fields.ts';
import { renderFacts, renderTable } from '../table.ts';
import { parseAgent, shortId } from '../run/views.ts';
import { renderAge } from '../status/ago.ts';

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
