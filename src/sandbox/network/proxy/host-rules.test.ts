import { describe, expect, it } from 'vitest';
import { isListed, isListedLoopback, parseAuthority, renderTarget } from './host-rules.ts';

const target = (text: string) => parseAuthority(text) ?? { host: `unreadable: ${text}`, port: 0 };

describe('the address of a request', () => {
  it.each([
    ['example.com:443', 'example.com', 443],
    ['EXAMPLE.com.:443', 'example.com', 443],
    ['[2001:DB8::1]:8443', '2001:db8::1', 8443],
    ['10.0.0.1:80', '10.0.0.1', 80],
    ['xn--bcher-kva.example:443', 'xn--bcher-kva.example', 443],
    // Node does not parse this as an address, but the resolver does; its answer is checked.
    ['127.1:80', '127.1', 80],
    ['0x7f000001:80', '0x7f000001', 80],
  ])('%s', (text, host, port) => {
    expect(parseAuthority(text)).toEqual({ host, port });
  });

  it.each([
    'example.com',
    'example.com:0',
    'example.com:65536',
    'example.com:+443',
    'example.com:443:80',
    'user@example.com:443',
    'user:secret@example.com:443',
    'example.com/path:443',
    'example.com#:443',
    'exam ple.com:443',
    'example..com:443',
    '-example.com:443',
    'bücher.example:443',
    '[example.com]:443',
    '[::1%eth0]:443',
    '::1:443',
    '[::1:443',
    ':443',
    '',
    `${'a'.repeat(64)}.example:443`,
    `${'a.'.repeat(127)}com:443`,
  ])('refuses %j', (text) => {
    expect(parseAuthority(text)).toBeUndefined();
  });
});

describe('a list of hosts', () => {
  const list = [
    'Example.com',
    '*.example.org',
    'db.internal:5432',
    '*.corp:8443',
    '10.0.0.1',
    '[2001:db8::1]:99',
    '::9',
  ];

  it.each([
    'example.com:443',
    'example.com:80',
    'registry.example.org:443',
    'a.b.example.org:443',
    'db.internal:5432',
    'x.corp:8443',
    '10.0.0.1:443',
    '[2001:db8::1]:99',
    '[::9]:443',
  ])('allows %s', (text) => {
    expect(isListed(list, target(text))).toBe(true);
  });

  it.each([
    'example.com:8080',
    'www.example.com:443',
    'example.com.evil.test:443',
    'notexample.com:443',
    'example.org:443',
    'evilexample.org:443',
    'db.internal:443',
    'corp:8443',
    'x.corp:443',
    '10.0.0.2:443',
    '10.0.0.1:22',
    '[2001:db8::1]:443',
    '127.0.0.1:443',
  ])('refuses %s', (text) => {
    expect(isListed(list, target(text))).toBe(false);
  });

  it('ignores entries that are not hosts', () => {
    expect(isListed(['*', '*.', '.', '', 'https://example.com', 'a b'], target('example.com:443'))).toBe(false);
    expect(isListed(['*.1'], target('10.0.0.1:443'))).toBe(false);
  });

  it('opens a port of this machine only by its literal name and port', () => {
    expect(isListedLoopback(['127.0.0.1:5000'], target('127.0.0.1:5000'))).toBe(true);
    expect(isListedLoopback(['localhost:5000'], target('localhost:5000'))).toBe(true);
    expect(isListedLoopback(['localhost:5000'], target('127.0.0.1:5000'))).toBe(false);
    expect(isListedLoopback(['127.0.0.1'], target('127.0.0.1:80'))).toBe(false);
    expect(isListedLoopback(['example.com:5000'], target('example.com:5000'))).toBe(false);
    expect(isListedLoopback('all', target('127.0.0.1:5000'))).toBe(false);
  });

  it('is shown as a runbook writes it', () => {
    expect(['a.test:443', 'a.test:8080', '[::9]:80'].map((text) => renderTarget(target(text)))).toEqual([
      'a.test',
      'a.test:8080',
      '[::9]',
    ]);
  });
});
