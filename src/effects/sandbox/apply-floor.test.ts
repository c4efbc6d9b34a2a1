import { describe, expect, it } from 'vitest';
import type { NetworkPlan } from '../../protocol/sandbox.ts';
import { NO_PERSONAL } from '../../runbook/personal/personal.ts';
import type { PersonalSettings } from '../context.ts';
import { findBelowFloor, narrowPorts, narrowReach, raiseMode } from './apply-floor.ts';
import { resolveNetwork } from './resolve-network.ts';

const settings = (floor: Partial<PersonalSettings['floor']>): PersonalSettings => ({
  ...NO_PERSONAL,
  floor: { ...NO_PERSONAL.floor, ...floor },
  path: '/home/ada/.config/baton/config.toml',
  problem: null,
});

describe('the floor of the sandbox', () => {
  it.each([
    ['none', 'none', 'none'],
    ['bubblewrap', 'none', 'auto'],
    ['bubblewrap', 'user', 'auto'],
    ['bubblewrap', 'container', 'container'],
    ['user', 'none', 'auto'],
    ['user', 'user', 'user'],
    ['bubblewrap', 'auto', 'auto'],
  ] as const)('%s: a project that asks for %s gets %s', (sandbox, asked, expected) => {
    expect(raiseMode(asked, settings({ sandbox }))).toBe(expected);
  });

  it('is above a sandbox with the network of the machine, if the floor narrows the network', () => {
    const personal = settings({ network: { policy: ['example.com'] } });
    expect((['none', 'user', 'container'] as const).map((mode) => raiseMode(mode, personal))).toEqual([
      'auto',
      'auto',
      'container',
    ]);
    expect(findBelowFloor('user', personal)).toContain('(floor.network in');
  });

  it('refuses what is weaker, and names the file', () => {
    expect(findBelowFloor('none', settings({ sandbox: 'user' }))).toMatch(
      /^no sandbox works here, and .* at least user \(floor\.sandbox in \/home\/ada/,
    );
    expect(findBelowFloor('user', settings({ sandbox: 'bubblewrap' }))).toContain('is user');
    expect(findBelowFloor('container', settings({ sandbox: 'bubblewrap' }))).toBeUndefined();
  });
});

describe('the floor of the network', () => {
  const hosts = (...list: string[]) => ({ kind: 'proxy', hosts: list }) as const;
  const FULL = { kind: 'full', hosts: [] } as const;
  const NONE = { kind: 'none', hosts: [] } as const;

  it.each([
    [FULL, FULL, FULL],
    [FULL, hosts('a.com'), hosts('a.com')],
    [FULL, NONE, NONE],
    [NONE, FULL, NONE],
    [hosts('a.com'), FULL, hosts('a.com')],
    [hosts('a.com'), NONE, NONE],
    [hosts('a.com', 'b.com'), hosts('b.com', 'c.com'), hosts('b.com')],
    [hosts('*.a.com'), hosts('x.a.com'), hosts('x.a.com')],
    [hosts('x.a.com', 'a.com'), hosts('*.a.com'), hosts('x.a.com')],
  ])('%j below %j is %j', (asked, floor, expected) => {
    expect(narrowReach(asked, floor)).toEqual(expected);
  });

  it('allows the ports that it lists, and none if it narrows the network', () => {
    expect(narrowPorts([1, 2], { policy: 'full' })).toEqual([1, 2]);
    expect(narrowPorts([1, 2], { policy: 'full', local: [2] })).toEqual([2]);
    expect(narrowPorts([1, 2], { policy: 'model' })).toEqual([]);
  });

  it('is not widened by an address in the variables of the runbook', () => {
    const env = { ANTHROPIC_BASE_URL: 'https://example.com' };
    const own = { run: 'claude', env, person: { env: {}, urls: [] }, port: null } as const;
    const reach = (floor: NetworkPlan, policy: 'full' | 'model') => {
      const context = { secrets: {}, personal: settings({ network: { policy: 'full', ...floor } }) };
      return resolveNetwork({ policy, hosts: [], local: [] }, { ...own, context }).spec;
    };
    expect(reach({}, 'model').hosts).toEqual(['example.com']);
    expect(reach({ policy: 'model' }, 'model').hosts).toEqual([]);
    expect(reach({ policy: 'model' }, 'full').hosts).not.toContain('example.com');
    env.ANTHROPIC_BASE_URL = 'http://127.0.0.1:5432';
    expect(reach({}, 'full').local).toEqual([5432]);
    expect(reach({ local: [80] }, 'full').local).toEqual([]);
    expect(reach({ policy: 'model' }, 'model').local).toEqual([]);
  });

  it('applies to every program, with a note', () => {
    const context = { secrets: {}, personal: settings({ network: { policy: 'model' } }) };
    const asked = { policy: 'full', hosts: [], local: [5432] } as const;
    const claude = resolveNetwork(asked, { run: 'claude', env: {}, port: null, context });
    expect(claude.spec).toMatchObject({
      policy: 'proxy',
      hosts: expect.arrayContaining(['api.anthropic.com']),
      local: [],
    });
    expect(claude.notes).toEqual([expect.stringContaining('Your floor (floor.network in /home/ada')]);
    const check = resolveNetwork(asked, { run: '', env: {}, port: null, context });
    expect(check.spec).toMatchObject({ policy: 'proxy', hosts: [] });
  });
});
