import { execFileSync } from 'node:child_process';
import { mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../src/ledger/format/entry.ts';
import { Fleet } from '../test/fleet/fleet.ts';
import type { FleetHost } from '../test/fleet/host.ts';
import { startPostgres } from '../test/postgres/server.ts';
import { findProcesses } from '../test/processes/find-processes.ts';
import { textOf } from '../test/processes/ledger.ts';
import { until } from '../test/processes/until.ts';

/**
 * `npm run demo:fleet`: three hosts on this machine, each with a daemon, a state folder and a clone, share one
 * PostgreSQL and one git remote. One workflow runs with scripted agents; the host that runs them is killed midway, and
 * the others finish the work. The folder with the record stays.
 */
const TITLE = 'Read durations back';
const folder = realpathSync(mkdtempSync(join(tmpdir(), 'baton-demo-fleet-')));
const began = performance.now();
const out = (text: string): void => void process.stdout.write(text);

out('A PostgreSQL, a git remote and three hosts, which is a moment’s work …\n');
const server = await startPostgres({ fsync: true });
const database = new URL(await server.createDatabase()).pathname.slice(1);
const fleet = await Fleet.open({
  server: { socketFolder: server.socketFolder, database },
  hosts: 3,
  direct: true,
  sample: join(import.meta.dirname, '../examples/sample'),
  // Seconds instead of minutes, to shorten the wait for a dead host.
  env: { BATON_CLAIM_EXPIRY_MS: '8000', BATON_RENEWAL_MS: '1000', BATON_TICK_MS: '500' },
});
// Everything started below ends with the demo, however the demo ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void leave(130));

try {
  await run();
} catch (error) {
  out(`\n${String(error)}\n`);
  process.exitCode = 1;
}
await leave(Number(process.exitCode ?? 0));

async function run(): Promise<void> {
  const [first, second] = [fleet.host(0), fleet.host(1)];
  await baton(second, 'host', 'list');
  const { id, task_id } = await first.order<{ id?: string; task_id?: string }>('run_start', {
    name: 'issue',
    args: [TITLE],
  });
  const task = task_id ?? id ?? '';
  out(`\n${first.name}$ baton run issue "${TITLE}"\n\n`);
  await follow(task, second, first);
  out('\n');
  out(`$ git log --oneline main   # at the remote\n${git('log', '--oneline', 'main')}\n`);
  await baton(second, 'host', 'list');
  await baton(second, 'handoff', 'list', task);
  await until('the ledger is sealed', async () => (await entries()).some(({ type }) => type === 'LedgerSealed'));
  await second.hasSeen((await entries()).length);
  await baton(second, 'ledger', 'root');
  await baton(second, 'ledger', 'verify');
  const proof = join(folder, `${task}.proof.json`);
  await baton(second, 'ledger', 'prove', task, '-o', proof);
  await baton(second, 'verify', proof);
  await baton(second, 'ledger', 'export', '-o', join(folder, 'ledger.ndjson'));
  const seconds = Math.round((performance.now() - began) / 1000);
  out(
    `\nFrom a request to a merge in ${seconds} s, with one of three hosts killed. The proof and the whole record: ${folder}\n`,
  );
}

/**
 * Prints events, as the second host sees them, until the workflow is closed. Kills the first host in the middle of its
 * work.
 */
async function follow(task: string, watcher: FleetHost, victim: FleetHost): Promise<void> {
  let seen = 0;
  let isKilled = false;
  await until(
    'the workflow is over',
    async () => {
      const all = await entries();
      for (const entry of all.slice(seen)) {
        const line = describe(entry, task);
        if (line !== undefined) out(`  ${entry.at.slice(11, 19)}  ${line}\n`);
      }
      seen = all.length;
      const isWorking = all.some(
        ({ type, data }) => type === 'AgentStarted' && textOf(data, 'agent_id') === implementerOf(all),
      );
      if (isWorking && !isKilled) {
        isKilled = true;
        kill(victim);
        out(`            ${victim.name} loses power: its daemon and its agents are gone\n`);
      }
      // Entries of another host arrive with a short delay.
      await watcher.hasSeen(seen);
      const { phase, role } = await watcher.order<{ phase: string; role: string | null }>('workflow_get', {
        task_id: task,
      });
      return phase === 'COMPLETED' && role === null;
    },
    300_000,
  );
}

function implementerOf(all: readonly Entry[]): string | undefined {
  const requested = all.find(
    ({ type, data }) => type === 'AgentRequested' && JSON.stringify(data['plan']).includes('"name":"implementer"'),
  );
  return requested === undefined ? undefined : textOf(requested.data, 'agent_id');
}

function describe({ type, data }: Entry, task: string): string | undefined {
  const text = (field: string): string => textOf(data, field);
  if (type === 'CaretakerChanged') return `${text('host')} is the caretaker`;
  if (type === 'AgentRequested')
    return `${text('host')} starts ${(/"name":"([^"]+)"/.exec(JSON.stringify(data['plan'])) ?? [])[1] ?? 'an agent'}`;
  if (data['task_id'] !== task) return undefined;
  if (type === 'WorkPushed') return `${text('host')} pushes ${text('sha').slice(0, 8)}`;
  if (type === 'HandoffDelivered')
    return `handoff: ${text('from')} → ${data['to'] === null ? 'workflow-complete' : text('to')}`;
  if (type === 'CheckFinished') return `check ${text('name')}: ${text('outcome')}`;
  if (type === 'ClaimExpired') return `nobody renews the claim of session ${text('epoch')}: it ends`;
  if (type === 'PhaseMoved') return `phase ${text('to')}`;
  if (type === 'MergeFinished') return `merge: ${text('outcome')} as ${text('merge_sha').slice(0, 8)}`;
  return undefined;
}

/** Kills without a chance to clean up, as when a machine loses power. */
function kill({ world }: FleetHost): void {
  for (const pid of [world.daemonPid, ...findProcesses(world.stateDir)]) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has just exited.
    }
  }
}

async function entries(): Promise<Entry[]> {
  return fleet.entries();
}

async function baton(host: FleetHost, ...args: string[]): Promise<void> {
  out(`\n${host.name}$ baton ${args.join(' ')}\n`);
  const ran = await host.world.type(args);
  out(`${ran.out}${ran.err}`);
  if (ran.code !== 0) throw new Error(`baton ${args[0]} ended with ${ran.code}`);
}

function git(...args: string[]): string {
  return execFileSync('git', ['-C', fleet.remote, ...args], { encoding: 'utf8' }).trim();
}

async function leave(code: number): Promise<never> {
  await fleet[Symbol.asyncDispose]();
  await server.stop();
  process.exit(code);
}
