import { describe, expect, it } from 'vitest';
import { given } from '../../../state/given.cases.ts';
import type { AgentRun } from '../../../state/runs/agent-run.ts';
import { agentPlan, startAgent } from '../../../state/runs/say.cases.ts';
import { operator } from '../../../state/say.cases.ts';
import { type AgentsParams, listAgents } from './agent-rows.ts';

const NOW = Date.parse('2026-01-01T01:00:00.000Z');
const usage = {
  conversation_id: null,
  model: 'sonnet',
  input_tokens: 60_000,
  output_tokens: 10_000,
  cached_tokens: 5000,
  cost_millicents: 42_000,
  turns: 3,
  waiting_tokens: 0,
};
const exit = {
  code: 0,
  signal: null,
  output: null,
  timedOut: false,
  blocksUsed: false,
  at: '2026-01-01T00:30:00.000Z',
};

/** a1 asks a person, a2 works, a3 is about to start, a4 is done, a5 has failed later. */
function world() {
  const { state } = given(
    ['a1', 'a2', 'a3', 'a4', 'a5'].map((id) => {
      return [startAgent(agentPlan({ model: 'opus', budget: { tokens: 100_000 } }), id), operator] as const;
    }),
  );
  const change = (id: string, more: Partial<AgentRun>): void => {
    const agent = state.agents.get(id);
    if (agent !== undefined) state.agents.set(id, { ...agent, ...more });
  };
  change('a1', { process: 'running', parked: 'd1' });
  change('a2', { process: 'running', usage });
  change('a4', { process: 'gone', outcome: 'done', exit });
  change('a5', { process: 'gone', outcome: 'failed', exit, requestedAt: '2026-01-01T00:10:00.000Z' });
  return state;
}

const list = (more: Partial<AgentsParams> = {}) => listAgents(world(), { show: 'all', from: 0, to: 100, ...more }, NOW);

describe('the list of agents', () => {
  it('shows those that ask a person first, and what is over last, newest first', () => {
    expect(list().rows.map(({ id, status }) => `${id} ${status}`)).toEqual([
      'a1 escalated',
      'a2 running',
      'a3 starting',
      'a5 failed',
      'a4 done',
    ]);
    expect(list({ show: 'running' }).rows.map(({ id }) => id)).toEqual(['a1', 'a2', 'a3']);
  });

  it('counts all, even those that it does not show', () => {
    expect(list({ show: 'running', to: 1 })).toMatchObject({
      total: 3,
      counts: { escalated: 1, running: 1, starting: 1, done: 1, failed: 1 },
    });
  });

  it('has the usage and the budget of each run', () => {
    const [, working, starting, failed] = list().rows;
    expect(working).toMatchObject({
      model: 'sonnet',
      tokens: 75_000,
      costMillicents: 42_000,
      budget: { measure: 'tokens', used: 75_000, limit: 100_000, percent: 75 },
      endedAt: null,
    });
    expect(starting).toMatchObject({ model: 'opus', tokens: null, costMillicents: null, budget: { percent: 0 } });
    expect(failed).toMatchObject({ endedAt: '2026-01-01T00:30:00.000Z' });
  });
});
