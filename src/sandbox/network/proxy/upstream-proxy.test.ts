import { describe, expect, it } from 'vitest';
import { findUpstreamProxy, upstreamProxies } from './upstream-proxy.ts';

const TARGET = { host: 'api.example.com', port: 443 };

describe("the proxy of the machine's owner", () => {
  it('is read from the variable of the scheme, lower case first', () => {
    const env = { HTTPS_PROXY: 'http://a:1', https_proxy: 'http://b:2', HTTP_PROXY: 'c:3' };
    expect(findUpstreamProxy(env, TARGET, true)).toMatchObject({ host: 'b', port: 2, isSecure: false });
    expect(findUpstreamProxy(env, TARGET, false)).toMatchObject({ host: 'c', port: 3 });
    expect(findUpstreamProxy({}, TARGET, true)).toBeUndefined();
  });

  it('may need a login, or TLS', () => {
    const env = { HTTPS_PROXY: 'https://me:p%40ss@proxy.test' };
    expect(findUpstreamProxy(env, TARGET, true)).toEqual({
      host: 'proxy.test',
      port: 443,
      url: 'https://me:p%40ss@proxy.test/',
      isSecure: true,
      authorization: `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    });
  });

  it.each(['socks5://a:1', 'nonsense://', '', 'http://'])('is ignored as %j', (HTTPS_PROXY) => {
    expect(findUpstreamProxy({ HTTPS_PROXY }, TARGET, true)).toBeUndefined();
  });

  it.each(['example.com', '.example.com', '*.example.com', 'x, API.example.com', 'api.example.com:443', '*'])(
    'is not used for hosts in NO_PROXY=%s',
    (NO_PROXY) => {
      expect(findUpstreamProxy({ HTTPS_PROXY: 'http://a:1', NO_PROXY }, TARGET, true)).toBeUndefined();
    },
  );

  it.each(['ple.com', 'other.com', 'api.example.com:80', ''])('is used in spite of NO_PROXY=%s', (NO_PROXY) => {
    expect(findUpstreamProxy({ HTTPS_PROXY: 'http://a:1', NO_PROXY }, TARGET, true)).toBeDefined();
  });

  it('lists all of them', () => {
    expect(upstreamProxies({ HTTP_PROXY: 'http://127.0.0.1:7890' })).toMatchObject([{ host: '127.0.0.1' }]);
  });
});
