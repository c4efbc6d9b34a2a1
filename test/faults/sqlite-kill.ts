import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { toHex } from '../../src/ledger/format/bytes.ts';
import { TestFolder } from '../../src/ledger/sqlite/sqlite.cases.ts';
import type { Store } from '../../src/ledger/store.ts';
import { verifyLedger } from '../../src/ledger/verify/verify-ledger.ts';
import { nodeVerifier } from '../../src/ledger/writer/keys.ts';

export interface KillReport {
  readonly rounds: number;
  readonly acknowledged: number;
  readonly entries: number;
  readonly faults: readonly string[];
}

/** Repeatedly kills a writer at random moments; every acknowledged entry must still exist. */
export async function runKillRounds(rounds: number, random: () => number = Math.random): Promise<KillReport> {
  using folder = new TestFolder();
  const acknowledged = new Map<number, string>();
  const faults: string[] = [];
  let entries = 0;
  for (let round = 0; round < rounds; round += 1) {
    // Every other round ends at a random time after the start, which includes the creation or recovery of the file; the
    // rest end after a number of acknowledgements, within a commit or a checkpoint of the WAL.
    const moment = round % 2 === 0 ? { ms: random() * 500 } : { lines: Math.floor(random() * 400) };
    for (const [seq, hash] of await writeAndKill(folder.ledger, moment)) {
      if (acknowledged.has(seq)) faults.push(`round ${round}: entry ${seq} was acknowledged twice`);
      acknowledged.set(seq, hash);
    }
    const isAll = round === rounds - 1 || round % 50 === 0;
    const scope = { where: `round ${round}`, from: isAll ? 1 : entries + 1, isAll };
    entries = await checkLedger(folder, acknowledged, faults, scope);
  }
  return { rounds, acknowledged: acknowledged.size, entries, faults };
}

type Moment = { readonly ms: number } | { readonly lines: number };

async function writeAndKill(path: string, moment: Moment): Promise<[number, string][]> {
  const writer = spawn(process.execPath, [join(import.meta.dirname, 'sqlite-writer.ts'), path], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(writer, 'close');
  let output = '';
  let complaints = '';
  writer.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });
  writer.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if ('lines' in moment && output.length >= moment.lines * 70) writer.kill('SIGKILL');
  });
  const deadline = setTimeout(() => writer.kill('SIGKILL'), 'ms' in moment ? moment.ms : 20_000);
  await ended;
  clearTimeout(deadline);
  if (writer.signalCode !== 'SIGKILL') throw new Error(`the writer ended by itself: ${complaints}`);
  // The kill may have cut the last line; an unread line is not acknowledged.
  const lines = output
    .slice(0, output.lastIndexOf('\n') + 1)
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => [Number(line.split(' ')[0]), line.split(' ')[1] ?? '']);
}

interface Scope {
  readonly where: string;
  /** The first entry to compare with the acknowledgements. */
  readonly from: number;
  /** Whether the whole ledger is verified too. */
  readonly isAll: boolean;
}

/**
 * Opens the ledger like a daemon, and checks the newly acknowledged entries. At intervals it checks all, which takes
 * longer and longer.
 */
async function checkLedger(
  folder: TestFolder,
  acknowledged: ReadonlyMap<number, string>,
  faults: string[],
  { where, from, isAll }: Scope,
): Promise<number> {
  const opened = await folder.tryOpen();
  if (!opened.ok) {
    faults.push(`${where}: ${opened.problem.message}`);
    return 0;
  }
  const { ledger } = opened;
  const { size } = ledger.head;
  let seq = from - 1;
  for await (const batch of ledger.store.hashes({ from })) {
    for (const hash of batch) {
      seq += 1;
      const known = acknowledged.get(seq);
      if (known !== undefined && known !== toHex(hash)) faults.push(`${where}: entry ${seq} is another one`);
    }
  }
  let newest = 0;
  for (const each of acknowledged.keys()) newest = Math.max(newest, each);
  if (newest > size) faults.push(`${where}: entry ${newest} was acknowledged and is lost, there are ${size}`);
  if (isAll) {
    faults.push(...(await findDoubles(ledger.store, where)));
    const outside = readFileSync(folder.outside, 'utf8');
    const verified = await verifyLedger(ledger.store, { project: 'demo', verifier: nodeVerifier, outside });
    if (!verified.ok) faults.push(`${where}: ${verified.findings[0].problem.message}`);
  }
  await ledger.close();
  return size;
}

/** Finds drafts that were recorded twice; each draft of each writer has a unique mark. */
async function findDoubles(store: Store, where: string): Promise<string[]> {
  const seen = new Set<string>();
  const faults: string[] = [];
  for await (const batch of store.entries({ from: 1 })) {
    for (const { bytes, seq } of batch) {
      const mark = /"mark":"([^"]+)"/.exec(new TextDecoder().decode(bytes))?.[1];
      if (mark === undefined) continue;
      if (seen.has(mark)) faults.push(`${where}: entry ${seq} was recorded before`);
      seen.add(mark);
    }
  }
  return faults;
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { rounds: { type: 'string', default: '1000' } } });
  const report = await runKillRounds(Number(values.rounds));
  process.stdout.write(`${JSON.stringify(report)}\n`);
  process.exitCode = report.faults.length === 0 ? 0 : 1;
}
