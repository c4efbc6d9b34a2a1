import { isDefaultNetwork } from './access.ts';
import { describe, expect, it } from 'vitest';
import type { AgentPlan } from '../protocol/run-plan.ts';
import { commandNetworkOf, DEFAULT_SANDBOX, networkOf, renderPolicy, sandboxOf, secretVariables } from './access.ts';
import { describeSecrets } from './describe-secrets.ts';
import { runbookOf } from './render.cases.ts';
import type { Runbook } from './runbook.ts';

const agentOf = (runbook: Runbook, name = 'a'): AgentPlan => runbook.agents.get(name) ?? { name, run: '' };
const GIB = 1024 ** 3;

describe('the sandbox of an agent', () => {
  it('is auto with the default limits if nothing is set', () => {
    const runbook = runbookOf({ agents: { a: { run: './a' } } });
    expect(sandboxOf(runbook, agentOf(runbook))).toEqual(DEFAULT_SANDBOX);
    expect(sandboxOf(runbook)).toEqual(DEFAULT_SANDBOX);
  });

  it('has its own fields before those of the project, and the paths of both', () => {
    const runbook = runbookOf({
      sandbox: { mode: 'container', image: 'debian', read: ['/a'], hide: ['x'], memory: '512MB', processes: 99 },
      agents: { a: { run: './a', sandbox: { nested: true, read: ['~/b', '/a'], memory: '2GB' } } },
    });
    expect(sandboxOf(runbook, agentOf(runbook))).toEqual({
      mode: 'container',
      image: 'debian',
      read: ['/a', '~/b'],
      write: [],
      hide: ['x'],
      nested: true,
      processes: 99,
      memory_bytes: 2 * GIB,
      disk_bytes: 20 * GIB,
    });
  });
});

describe('the network', () => {
  const runbook = runbookOf({
    network: { policy: 'model', local: [5432], checks: ['registry.example.com'] },
    agents: {
      a: { run: 'claude', prompt: 'x' },
      b: { run: 'claude', prompt: 'x', network: { local: [80] } },
      c: { run: 'claude', prompt: 'x', network: ['example.com'] },
      prep: {},
      validator: {},
    },
  });

  it.each<[string, object]>([
    ['a', { policy: 'model', hosts: [], local: [5432] }],
    ['b', { policy: 'model', hosts: [], local: [80] }],
    ['c', { policy: ['example.com'], hosts: [], local: [5432] }],
    // Built-in roles that run the project's commands follow the network of those.
    ['prep', { policy: 'dev', hosts: [], local: [5432] }],
    ['validator', { policy: ['registry.example.com'], hosts: [], local: [5432] }],
  ])('of the agent %s is %j', (name, expected) => {
    expect(networkOf(runbook, agentOf(runbook, name))).toEqual(expected);
  });

  it('is `dev` if nobody has chosen one, and `full` by rules that were adopted before there was `dev`', () => {
    const own = runbookOf({ agents: { a: { run: 'claude', prompt: 'x' } } });
    const earlier = { ...own, network: { ...own.network, fallback: 'full' as const } };
    const policies = (each: typeof own) => [
      networkOf(each, agentOf(each, 'a')).policy,
      ...(['step', 'install', 'checks'] as const).map((kind) => commandNetworkOf(each, kind).policy),
    ];
    expect(policies(own)).toEqual(['dev', 'dev', 'dev', 'none']);
    expect(policies(earlier)).toEqual(['full', 'full', 'full', 'none']);
    expect([isDefaultNetwork(own), isDefaultNetwork(own, { policy: 'dev' }), isDefaultNetwork(runbook)]).toEqual([
      true,
      false,
      false,
    ]);
  });

  it('of commands depends on what they are for', () => {
    expect(commandNetworkOf(runbook, 'step').policy).toBe('model');
    expect(commandNetworkOf(runbook, 'install').policy).toBe('dev');
    expect(commandNetworkOf(runbook, 'checks').policy).toEqual(['registry.example.com']);
    expect(commandNetworkOf(runbook, 'checks', 'full').policy).toBe('full');
    expect(commandNetworkOf(runbookOf({}), 'checks').policy).toBe('none');
    expect(['full' as const, ['a.org', 'b.org'], []].map(renderPolicy)).toEqual(['full', 'a.org, b.org', 'none']);
  });
});

describe('injected secrets', () => {
  const runbook = runbookOf({
    secrets: {
      ANTHROPIC_API_KEY: { env: 'MY_KEY', inject: 'header' },
      OPENAI_API_KEY: { env: 'OPENAI_API_KEY', inject: 'header' },
    },
    agents: { own: { run: 'node agent.mjs' } },
  });

  it('reach no agent under either name', () => {
    expect(secretVariables(runbook)).toEqual(['ANTHROPIC_API_KEY', 'MY_KEY', 'OPENAI_API_KEY']);
  });

  it('come with a note about agents that cannot use them, and secrets that no agent uses', () => {
    expect(describeSecrets(runbook)).toEqual([
      'no agent uses the injected secret OPENAI_API_KEY: it is for codex',
      'agent own cannot use injected secrets: Baton knows no base URL setting for its command, only for claude, codex, gemini',
    ]);
    expect(describeSecrets(runbookOf({ agents: { own: { run: 'x' } } }))).toEqual([]);
  });
});
