import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import type { Environment } from '../../../protocol/environment.ts';
import { isUnreachableInside, unreachableRoutes } from '../proxy/addresses.ts';
import { descriptorPath, type Namespace } from './create-namespace.ts';
import { ownAddresses } from '../proxy/find-route.ts';
import { collectText, firstLine, hasProgram, refuseTunDevice, startTool } from './tools.ts';

/** The connection of a namespace to the world: slirp4netns or pasta, which exit when this process dies. */
export interface Uplink {
  /** The content of /etc/resolv.conf inside, if the host's nameserver cannot be reached from inside; else null. */
  readonly resolvConf: string | null;
  close(): Promise<void>;
}

export type UplinkResult =
  | { readonly ok: true; readonly uplink: Uplink }
  | { readonly ok: false; readonly reason: string };

/** Tries each program until one works. Cloud metadata services and the host's own addresses get unreachable routes. */
export async function attachUplink(
  { user, net, enter }: Namespace,
  env: Environment,
  onEnd: () => void,
  kinds: readonly UplinkKind[] = UPLINKS,
): Promise<UplinkResult> {
  const own = ownAddresses();
  const subnet = SUBNETS.find((each) => !own.some((address) => address.startsWith(`${each}.`))) ?? SUBNETS[0];
  const reasons: string[] = [];
  for (const kind of kinds.filter(({ program }) => hasProgram(program, env))) {
    const started = await startUplink(kind, { subnet, user, net }, env);
    if (typeof started === 'string') {
      reasons.push(`${kind.program}: ${started}`);
      continue;
    }
    const routes = unreachableRoutes(own).map((to) => `route replace unreachable ${to}`);
    const failure = await runBatch([...enter, 'ip', '-batch', '-'], [...routes, ...kind.lines(subnet)], env);
    if (failure === undefined) {
      started.once('exit', onEnd);
      const resolvConf = replaceNameservers(readResolvConf(), `${subnet}.3`, own);
      return { ok: true, uplink: { resolvConf, close: async () => endUplink(started, onEnd) } };
    }
    reasons.push(`ip: ${failure}`);
    await endUplink(started, onEnd);
  }
  return { ok: false, reason: reasons.at(-1) ?? 'neither slirp4netns nor pasta is installed' };
}

/** Why no uplink can work here, as far as known without a trial. `onlyIp`: only the program `ip` is missing. */
export function refuseUplink(env: Environment): { readonly reason: string; readonly onlyIp: boolean } | undefined {
  const isInstalled = UPLINKS.some(({ program }) => hasProgram(program, env));
  const hasIpv4 = ownAddresses().some((address) => isIP(address) === 4 && !address.startsWith('127.'));
  const reason =
    (isInstalled ? refuseTunDevice() : 'neither slirp4netns nor pasta is installed') ??
    (hasIpv4 ? undefined : 'this machine has no IPv4 address, and an uplink carries only IPv4');
  if (reason !== undefined) return { reason, onlyIp: false };
  return hasProgram('ip', env) ? undefined : { reason: 'the program `ip` is not installed', onlyIp: true };
}

/** Two subnets, because the network inside would hide a host network with the same addresses. */
const SUBNETS = ['10.0.2', '10.213.77'] as const;

interface Wiring {
  readonly subnet: string;
  readonly user: number;
  readonly net: number;
}

interface UplinkKind {
  readonly program: 'slirp4netns' | 'pasta';
  /** The command of the uplink. It ends when HOLD_FD is closed, and writes to READY_FD when the network is ready. */
  readonly argv: (wiring: Wiring) => readonly string[];
  /** More lines for `ip -batch`. */
  readonly lines: (subnet: string) => readonly string[];
}

const [HOLD_FD, READY_FD, USER_FD, NET_FD] = [3, 4, 5, 6];

/**
 * slirp4netns comes first: it starts faster, and answers ARP only for its own subnet. A socket that a program binds to
 * the device ignores unreachable routes and sends ARP requests for the address, which pasta would answer.
 */
export const UPLINKS: readonly UplinkKind[] = [
  {
    program: 'slirp4netns',
    argv: (wiring) => slirp(wiring, ['--enable-sandbox', '--enable-seccomp']),
    lines: () => [],
  },
  { program: 'slirp4netns', argv: (wiring) => slirp(wiring, []), lines: () => [] },
  {
    program: 'pasta',
    argv: ({ subnet }) => pasta(subnet, `/proc/self/fd/${USER_FD}`, `/proc/self/fd/${NET_FD}`),
    lines: fixNeighbours,
  },
  // Later versions close inherited descriptors.
  {
    program: 'pasta',
    argv: ({ subnet, user, net }) => pasta(subnet, descriptorPath(user), descriptorPath(net)),
    lines: fixNeighbours,
  },
];

function slirp({ subnet }: Wiring, hardening: readonly string[]): readonly string[] {
  return [
    'slirp4netns',
    '--configure',
    '--mtu=65520',
    '--disable-host-loopback',
    ...hardening,
    `--cidr=${subnet}.0/24`,
    `--exit-fd=${HOLD_FD}`,
    `--ready-fd=${READY_FD}`,
    `--userns-path=/proc/self/fd/${USER_FD}`,
    '--netns-type=path',
    `/proc/self/fd/${NET_FD}`,
    'tap0',
  ];
}

/** pasta writes its process id when it is ready, but has no option to exit with its parent, so the shell ends it. */
const PASTA_SCRIPT = `"$@" | { read -r pid || exit 1; echo >&${READY_FD}; read -r _ <&${HOLD_FD}; kill "$pid"; }`;

function pasta(subnet: string, user: string, net: string): readonly string[] {
  const runAs = process.getuid?.() === 0 ? '--runas 0 ' : '';
  const addresses = `-4 -I tap0 -a ${subnet}.100 -n 24 -g ${subnet}.2 --dns-forward ${subnet}.3`;
  const options = `${runAs}${addresses} --config-net --no-map-gw -t none -u none -T none -U none`;
  const words = `pasta -q -f --pid /dev/stdout ${options} --userns ${user} --netns ${net}`.split(' ');
  return ['sh', '-c', PASTA_SCRIPT, 'sh', ...words];
}

/**
 * Disables ARP: only gateway and nameserver have an entry, so that a socket bound to the device reaches nothing else.
 */
function fixNeighbours(subnet: string): readonly string[] {
  const fixed = [2, 3].map((n) => `neigh replace ${subnet}.${n} lladdr 02:00:00:00:00:01 dev tap0 nud permanent`);
  return [...fixed, 'ntable change name arp_cache dev tap0 mcast_probes 0 app_probes 0 ucast_probes 0'];
}

/** Starts an uplink. Returns the running process, or why it did not start. */
async function startUplink(kind: UplinkKind, wiring: Wiring, env: Environment): Promise<ChildProcess | string> {
  const stdio = ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', wiring.user, wiring.net] as const;
  const child = startTool(kind.argv(wiring), env, [...stdio]);
  const errors = collectText(child.stderr);
  return new Promise((resolve) => {
    const ready = child.stdio[READY_FD];
    if (ready instanceof Readable) ready.once('data', () => resolve(child));
    child.once('error', ({ message }) => resolve(message));
    child.once('close', () => resolve(firstLine(errors.text)));
  });
}

async function endUplink(child: ChildProcess, onEnd: () => void): Promise<void> {
  child.off('exit', onEnd);
  const ended = new Promise((resolve) => void child.once('exit', resolve));
  if (child.exitCode !== null || child.signalCode !== null) return;
  const hold = child.stdio[HOLD_FD];
  if (hold instanceof Readable) hold.destroy();
  const late = setTimeout(() => child.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(late);
}

const END_MS = 2000;

/** Runs `ip -batch`. Returns undefined if it accepted every line. */
async function runBatch(
  argv: readonly string[],
  lines: readonly string[],
  env: Environment,
): Promise<string | undefined> {
  const child = startTool(argv, env, ['pipe', 'ignore', 'pipe']);
  const errors = collectText(child.stderr);
  child.stdin?.on('error', () => {});
  child.stdin?.end(lines.map((line) => `${line}\n`).join(''));
  return new Promise((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code) => resolve(code === 0 ? undefined : firstLine(errors.text)));
  });
}

function readResolvConf(): string {
  try {
    return readFileSync('/etc/resolv.conf', 'utf8');
  } catch {
    return '';
  }
}

/**
 * Returns null if all nameservers can be reached from inside. The uplink's nameserver forwards to the host's, at port
 * 53 only.
 */
export function replaceNameservers(text: string, nameserver: string, own: readonly string[]): string | null {
  const lines = text.split('\n');
  const isServer = (line: string): boolean => /^\s*nameserver\s/.test(line);
  const servers = lines.filter(isServer).map((line) => line.trim().split(/\s+/)[1] ?? '');
  if (servers.length > 0 && !servers.some((address) => isUnreachableInside(address, own))) return null;
  return [`nameserver ${nameserver}`, ...lines.filter((line) => !isServer(line))].join('\n');
}
