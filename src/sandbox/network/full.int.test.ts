import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { afterAll, describe, it } from 'vitest';
import { listLiving } from '../../api/processes.ts';
import { probeNetwork } from './namespace/probe-network.ts';

const { uplink, tools } = await probeNetwork(process.env);
const isReady = process.getuid?.() === 0 && existsSync('/usr/bin/curl');
const lack = isReady ? uplink : 'needs root, to make a host for this test, and curl';
const folders: string[] = [];

afterAll(() => folders.forEach((folder) => rmSync(folder, { recursive: true })));

describe.concurrent('the policy full', () => {
  for (const program of ['slirp4netns', 'pasta'] as const) {
    const reason = lack ?? tools[program];
    const name = `over ${program}${reason === null ? '' : ` (NOT RUN: ${reason})`}`;
    it.skipIf(reason !== null)(`reaches the world, not cloud metadata or this machine, ${name}`, async ({ expect }) => {
      const { host, report } = await startHost(program);
      expect(report).toMatchObject({
        summary: 'full',
        notes: [],
        supervisor: 'supervisor',
        plain: ['198.51.100.7'],
        bound: ['198.51.100.7'],
        // The host's nameserver is at its own address.
        resolvConf: expect.stringContaining('nameserver 10.0.2.3'),
      });
      // Killing the supervisor ends the uplink.
      expect(report.children.length).toBeGreaterThan(0);
      host.kill('SIGKILL');
      const left = (): number => listLiving().filter(({ pid }) => report.children.includes(pid)).length;
      await expect.poll(left, { timeout: 10_000 }).toBe(0);
    });
  }
});

interface Report {
  readonly children: readonly number[];
}

/** A network namespace that simulates the host. AnyIP routes make it accept addresses that no interface has. */
const HOST = `
set -e
ip link set lo up
ip link add eth0 type veth peer name peer0
ip link set peer0 up
ip link set eth0 up
ip addr add 192.0.2.2/24 dev eth0
ip route add default via 192.0.2.1
ip route add local 198.51.100.0/24 dev lo
ip route add local 169.254.169.254 dev lo
echo nameserver 192.0.2.2 > "$0/resolv.conf"
mount --bind "$0/resolv.conf" "$(readlink -f /etc/resolv.conf)"
exec "$@"
`;

async function startHost(program: string): Promise<{ host: ChildProcess; report: Report }> {
  const folder = mkdtempSync(join(tmpdir(), 'host-'));
  folders.push(folder);
  for (const name of [program, 'bwrap', 'nsenter', 'sh', 'curl'])
    for (const place of ['/usr/bin', '/bin']) {
      const [from, to] = [join(place, name), join(folder, name)];
      if (existsSync(from) && !existsSync(to)) symlinkSync(from, to);
    }
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', join(import.meta.dirname, 'full.cases.ts')];
  const path = `PATH=${folder}`;
  const host = spawn('unshare', ['-n', '-m', 'sh', '-c', HOST, folder, 'env', path, ...node], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: host.stdout });
  const [line] = (await once(lines, 'line')) as [string];
  return { host, report: JSON.parse(line) as Report };
}
