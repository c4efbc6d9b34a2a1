import { expect, it } from 'vitest';
import { parseRemoteHost } from './remote-host.ts';

it.each([
  ['https://Example.org/team/project.git', 'example.org'],
  ['https://ada:secret@example.org:8443/p', 'example.org:8443'],
  ['http://127.0.0.1:3000/p', '127.0.0.1:3000'],
  ['ssh://git@example.org:2222/p.git', 'example.org'],
  ['git@example.org:team/p.git', 'example.org'],
  ['example.org:p.git', 'example.org'],
  ['git://example.org/p', 'example.org'],
  ['/srv/git/p.git', undefined],
  ['../p.git', undefined],
  ['file:///srv/git/p.git', undefined],
  ['-oProxyCommand=x:y', undefined],
  ['ext::sh -c touch', undefined],
])('the host of the remote %s is %s', (url, host) => {
  expect(parseRemoteHost(url)).toBe(host);
});
