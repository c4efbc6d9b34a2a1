import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Entry } from '../../../src/ledger/format/entry.ts';
import { Fleet, PROJECT, type FleetOptions } from '../../fleet/fleet.ts';
import type { FleetHost } from '../../fleet/host.ts';
import { findBroken } from '../../fleet/invariants.ts';
import { findChainFault } from '../../fleet/read-chain.ts';
import { until } from '../../processes/until.ts';
import { type Claim, claimsOf } from './claims.ts';

/** Short, so that a claim ends while a test waits for it. */
export const TIMES = { expiryMs: 6000, renewalMs: 1000, tickMs: 250 };
export const SHORT: Readonly<Record<string, string>> = {
  BATON_CLAIM_EXPIRY_MS: String(TIMES.expiryMs),
  BATON_RENEWAL_MS: String(TIMES.renewalMs),
  BATON_TICK_MS: String(TIMES.tickMs),
};

export interface SceneOptions {
  readonly server: FleetOptions['server'];
  readonly hosts: number;
  readonly namespaces: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly sample?: string;
  /** Replacements for files of the sample. */
  readonly files?: Readonly<Record<string, string>>;
  readonly agents?: number;
  /** Connects without proxies, which would load this process. */
  readonly direct?: boolean;
}

/** A fleet whose agents write marks outside Baton. */
export class FleetScene implements AsyncDisposable {
  readonly fleet: Fleet;
  readonly marksFolder: string;
  readonly begunMs: number = performance.now();

  private constructor(fleet: Fleet, marksFolder: string) {
    this.fleet = fleet;
    this.marksFolder = marksFolder;
  }

  static async open({
    env = SHORT,
    sample,
    files: given = {},
    agents = 8,
    ...place
  }: SceneOptions): Promise<FleetScene> {
    const marks = realpathSync(mkdtempSync(join(tmpdir(), 'baton-marks-')));
    mkdirSync(join(marks, 'state'));
    const files = sample === undefined ? { files: filesOf() } : { sample, files: given };
    const options = { ...place, agents, ...files, env: { ...env, MARKS: marks } };
    try {
      return new FleetScene(await Fleet.open(options), marks);
    } catch (error) {
      rmSync(marks, { recursive: true, force: true });
      throw error;
    }
  }

  get hosts(): readonly FleetHost[] {
    return this.fleet.hosts;
  }

  host(n: number): FleetHost {
    return this.fleet.host(n);
  }

  /** Creates tasks that the hosts' workers claim. */
  async createWork(from: FleetHost, count: number, prefix = 'K'): Promise<string[]> {
    const ids = Array.from({ length: count }, (_, n) => `${prefix}${n + 1}`);
    for (const id of ids) await from.order('task_create', { task_id: id, title: 'Something to do' });
    return ids;
  }

  /** Creates two tasks on every host. That host usually claims them, but another host with capacity may be faster. */
  async createWorkEverywhere(): Promise<string[]> {
    const made = await Promise.all(this.hosts.map(async (host, n) => this.createWork(host, 2, `K${n + 1}-`)));
    const ids = made.flat();
    await this.until(
      'every task has an agent that has committed',
      () => this.marksOf('committed').length >= ids.length,
      120_000,
    );
    return ids;
  }

  /** The host with the most claims, and these claims. */
  async findBusiest(): Promise<{ readonly victim: FleetHost; readonly its: readonly Claim[] }> {
    const claims = claimsOf(await this.entries());
    const byHost = this.hosts.map((victim) => ({ victim, its: claims.filter(({ host }) => host === victim.name) }));
    return byHost.reduce((busiest, each) => (each.its.length > busiest.its.length ? each : busiest));
  }

  /** Waits until the commits of the tasks' agents are at the remote: a host pushes at most every 30 seconds. */
  async pushed(ids: readonly string[]): Promise<void> {
    const { world } = this.host(0);
    const main = world.git(this.fleet.remote, 'rev-parse', 'main');
    await this.until('the work is pushed', async () => {
      const pushes = (await this.entries()).filter(({ type, data }) => type === 'WorkPushed' && data['sha'] !== main);
      const tasks = new Set(pushes.map(({ data }) => data['task_id']));
      return ids.every((id) => tasks.has(id));
    });
  }

  /** Lets agents end from now on. */
  letGo(): void {
    writeFileSync(join(this.marksFolder, 'go'), '');
  }

  marks(): Mark[] {
    return linesOf(join(this.marksFolder, 'marks')).map((line) => {
      const [what = '', agent = '', host = '', ms = ''] = line.split(' ');
      return { what, agent, host, ms: Number(ms) };
    });
  }

  marksOf(what: string): Mark[] {
    return this.marks().filter((mark) => mark.what === what);
  }

  async entries(): Promise<Entry[]> {
    return this.fleet.entries();
  }

  async count(type: string): Promise<number> {
    return (await this.entries()).filter((entry) => entry.type === type).length;
  }

  async until<T>(
    what: string,
    look: () => Promise<T | undefined | false> | T | undefined | false,
    ms = 60_000,
  ): Promise<T> {
    return until(what, look, ms).catch((error: unknown) => {
      throw new Error(`${String(error)}\n${this.logs()}`);
    });
  }

  /** The last lines of the daemons' logs, for failure messages. */
  logs(): string {
    return this.hosts
      .map(({ name, world }) => `${name}\n${linesOf(join(world.stateDir, 'daemon.log')).slice(-8).join('\n')}`)
      .join('\n');
  }

  /** Waits until every one of these tasks has been handed on. */
  async handedOn(ids: readonly string[], ms = 90_000): Promise<void> {
    await this.until(
      `all of ${ids.length} tasks are handed on`,
      async () => {
        const moved = new Set(
          (await this.entries()).flatMap(({ type, data }) => (type === 'PhaseMoved' ? [data['task_id']] : [])),
        );
        return ids.every((id) => moved.has(id));
      },
      ms,
    );
  }

  /** Finds violations of what must hold at the end of every scenario. */
  async findFaults(): Promise<string[]> {
    const entries = await this.entries();
    const fault = await findChainFault(this.fleet.url, PROJECT);
    const started = this.marksOf('start').map(({ agent }) => agent);
    return [...findBroken(entries, started), ...(fault === undefined ? [] : [`the chain does not verify: ${fault}`])];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fleet[Symbol.asyncDispose]();
    rmSync(this.marksFolder, { recursive: true, force: true, maxRetries: 5 });
  }
}

export interface Mark {
  readonly what: string;
  readonly agent: string;
  readonly host: string;
  readonly ms: number;
}

function filesOf(): Record<string, string> {
  return {
    'baton.toml': RUNBOOK,
    'work.yaml': '- run: node agent.mjs\n- stop\n',
    'agent.mjs': readFileSync(join(import.meta.dirname, 'agent.mjs'), 'utf8'),
  };
}

const RUNBOOK = `
exit_protocol = true
sandbox = "none"
env_pass = ["MARKS", "FLEET_HOST"]
limits = { kill_after = "1s", leave = "5s" }
[agents.worker]
run = "scripted work.yaml"
requires = []
on_dead = "fail"
[workers.w]
tasks = ["K*"]
phases = ["IMPLEMENTATION"]
concurrency = 64
run = { agent = "worker" }
[notify]
desktop = false
terminal = false
`;

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, 'utf8').split('\n').slice(0, -1);
  } catch {
    return [];
  }
}
