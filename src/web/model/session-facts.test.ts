import { expect, it } from 'vitest';
import type { AgentDetails } from '../../api/operations/runs.ts';
import type { SessionView } from '../../api/operations/task-view.ts';
import { parseSessionId, sessionFacts } from './session-facts.ts';

const session: SessionView = {
  epoch: 3, session_id: 's', agent_id: 'a', agent: 'claude', run: 'claude', status: 'done', role: 'fixer', holder: 'claude',
  principal: 'agent:claude', model: 'm1', sandbox: 'bubblewrap', started_at: '2026-01-01T00:00:00Z', ended_at: '2026-01-01T00:05:00Z',
  how: 'completed', reason: null, processes: 2, blocks: 1, resumes: 0, tokens: 10, cost_millicents: 5, turns: 4,
}; // prettier-ignore

const agent: AgentDetails = {
  id: 'a', name: 'builder', status: 'running', run: 'codex', role: null, pipeline_id: null, step: null, task_id: null, worker: null,
  on_stop: 'signal', process: 'running', start: 1, pid: 1, sandbox: null, attached: null, interactive: false, signal: null,
  decision_id: null, outcome: null, reason: null, exit: null, requested_at: '2026-01-01T00:00:01Z', folder: '', log: '', env_dropped: null, hosts: [],
  usage: { conversation_id: null, model: 'm2', input_tokens: 1, output_tokens: 2, cached_tokens: 3, cost_millicents: null, turns: 7, waiting_tokens: 0 },
}; // prettier-ignore

it('reads ids of agents and of claims by hand', () => {
  expect(parseSessionId('5d0e7b41-aaaa')).toEqual({ kind: 'agent', agentId: '5d0e7b41-aaaa' });
  expect(parseSessionId('P0.1.1:7')).toEqual({ kind: 'claim', taskId: 'P0.1.1', epoch: 7 });
  expect(parseSessionId('a:b:12')).toEqual({ kind: 'claim', taskId: 'a:b', epoch: 12 });
});

it('shows an agent without a task by its own numbers', () => {
  expect(sessionFacts(agent, undefined)).toMatchObject({
    name: 'builder', state: 'running', run: 'codex', model: 'm2', tokens: 6, turns: 7, costMillicents: null, endedAt: null, holder: null,
  }); // prettier-ignore
});

it('shows an agent with a task by the numbers of its session', () => {
  expect(sessionFacts(agent, session)).toMatchObject({
    name: 'builder',
    role: 'fixer',
    tokens: 10,
    turns: 4,
    how: 'completed',
    blocks: 1,
  });
});

it('shows a claim by hand by its holder, and by how it ended', () => {
  const hand = { ...session, agent_id: null, agent: null, status: null, holder: 'ann', principal: 'operator:ann' };
  expect(sessionFacts(undefined, hand)).toMatchObject({
    name: 'ann',
    state: 'completed',
    holder: 'operator:ann',
    turns: null,
    blocks: null,
  });
  expect(sessionFacts(undefined, { ...hand, how: null }).state).toBe('running');
});
