import { expect, it } from 'vitest';
import type { NetworkSpec } from '../../protocol/sandbox.ts';
import { replaceNameservers } from './namespace/uplink.ts';
import { upstreamPath } from './meter/upstream-path.ts';
import { planListeners, portsOf } from './plan-listeners.ts';
import { proxyVariables } from './proxy/proxy-variables.ts';

const OPENAI = { api: 'openai', paths: [] } as const;
const INJECTION = { ...OPENAI, secret: 'A', upstream: 'https://a.test', header: 'x', prefix: '', env: {} };
const SPEC: NetworkSpec = { policy: 'none', hosts: [], local: [5432, 64_001], port: 64_003, inject: [INJECTION] };

it('gives each listener a port of its own, beside those of the settings', () => {
  const listeners = planListeners(SPEC, { hasHook: true, hasProxy: true, forbidden: [] });
  expect(listeners).toEqual({ hook: 64_002, proxy: 64_004, inject: [64_005], local: [5432, 64_001] });
  expect(portsOf(listeners)).toEqual([64_002, 64_004, 64_005, 5432, 64_001]);
});

it("never forwards a port of Baton, nor the session's own", () => {
  const spec = { ...SPEC, local: [5432, 5432, 4000, 3000], port: 3000, inject: [] };
  expect(planListeners(spec, { hasHook: false, hasProxy: false, forbidden: [4000] })).toEqual({
    hook: null,
    proxy: null,
    inject: [],
    local: [5432],
  });
});

it('forwards the ports of this machine that a list of hosts opens', () => {
  const hosts = ['127.0.0.1:4000', 'localhost:4001', 'example.com:4002', '127.0.0.1'];
  const spec = { ...SPEC, policy: 'proxy', hosts, local: [4000], port: null, inject: [] } as const;
  expect(planListeners(spec, { hasHook: false, hasProxy: true, forbidden: [] }).local).toEqual([4000, 4001]);
});

it('makes every known tool use the proxy, except for traffic to the session itself', () => {
  const env = proxyVariables('http://127.0.0.1:64002');
  for (const name of ['HTTPS_PROXY', 'http_proxy', 'npm_config_proxy', 'PIP_PROXY', 'CARGO_HTTP_PROXY'])
    expect(env[name]).toBe('http://127.0.0.1:64002');
  expect(env['NO_PROXY']).toBe('127.0.0.1,localhost,::1');
  expect(env['NODE_USE_ENV_PROXY']).toBe('1');
});

it.each([
  ['nameserver 127.0.0.53\noptions edns0\nsearch corp\n', 'nameserver 10.0.2.3\noptions edns0\nsearch corp\n'],
  ['nameserver 9.9.9.9\nnameserver fe80::1%eth0\n', 'nameserver 10.0.2.3\n'],
  ['nameserver 169.254.169.254\n', 'nameserver 10.0.2.3\n'],
  ['nameserver 192.0.2.2', 'nameserver 10.0.2.3'],
  ['', 'nameserver 10.0.2.3\n'],
  ['search corp\nnameserver 9.9.9.9\n', null],
])('replaces nameservers that cannot be reached: %j', (text, replaced) => {
  expect(replaceNameservers(text, '10.0.2.3', ['192.0.2.2'])).toBe(replaced);
});

it.each([
  ['https://a.test', '/v1/messages?beta=true', '/v1/messages?beta=true'],
  ['https://a.test/v1', '/responses', '/v1/responses'],
  ['https://a.test/v1/', '/responses', '/v1/responses'],
  ['https://a.test/v1', '', '/v1'],
  ['https://a.test/v1', '/x/../y', '/v1/y'],
  ['https://a.test/v1', '/../admin', undefined],
  ['https://a.test/v1', '/%2e%2e/admin', undefined],
  ['https://a.test/v1', '/..\\..\\admin', undefined],
  ['https://a.test', '/a?key=mine&b=1', '/a?b=1'],
  ['https://a.test', '/a?b=%20c', '/a?b=%20c'],
])('keeps the path below that of the upstream: %s %s', (upstream, rest, path) => {
  expect(upstreamPath(new URL(upstream), rest, 'x-goog-api-key')?.path).toBe(path);
});
