import { describe, expect, it } from 'vitest';
import { ACP_PRESET_NAMES, MODEL_CLIENT_NAMES } from '../../protocol/run-plan.ts';
import { NO_PERSONAL } from '../../runbook/personal/personal.ts';
import { REGISTRY_HOSTS } from '../../sandbox/network/registries.ts';
import type { NetworkUser } from './resolve-network.ts';
import { resolveNetwork } from './resolve-network.ts';

const personal = {
  ...NO_PERSONAL,
  network: { hosts: ['127.0.0.1:4873', 'npm.example.com'] },
  path: '/c',
  problem: null,
};
const DEV = { policy: 'dev', hosts: ['more.example.com'], local: [] } as const;

function resolve(run: string, more: Partial<NetworkUser> = {}, asked: Parameters<typeof resolveNetwork>[0] = DEV) {
  const context = { secrets: {}, personal, ...more.context };
  return resolveNetwork(asked, { run, env: {}, port: null, remotes: ['git.example.com'], ...more, context });
}

describe('the network `dev`', () => {
  it("has the client's API, registries, git remotes, and the hosts of the person and of the runbook", () => {
    const { spec, notes } = resolve('claude');
    expect(spec).toMatchObject({ policy: 'proxy', name: 'dev' });
    const named = ['api.anthropic.com', 'git.example.com', 'npm.example.com', '127.0.0.1:4873', 'more.example.com'];
    expect(spec.hosts).toEqual(expect.arrayContaining([...named, ...REGISTRY_HOSTS]));
    expect(spec.hosts).toHaveLength(new Set(spec.hosts).size);
    expect(notes).toEqual([]);
    // A registry on this machine is a port, for which tools use no proxy.
    expect(spec.local).toEqual([4873]);
    expect(resolve('claude', {}, { ...DEV, policy: 'model' }).spec.hosts).not.toContain('npm.example.com');
  });

  it('knows hosts for each client of Baton, and none for one that a runbook names', () => {
    const shared = resolve('').spec.hosts.length;
    for (const run of [...MODEL_CLIENT_NAMES, ...ACP_PRESET_NAMES])
      expect([run, resolve(run).spec.hosts.length > shared]).toEqual([run, true]);
    for (const run of ['acp:own-agent', 'own-agent', 'scripted'])
      expect([run, resolve(run).spec.hosts.length]).toEqual([run, shared]);
  });

  it('is narrowed by the floor, which may be `dev` too', () => {
    const floor = (policy: 'dev' | 'model') => ({
      context: { secrets: {}, personal: { ...personal, floor: { ...personal.floor, network: { policy } } } },
    });
    const full = { policy: 'full', hosts: [], local: [] } as const;
    expect(resolve('claude', floor('dev'), full).spec.hosts).toContain('registry.npmjs.org');
    expect(resolve('claude', floor('model')).spec.hosts).toEqual(['api.anthropic.com', 'platform.claude.com']);
  });

  it('is marked if nobody has chosen it', () => {
    expect(resolve('claude', { isDefault: true }).spec.isDefault).toBe(true);
    expect(resolve('claude').spec).not.toHaveProperty('isDefault');
  });
});
