import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Answer } from '../../src/api/answer.ts';
import { Client } from '../../src/api/client/client.ts';
import { startDaemon } from '../../src/api/client/start-daemon.ts';
import type { Contender, Leave, Seat, Venue } from './contender.ts';

/**
 * A baton is a chain of tasks, each after the one before. A task passes through all its phases: five sessions, each of
 * which claims the task and ends with an exit signal that wakes the next; the last session first sends the thought
 * record that completion requires. Every worker waits in `task_claim`.
 */
export function makeBaton(key: string, name: string, open: () => Promise<Venue>): Contender {
  return { key, name, findMissing: () => [], open, fill, join: joinRace };
}

export const baton: Contender = makeBaton('baton', 'Baton (SQLite)', openDaemon);

async function fill(seat: Seat): Promise<void> {
  const client = clientOf(seat);
  const tasks = Math.ceil((seat.handoffs * 1.2) / (seat.batons * PHASES.length)) + 1;
  const createChain = async (_: unknown, chain: number): Promise<void> => {
    for (let n = 0; n < tasks; n++) {
      const after = n === 0 ? {} : { after: [idOf(chain, n - 1)] };
      const task = { task_id: idOf(chain, n), title: 'a task', phase: PHASES[0], ...after };
      require(await client.call('task_create', task));
    }
  };
  await Promise.all(Array.from({ length: seat.batons }, createChain));
  client.close();
}

async function joinRace(seat: Seat): Promise<Leave> {
  // The worker that implemented a task cannot review it, so the two workers are two principals.
  const operator = clientOf(seat);
  const { token } = require(await operator.issueWorkerToken(seat.mine));
  operator.close();
  const client = clientOf(seat, token);
  const leaving = new AbortController();
  const hands = Array.from({ length: seat.batons }, async () => workOn(client, seat, leaving.signal));
  return async () => {
    leaving.abort();
    await Promise.all(hands);
    client.close();
  };
}

/** The phase in which a task's nth exit signal finds it. A claim moves READY_FOR_REVIEW to REVIEW. */
export const PHASES = ['DRAFT', 'IMPLEMENTATION', 'CI_PENDING', 'REVIEW', 'READY_FOR_MERGE'] as const;
const WAIT_MS = 60_000;

async function workOn(client: Client, seat: Seat, signal: AbortSignal): Promise<void> {
  const { commit } = parseAddress(seat.address);
  while (!signal.aborted) {
    const claimed = await client.call('task_claim', { as: seat.mine, wait_ms: WAIT_MS }, { signal });
    if (!claimed.ok && signal.aborted) return;
    const { task_id, epoch, token } = require(claimed);
    const round = Number(/\d+$/.exec(task_id)) * PHASES.length + epoch - 1;
    await seat.work(round);
    const phase_completed = PHASES[epoch - 1];
    if (phase_completed === PHASES.at(-1)) {
      require(await client.call('thought_record', { ...RECORD, task_id, commit_sha: commit }, { token }));
    }
    if (!seat.handOn(round)) return;
    const exit = { protocol: 'apm2_agent_exit', version: '1.0.0', phase_completed, exit_reason: 'completed' };
    require(await client.forward('exit_signal', exit, { token }));
  }
}

export const RECORD = {
  branch: 'main',
  tests_run: ['all'],
  summary: 'Done.',
  blockers: [],
  files_changed: ['a'],
  related_thought_records: [],
};

async function openDaemon(): Promise<Venue> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  const [stateDir, repository] = [join(folder, 'state'), join(folder, 'repository')];
  const commit = createRepository(repository);
  const env = { ...process.env, AGENT_EXIT_PROTOCOL_ENABLED: 'true' };
  const start = await startDaemon({ stateDir, env, deadlineMs: 20_000 });
  if (start.kind !== 'listens') throw new Error(start.kind === 'failed' ? start.error.message : start.kind);
  const place = { stateDir, repository };
  const address = renderAddress({ a: place, b: place, commit });
  return {
    address,
    async close() {
      await clientOf({ address, mine: 'a' }).stop();
      rmSync(folder, { recursive: true });
    },
  };
}

function createRepository(path: string): string {
  mkdirSync(path);
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: path, encoding: 'utf8' }).trim();
  git('init', '--quiet');
  git('-c', 'user.name=b', '-c', 'user.email=b@example.org', 'commit', '--quiet', '--allow-empty', '-m', 'first');
  return git('rev-parse', 'HEAD');
}

function clientOf({ address, mine }: Pick<Seat, 'address' | 'mine'>, given?: string): Client {
  const { stateDir, repository: projectPath } = parseAddress(address)[mine];
  const token = given === undefined ? ({ ofFolder: 'operator' } as const) : { given };
  return new Client({ stateDir, env: process.env, token, projectPath, autostart: false, reachMs: 5000 });
}

/** The daemon of each seat, which may be the same one, and a commit of the repository. */
export interface BatonAddress {
  readonly a: { readonly stateDir: string; readonly repository: string };
  readonly b: { readonly stateDir: string; readonly repository: string };
  readonly commit: string;
}

export function renderAddress(address: BatonAddress): string {
  return JSON.stringify(address);
}

function parseAddress(text: string): BatonAddress {
  return JSON.parse(text) as BatonAddress; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function require(answer: Answer): Claimed {
  if (!answer.ok) throw new Error(`${answer.error.code}: ${answer.error.message}`);
  return answer.result as Claimed; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

interface Claimed {
  readonly task_id: string;
  readonly epoch: number;
  readonly token: string;
}

function idOf(chain: number, n: number): string {
  return `C${chain}-T${n}`;
}
