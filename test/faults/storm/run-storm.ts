import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { readDaemonRecord, recordDownIntent } from '../../../src/api/state-folder.ts';
import { findProcesses } from '../../processes/find-processes.ts';
import { findLedgerFault, readLedger } from '../../processes/ledger.ts';
import { World } from '../../processes/world.ts';
import { checkStorm } from './check-storm.ts';
import { type Fault, FAULTS, type FaultScene, happen, linesOf } from './faults.ts';
import { randomFrom } from './random.ts';
import { runAll } from './run-workflows.ts';
import { falseAllClears, watchStatus, type Window } from './watch-status.ts';

export interface StormOptions {
  readonly workflows: number;
  readonly agents: number;
  readonly seed: number;
  readonly minutes: number;
  readonly faults?: readonly Fault[];
  /** A folder for the evidence of a run with faults: state folder, notes, times of the faults. */
  readonly evidence?: string;
}

export interface StormReport {
  readonly seed: number;
  readonly workflows: number;
  readonly done: number;
  readonly failed: number;
  readonly unfinished: number;
  readonly seconds: number;
  readonly happened: Readonly<Record<string, number>>;
  readonly disk: 'a tmpfs of its own' | 'a limit on the size of files';
  readonly daemons: number;
  readonly acknowledged: number;
  /** How many of them were kept in the outbox. */
  readonly kept: number;
  /** The number of answers of `status_get`, and of all-clears among them. */
  readonly answers: number;
  readonly allClears: number;
  readonly lost: number;
  readonly startedTwice: number;
  readonly falseDeaths: number;
  readonly falseAllClears: number;
  readonly faults: readonly string[];
}

const runbook = (agents: number): string => `
limits = { agents = ${agents}, kill_after = "2s" }
[agents.worker]
run = "scripted works.yaml"
on_dead = "fail"
env = { STORM_FOLDER = "\${env.STORM_FOLDER}" }
[agents.again]
run = "scripted works.yaml"
on_dead = { action = "resume", attempts = 3 }
env = { STORM_FOLDER = "\${env.STORM_FOLDER}" }
[agents.claims]
run = "scripted works.yaml"
requires = []
on_dead = "fail"
env = { STORM_FOLDER = "\${env.STORM_FOLDER}" }
[workers.storm]
phases = ["IMPLEMENTATION"]
concurrency = ${Math.ceil(agents / 2)}
run = { agent = "claims" }
[pipelines.flow]
steps = [{ name = "work", run = { agent = "worker" } }, { name = "review", run = { agent = "again" } }]
[notify]
desktop = false
terminal = false
`;

/** Runs workflows while the daemon is randomly stopped, killed, locked out of its database and without disk space. */
export async function runStorm(options: StormOptions): Promise<StormReport> {
  const { workflows, agents, seed, minutes, faults: wanted = FAULTS } = options;
  const begun = performance.now();
  const deadline = begun + minutes * 60_000;
  const random = randomFrom(seed);
  const world = new World({ BATON_TICK_MS: '200', ...CLAIMS, ...RESTARTS });
  const folder = join(world.folder, 'storm');
  mkdirSync(folder);
  cpSync(join(import.meta.dirname, 'agent.mjs'), join(folder, 'agent.mjs'));
  const script = `- run: node ${folder}/agent.mjs\n- stop\n`;
  world.commit(world.repository, { 'baton.toml': runbook(agents), 'works.yaml': script }, 'a runbook');
  const hasOwnDisk = mountDisk(world.stateDir);
  try {
    await world.startDaemon({ env: { STORM_FOLDER: folder } });
    const scene: FaultScene = { world, folder, random, crowd: agents, hasOwnDisk };
    const status = watchStatus(world);
    const windows: Window[] = [];
    const daemons = new Set<number>();
    let isOver = false;
    const storming = (async () => {
      while (!isOver) {
        await pause(500 + random() * 2500);
        daemons.add(readDaemonRecord(world.stateDir)?.pid ?? 0);
        const fault = wanted[Math.floor(random() * wanted.length)] ?? 'kill';
        const fromMs = performance.now();
        if (isOver) break;
        await happen(fault, scene);
        windows.push({ fault, fromMs, toMs: performance.now() });
      }
    })();
    const ends = await runAll(world, workflows, agents, deadline);
    isOver = true;
    await storming;
    await status.stop();
    const notes = linesOf(folder);
    const found = checkStorm({ entries: await readLedger(world), notes });
    const fault = await findLedgerFault(world);
    const unproven = falseAllClears(status.answers, windows, GRACE_MS);
    const count = (what: string): number => notes.filter((line) => line.startsWith(`${what} `)).length;
    const ended = (how: (end: string) => boolean): number => [...ends.values()].filter(how).length;
    const report: StormReport = {
      seed,
      workflows,
      done: ended((end) => end === 'done'),
      failed: ended((end) => end !== 'done' && end !== 'unfinished'),
      unfinished: workflows - ends.size + ended((end) => end === 'unfinished'),
      seconds: Math.round((performance.now() - begun) / 1000),
      happened: Object.fromEntries(FAULTS.map((each) => [each, windows.filter((one) => one.fault === each).length])),
      disk: hasOwnDisk ? 'a tmpfs of its own' : 'a limit on the size of files',
      daemons: daemons.size,
      acknowledged: count('acknowledged') + count('kept'),
      kept: count('kept'),
      answers: status.answers.length,
      allClears: status.answers.filter(({ isAllClear }) => isAllClear).length,
      lost: found.lost.length,
      startedTwice: found.startedTwice.length,
      falseDeaths: found.falseDead.length,
      falseAllClears: unproven.length,
      faults: [
        ...found.lost.map((each) => `an acknowledged signal is lost: ${each}`),
        ...found.startedTwice.map((each) => `a session was started twice: ${each}`),
        ...found.falseDead.map((each) => `a false death: ${each}`),
        ...unproven,
        ...notes.filter((line) => line.startsWith('gave-up ')).map((line) => `an agent could not signal: ${line}`),
        ...[...ends].filter(([, end]) => end !== 'done').map(([id, end]) => `workflow ${id}: ${end}`),
        ...(fault === undefined ? [] : [`the ledger does not verify: ${fault}`]),
      ],
    };
    if (options.evidence !== undefined && report.faults.length > 0) {
      const times = windows.map((one) => ({ ...one, from: isoOf(one.fromMs), to: isoOf(one.toMs) }));
      writeFileSync(join(folder, 'faults.json'), JSON.stringify(times, null, 1));
      execFileSync('cp', ['-r', folder, world.stateDir, options.evidence]);
    }
    return report;
  } finally {
    recordDownIntent(world.stateDir);
    for (let left = findProcesses(world.stateDir); left.length > 0; left = findProcesses(world.stateDir)) {
      for (const pid of left) end(pid);
      await pause(50);
    }
    if (hasOwnDisk) execFileSync('umount', ['--lazy', world.stateDir]);
    await world[Symbol.asyncDispose]();
  }
}

/** Longer than a lock or a stop, and short enough to expire without renewal. */
const CLAIMS = { BATON_CLAIM_EXPIRY_MS: '30000', BATON_RENEWAL_MS: '1000' };

/** Every crash counts as the first, so that the watchdog does not give up during the storm. */
const RESTARTS = { BATON_RESTART: 'on', BATON_RESTART_FIRST_MS: '300', BATON_RESTART_STEADY_MS: '1' };

/** How long a daemon may take to notice that it cannot write. */
const GRACE_MS = 4000;
const DISK_MB = 96;

/** In a separate mount namespace, only this process and its children see the disk. */
function mountDisk(stateDir: string): boolean {
  mkdirSync(stateDir, { recursive: true, mode: 0o700 });
  if (process.env['STORM_MOUNTS'] !== '1') return false;
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MB}m,mode=700`, 'tmpfs', stateDir], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function isoOf(atMs: number): string {
  return new Date(performance.timeOrigin + atMs).toISOString();
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has exited.
  }
}
