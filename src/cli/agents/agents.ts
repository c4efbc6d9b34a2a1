import type { AgentDetails } from '../../api/operations/runs.ts';
import { renderSandbox } from '../../protocol/sandbox.ts';
import { operationCommand, pickOptions } from '../operation-command.ts';
import { readTextArgument } from '../operation-input.ts';
import { columnsOf, renderAge } from '../status/paint.ts';
import { renderFacts, renderTable } from '../table.ts';
import { printable, shortId } from '../text.ts';

export const agentArgument = { name: 'ID', about: 'The agent, or the beginning of its id' } as const;

export const agentListCommand = operationCommand({
  examples: ['baton agent list', 'baton agent list --all'],
  options: [{ name: 'all', short: 'a', about: 'Include those that have ended' }],
  operation: 'agent_list',
  input: ({ options }) => ({ value: options.has('all') ? { all: true } : {} }),
  show: ({ agents }, { options }, io) => {
    if (agents.length === 0)
      return options.has('all') ? 'No agents.\n' : 'No running agents. Ended ones: baton agent list --all\n';
    const now = Date.now();
    const isFleet = agents.some(({ host }) => host !== undefined);
    const rows = agents.map((agent) => [
      shortId(agent.id),
      agent.name,
      agent.sandbox === null ? agent.status : `${agent.status} (${renderSandbox(agent.sandbox.kind)})`,
      ...(isFleet ? [agent.host ?? '-'] : []),
      agent.pipeline_id === null ? '-' : `${shortId(agent.pipeline_id)}:${agent.step ?? ''}`,
      agent.task_id ?? '-',
      renderAge(agent.requested_at, now),
      agent.reason ?? '',
    ]);
    const headings = ['ID', 'NAME', 'STATUS', ...(isFleet ? ['HOST'] : []), 'PIPELINE', 'TASK', 'AGE', 'REASON'];
    return renderTable([headings, ...rows], columnsOf(io));
  },
});

export const agentShowCommand = operationCommand({
  examples: ['baton agent show 5d0e7b41'],
  args: [agentArgument],
  operation: 'agent_show',
  input: ({ args: [id] }) => ({ value: { id } }),
  show: renderAgent,
});

function renderUsed(usage: AgentDetails['usage']): string | null {
  if (usage === null) return null;
  const from = [usage.model, usage.conversation_id].filter((each) => each !== null).join(', ');
  const { input_tokens: input, output_tokens: output, cached_tokens: cached } = usage;
  return `${input} tokens in, ${output} out, ${cached} cached${from === '' ? '' : ` (${from})`}`;
}

/** Describes how the last process failed, with its last line of output; null if it did not fail. */
function renderExit(exit: AgentDetails['exit']): string | null {
  if (exit === null) return null;
  const { code, signal, output } = exit;
  const how = signal !== null ? `signal ${signal}` : code !== null && code !== 0 ? `code ${code}` : null;
  const last = (output ?? '').trim().split('\n').at(-1) ?? '';
  return how === null || last === '' ? how : `${how}: ${last}`;
}

function renderAccess(sandbox: AgentDetails['sandbox']): string | null {
  if (sandbox === null) return null;
  const { kind, summary, limits } = sandbox;
  return kind === 'none' || limits === null ? summary : `${summary}, limits: ${limits}`;
}

function renderHost({ host, allowed, refused }: AgentDetails['hosts'][number]): string {
  const counts = [allowed === 0 ? '' : `${allowed} allowed`, refused === 0 ? '' : `${refused} refused`];
  return `${host} (${counts.filter((part) => part !== '').join(', ')})`;
}

export function renderAgent(agent: AgentDetails): string {
  const { id, name, decision_id, pipeline_id, step, pid, env_dropped } = agent;
  return renderFacts(`${name}  ${id}`, [
    ['status', agent.status],
    ['reason', agent.reason],
    ['decide', decision_id === null ? null : `baton decision show ${shortId(decision_id)}`],
    ['runs', agent.run],
    ['host', agent.host ?? null],
    ['sandbox', renderAccess(agent.sandbox)],
    ...(agent.sandbox?.notes ?? []).map((note) => ['', note] as const),
    ['hosts', agent.hosts.map(renderHost).join(', ')],
    ['attached', agent.attached],
    ['process', pid === null ? null : String(pid)],
    ['pipeline', pipeline_id === null ? null : `${shortId(pipeline_id)}, step ${step ?? ''}`],
    ['task', agent.task_id],
    ['worker', agent.worker],
    ['since', agent.requested_at],
    ['exit', renderExit(agent.exit)],
    ['used', renderUsed(agent.usage)],
    ['log', agent.log],
    ['not passed', env_dropped === null ? null : printable(env_dropped.join(', '))],
  ]);
}

export const agentSendCommand = operationCommand({
  examples: ['baton agent send 5d0e7b41 "Use the helper in src/time.ts"', 'baton agent send 5d0e7b41 - < message.txt'],
  args: [agentArgument, { name: 'TEXT|-', about: 'The message; - is standard input' }],
  operation: 'agent_send',
  input: async ({ args: [id, typed = ''] }, io) => {
    const { value: text } = await readTextArgument(typed, io);
    return { value: { id, text } };
  },
  show: (_, { args: [id = ''] }) => `Sent to agent ${shortId(id)}.\n`,
});

export const agentKillCommand = operationCommand({
  examples: ['baton agent kill 5d0e7b41 --reason "it loops"'],
  args: [agentArgument],
  options: [{ name: 'reason', value: 'TEXT', formerly: ['--message', '-m'], about: 'The reason, which is recorded' }],
  operation: 'agent_kill',
  input: (given) => ({ value: { id: given.args[0], ...pickOptions(given, { reason: 'reason' }) } }),
  show: ({ outcome }, { args: [id = ''] }) =>
    `Agent ${shortId(id)} ${outcome === undefined ? 'is being stopped' : `has already ended: ${outcome}`}.\n`,
});
