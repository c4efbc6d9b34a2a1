import { BlockList, isIP } from 'node:net';

/** Cloud metadata services: AWS, Azure, Google Cloud, Alibaba, Oracle. They return credentials of the machine. */
const METADATA_4 = ['169.254.0.0/16', '168.63.129.16/32', '100.100.100.200/32', '192.0.0.192/32'];
const METADATA_6 = ['fd00:ec2::254/128', 'fd20:ce::254/128', 'fe80::/10'];

/** Loopback, "this host", multicast and broadcast. */
const LOCAL_4 = ['127.0.0.0/8', '0.0.0.0/8', '224.0.0.0/4', '240.0.0.0/4'];
/** Teredo and 6to4 carry an IPv4 address and are used by no API. */
const LOCAL_6 = ['::/128', '::1/128', 'ff00::/8', '2001::/32', '2002::/16'];

/**
 * Prefixes of IPv6 addresses that contain an IPv4 address in their last 32 bits: NAT64 and the obsolete "compatible"
 * form.
 */
const EMBEDDING = ['64:ff9b::', '::'];

/**
 * Why Baton's proxy must not connect to an address; undefined if it may. `own` are the addresses of this machine, at
 * which the daemon, other sessions and local databases listen.
 */
export function refuseAddress(address: string, own: readonly string[]): string | undefined {
  const bare = stripZone(address);
  const family = isIP(bare) === 6 ? 'ipv6' : 'ipv4';
  if (metadata().check(bare, family)) return 'an address of cloud metadata';
  return local().check(bare, family) || listOf(own).check(bare, family) ? 'an address of this machine' : undefined;
}

/** The IPv4 destinations for which a namespace with an uplink gets unreachable routes. */
export function unreachableRoutes(own: readonly string[]): readonly string[] {
  const mine = own.filter((address) => isIP(address) === 4 && !address.startsWith('127.'));
  return [...new Set([...METADATA_4, ...mine.map((address) => `${address}/32`)])];
}

/** Reports whether a nameserver cannot be reached over an uplink, which has no IPv6. */
export function isUnreachableInside(address: string, own: readonly string[]): boolean {
  return isIP(stripZone(address)) !== 4 || refuseAddress(address, own) !== undefined;
}

function stripZone(address: string): string {
  return address.replace(/%.*$/, '').toLowerCase();
}

let metadataList: BlockList | undefined;
let localList: BlockList | undefined;
const metadata = (): BlockList => (metadataList ??= blockList(METADATA_4, METADATA_6));
const local = (): BlockList => (localList ??= blockList(LOCAL_4, LOCAL_6));

/** Compares addresses by number, because an IPv6 address has several spellings. */
function listOf(addresses: readonly string[]): BlockList {
  const bare = addresses.map(stripZone);
  return blockList(
    bare.filter((each) => isIP(each) === 4).map((each) => `${each}/32`),
    bare.filter((each) => isIP(each) === 6).map((each) => `${each}/128`),
  );
}

/** A `BlockList` also matches the mapped form of an IPv4 address (`::ffff:127.0.0.1`). */
function blockList(subnets4: readonly string[], subnets6: readonly string[]): BlockList {
  const list = new BlockList();
  const add = (subnet: string, family: 'ipv4' | 'ipv6', prefix = '', more = 0): void => {
    const [address = '', bits] = subnet.split('/');
    list.addSubnet(`${prefix}${address}`, Number(bits) + more, family);
  };
  for (const subnet of subnets4) {
    add(subnet, 'ipv4');
    for (const prefix of EMBEDDING) add(subnet, 'ipv6', prefix, 96);
  }
  for (const subnet of subnets6) add(subnet, 'ipv6');
  return list;
}
