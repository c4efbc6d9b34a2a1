import { expect, it } from 'vitest';
import { findReader, findTargets, nameSession } from './sessions.ts';

const session = (id: string | null, status: 'running' | 'done' | 'escalated' | 'leaving' | null) => ({
  agent_id: id,
  agent: id === null ? null : `agent-${id}`,
  status,
});

it('chooses the newest agent that can read', () => {
  const sessions = [session('a', 'running'), session('b', 'running'), session('c', 'done'), session(null, null)];
  expect(findReader(sessions)).toEqual({ agentId: 'b', name: 'agent-b', isParked: false });
});

it('prefers the agent whose session is shown', () => {
  expect(findReader([session('a', 'escalated'), session('b', 'running')], 'a')).toMatchObject({
    agentId: 'a',
    isParked: true,
  });
});

it('chooses another agent if the preferred one has ended', () => {
  expect(findReader([session('a', 'done'), session('b', 'running')], 'a')?.agentId).toBe('b');
});

it('finds nobody among agents that have ended or are leaving, and claims by hand', () => {
  expect(findReader([session('a', 'done'), session('b', 'leaving'), session(null, null)])).toBeUndefined();
});

it('finds the newest open decision of the task', () => {
  const decisions = [
    { id: 'd1', status: 'open' },
    { id: 'd2', status: 'open' },
    { id: 'd3', status: 'resolved' },
  ];
  const task = { status: 'in_progress', sessions: [session('a', 'done')], decisions };
  expect(findTargets(task)).toEqual({ agent: undefined, decisionId: 'd2', isOver: false });
  expect(findTargets({ ...task, status: 'done' }).isOver).toBe(true);
  expect(findTargets(undefined)).toEqual({ agent: undefined, decisionId: undefined, isOver: false });
});

it('names a session by its role, else its agent, else its holder', () => {
  expect(nameSession({ role: 'reviewer', agent: 'claude', holder: 'x' }, 1)).toBe('session 2 (reviewer)');
  expect(nameSession({ role: null, agent: 'claude', holder: 'x' }, 0)).toBe('session 1 (claude)');
  expect(nameSession({ role: null, agent: null, holder: 'ann' }, 0)).toBe('session 1 (ann)');
});
