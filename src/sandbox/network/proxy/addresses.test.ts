import { describe, expect, it } from 'vitest';
import { isUnreachableInside, refuseAddress, unreachableRoutes } from './addresses.ts';

const OWN = ['127.0.0.1', '192.0.2.2', 'fd00::2', 'fe80::1%eth0', '::1'];

describe('addresses that the proxy refuses', () => {
  it.each([
    ['127.0.0.1', 'this machine'],
    ['127.9.9.9', 'this machine'],
    ['0.0.0.0', 'this machine'],
    ['::', 'this machine'],
    ['::1', 'this machine'],
    ['0:0:0:0:0:0:0:1', 'this machine'],
    ['::ffff:127.0.0.1', 'this machine'],
    ['::ffff:7f00:1', 'this machine'],
    ['::127.0.0.1', 'this machine'],
    ['64:ff9b::7f00:1', 'this machine'],
    ['2002:7f00:1::', 'this machine'],
    ['224.0.0.1', 'this machine'],
    ['255.255.255.255', 'this machine'],
    ['192.0.2.2', 'this machine'],
    ['::ffff:192.0.2.2', 'this machine'],
    ['64:ff9b::c000:202', 'this machine'],
    ['fd00::2', 'this machine'],
    ['FD00:0:0::2', 'this machine'],
    ['169.254.169.254', 'cloud metadata'],
    ['::ffff:169.254.169.254', 'cloud metadata'],
    ['64:ff9b::a9fe:a9fe', 'cloud metadata'],
    ['168.63.129.16', 'cloud metadata'],
    ['100.100.100.200', 'cloud metadata'],
    ['192.0.0.192', 'cloud metadata'],
    ['fd00:ec2::254', 'cloud metadata'],
    ['fd20:ce::254', 'cloud metadata'],
    ['fe80::1', 'cloud metadata'],
    ['fe80::1%eth0', 'cloud metadata'],
  ])('%s', (address, reason) => {
    expect(refuseAddress(address, OWN)).toContain(reason);
  });

  it.each(['198.51.100.7', '10.0.0.8', '192.168.1.1', '2001:db8::1', 'fd00::3', '64:ff9b::c633:6407', '192.0.2.3'])(
    'not %s',
    (address) => {
      expect(refuseAddress(address, OWN)).toBeUndefined();
    },
  );
});

it('makes cloud metadata and the own IPv4 addresses unreachable', () => {
  expect(unreachableRoutes([...OWN, '192.0.2.2'])).toEqual([
    '169.254.0.0/16',
    '168.63.129.16/32',
    '100.100.100.200/32',
    '192.0.0.192/32',
    '192.0.2.2/32',
  ]);
});

it('knows the nameservers that an uplink cannot reach', () => {
  const servers = ['127.0.0.53', '169.254.169.254', '192.0.2.2', 'fd00::53', 'fe80::1%eth0'];
  expect(servers.filter((address) => !isUnreachableInside(address, OWN))).toEqual([]);
  expect(isUnreachableInside('9.9.9.9', OWN)).toBe(false);
});
