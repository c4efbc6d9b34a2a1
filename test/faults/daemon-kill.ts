import { parseArgs } from 'node:util';
import type { Answer } from '../../src/api/answer.ts';
import type { Entry } from '../../src/ledger/format/entry.ts';
import { findLedgerFault, readLedger } from '../processes/ledger.ts';
import type { Sent } from '../processes/mixed-worker.ts';
import { until } from '../processes/until.ts';
import { World } from '../processes/world.ts';

export interface DaemonKillReport {
  readonly rounds: number;
  readonly commands: number;
  readonly acknowledged: number;
  readonly refused: number;
  /** Calls that were lost at least once, and answered when they were repeated. */
  readonly retried: number;
  /** Calls that were not answered during the kills: how many of them the ledger contains, and how many not. */
  readonly unheard: { readonly recorded: number; readonly notRecorded: number };
  /** Acknowledged calls that were repeated and got the same answer. */
  readonly repeated: number;
  readonly entries: number;
  readonly seconds: number;
  readonly faults: readonly string[];
}

export interface DaemonKillOptions {
  readonly rounds: number;
  readonly commands: number;
  readonly clients?: number;
}

/** Processes send all kinds of commands about tasks while the daemon is repeatedly killed. */
export async function runDaemonKills({ rounds, commands, clients = 16 }: DaemonKillOptions): Promise<DaemonKillReport> {
  const start = performance.now();
  await using world = await World.open({ AGENT_EXIT_PROTOCOL_ENABLED: 'true' });
  for (let i = 0; i < 4; i += 1) await world.order('task_create', { task_id: `shared-${i}`, title: 'For all' });
  const commit = world.git(world.repository, 'rev-parse', 'HEAD');
  const peers = Array.from({ length: clients }, () => world.peer('mixed-worker'));
  const each = Math.ceil(commands / clients);
  const running = Promise.all(peers.map(async (peer, i) => peer.ask<Sent[]>('run', `c${i}`, each, commit)));
  for (let round = 1; round <= rounds; round += 1) {
    const due = Math.floor((commands * round) / (rounds + 1));
    await Promise.race([until(`${due} are answered`, async () => (await countAnswered()) >= due, 600_000), failing()]);
    // Alternates between a random moment and the moment at which a client gets an answer.
    const killer = round % 2 === 0 ? undefined : peers[round % clients];
    await killer?.ask('killAtNextAnswer', world.daemonPid);
    if (killer !== undefined) await Promise.race([world.daemonEnds(), running]);
    await killer?.ask('killAtNextAnswer', null);
    await world.endDaemon('SIGKILL');
    await world.startDaemon();
    // Some daemons stop regularly, so that the next one starts from a snapshot instead of the first entry.
    if (round % 5 !== 0) continue;
    await world.endDaemon('SIGTERM');
    await world.startDaemon();
  }
  const sent = (await running).flat();
  const before = await readLedger(world);
  const settled = (await Promise.all(peers.map(async (peer) => peer.ask<Sent[]>('settle')))).flat();
  const repeated = (await Promise.all(peers.map(async (peer) => peer.ask<Sent[]>('repeat', 5)))).flat();
  const after = await readLedger(world);
  await world.endDaemon();
  const heard = sent.filter(({ answer }) => answer !== undefined);
  const [keysBefore, keysAfter] = [keysIn(before), keysIn(after)];
  const fault = await findLedgerFault(world);
  const recorded = settled.filter(({ key }) => keysBefore.has(key)).length;
  return {
    rounds,
    commands: sent.length,
    acknowledged: heard.filter(({ answer }) => answer?.ok === true).length,
    refused: heard.filter(({ answer }) => answer?.ok === false).length,
    retried: heard.filter(({ losses }) => losses > 0).length,
    unheard: { recorded, notRecorded: settled.length - recorded },
    repeated: repeated.length,
    entries: after.length,
    seconds: Math.round((performance.now() - start) / 1000),
    faults: [
      ...heard.flatMap((one) => findFault(one, keysBefore)),
      ...settled.flatMap((one) => [...findDoubled(one, keysBefore), ...findFault(one, keysAfter)]),
      ...settled.flatMap((one) => findChanged(one, keysBefore, keysAfter)),
      ...repeated.flatMap((one) => [...findFault(one, keysAfter), ...findChanged(one, keysBefore, keysAfter)]),
      ...findImpossible(after),
      ...(fault === undefined ? [] : [`the ledger does not verify: ${fault}`]),
    ],
  };

  async function countAnswered(): Promise<number> {
    const counts = await Promise.all(peers.map(async (peer) => peer.ask<number>('progress')));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Rejects if a client fails, and otherwise never settles. */
  async function failing(): Promise<never> {
    await running;
    return new Promise<never>(() => undefined);
  }
}

interface Found {
  readonly seq: number;
  readonly answer: unknown;
}

/** The commands that the ledger has settled, by key. */
export function keysIn(entries: readonly Entry[]): Map<string, Found[]> {
  const keys = new Map<string, Found[]>();
  for (const { seq, data } of entries) {
    const settles = data['settles'] as { key: string; answer: unknown } | undefined; // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (settles === undefined) continue;
    const key = settles.key.slice(settles.key.lastIndexOf(':') + 1);
    keys.set(key, [...(keys.get(key) ?? []), { seq, answer: settles.answer }]);
  }
  return keys;
}

/** An acknowledged command must be recorded once, with the same answer; a refused one must not be recorded. */
export function findFault({ key, operation, answer }: Sent, keys: Map<string, Found[]>): string[] {
  const found = keys.get(key) ?? [];
  const name = `${operation} ${key}`;
  if (answer === undefined) return [`${name} was never answered`];
  if (!answer.ok) {
    if (!EXPECTED.has(answer.error.code)) return [`${name} was refused: ${answer.error.code}: ${answer.error.message}`];
    return found.length === 0 ? [] : [`${name} was refused, and is in the ledger`];
  }
  if (found.length !== 1) return [`${name} was acknowledged, and is there ${found.length} times`];
  return isSame(answer, found[0])
    ? []
    : [`${name} was answered ${JSON.stringify(answer)}, not ${JSON.stringify(found)}`];
}

/** Refusals that this mix of commands causes. */
const EXPECTED: ReadonlySet<string> = new Set(['already-claimed', 'claim-ended', 'stale-claim', 'wrong-task']);

function isSame(answer: Answer & { ok: true }, found: Found | undefined): boolean {
  const [given, kept] = [fieldsOf(answer.result), fieldsOf(found?.answer)];
  return ['epoch', 'session_id', 'n', 'next_phase', 'exit_reason'].every(
    (name) => !(name in kept) || !(name in given) || given[name] === kept[name],
  );
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function findDoubled({ key, operation }: Sent, keys: Map<string, Found[]>): string[] {
  const count = keys.get(key)?.length ?? 0;
  return count <= 1 ? [] : [`${operation} ${key} was never acknowledged, and is there ${count} times`];
}

/** Finds entries that repeated commands have changed or moved. */
function findChanged(
  { key, operation, answer }: Sent,
  before: Map<string, Found[]>,
  after: Map<string, Found[]>,
): string[] {
  const [was, is] = [before.get(key)?.[0]?.seq, after.get(key)?.[0]?.seq];
  if (was === undefined) return [];
  return was === is && answer?.ok === true ? [] : [`${operation} ${key} was there, and its retry did not find it`];
}

/**
 * Finds violations independent of keys: a task that was created twice, or a claim that begins before the previous one
 * ended.
 */
export function findImpossible(entries: readonly Entry[]): string[] {
  const made = new Set<unknown>();
  const live = new Map<unknown, unknown>();
  const epochs = new Map<unknown, number>();
  const faults: string[] = [];
  for (const { seq, type, data } of entries) {
    const { task_id: id, epoch } = data;
    if (type === 'TaskCreated') {
      if (made.has(id)) faults.push(`${seq}: ${JSON.stringify(id)} is made twice`);
      made.add(id);
    } else if (type === 'TaskClaimed') {
      if (live.has(id)) faults.push(`${seq}: ${JSON.stringify(id)} is claimed twice`);
      if (epoch !== (epochs.get(id) ?? 0) + 1) faults.push(`${seq}: ${JSON.stringify(id)} skips an epoch`);
      live.set(id, epoch);
      epochs.set(id, Number(epoch));
    } else if (type.startsWith('Claim')) {
      if (live.get(id) !== epoch) faults.push(`${seq}: the claim on ${JSON.stringify(id)} ends twice`);
      live.delete(id);
    }
  }
  return faults;
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { rounds: { type: 'string', default: '20' }, commands: { type: 'string', default: '10000' } },
  });
  const report = await runDaemonKills({ rounds: Number(values.rounds), commands: Number(values.commands) });
  process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
