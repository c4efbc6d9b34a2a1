import { expect, it } from 'vitest';
import type { AgentDetails } from '../../api/operations/runs.ts';
import { renderAgent } from './agents.ts';

const agent: AgentDetails = {
  id: '5d0e7b41-1',
  name: 'coder',
  status: 'running',
  run: 'claude',
  role: null,
  pipeline_id: null,
  step: null,
  task_id: null,
  worker: null,
  on_stop: 'signal',
  process: 'running',
  start: 1,
  pid: 7,
  sandbox: null,
  attached: null,
  interactive: true,
  signal: null,
  decision_id: null,
  outcome: null,
  reason: null,
  exit: null,
  usage: null,
  requested_at: '2026-01-01T00:00:00.000Z',
  folder: '',
  log: '/log',
  env_dropped: null,
  hosts: [],
};

it('shows the sandbox of an agent with its notes, and the hosts that it asked for', () => {
  const notes = ['no pasta here: the network of the machine is used', '\u001B[2J'];
  const sandbox = {
    kind: 'bubblewrap',
    network: 'host',
    limits: 'cgroup v2',
    notes,
    summary: 'bubblewrap, network host',
  };
  const hosts = [
    { host: 'api.anthropic.com', allowed: 12, refused: 0 },
    { host: 'example.com', allowed: 1, refused: 3 },
  ];
  expect(renderAgent({ ...agent, sandbox, hosts })).toContain(`
  sandbox  bubblewrap, network host, limits: cgroup v2
           no pasta here: the network of the machine is used
           \\u001b[2J
  hosts    api.anthropic.com (12 allowed), example.com (1 allowed, 3 refused)
`);
});

it('shows that an agent has no sandbox, and nothing if there is no record', () => {
  const none = { kind: 'none', network: 'host', limits: 'none', notes: [], summary: 'no sandbox' };
  expect(renderAgent({ ...agent, sandbox: none })).toContain('\n  sandbox  no sandbox\n');
  expect(renderAgent(agent)).not.toContain('sandbox');
});
