import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliDecompressSync } from 'node:zlib';
import { type Entry, parseEntry } from '../src/ledger/format/entry.ts';
import { emptyState, foldEntry, type State } from '../src/state/state.ts';
import { atMost, type Benchmark, type Measure } from './measure.ts';

/** The memory that closed workflows keep, by the part of the state that keeps it. */
export const state: Benchmark = {
  name: 'state',
  async run() {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void; // oxlint-disable-line typescript/no-unsafe-type-assertion
    const heap = (): number => (collect(), process.memoryUsage().heapUsed);
    const before = heap();
    const folded = fold(WORKFLOWS);
    const whole = (heap() - before) / WORKFLOWS;
    const parts = Object.entries(folded).flatMap(([name, part]: [string, unknown]): Measure[] => {
      if (!(part instanceof Map) || part.size === 0) return [];
      const full = heap();
      part.clear();
      const bytes = (full - heap()) / WORKFLOWS;
      return bytes < LEAST_BYTES ? [] : [measureOf(`closed workflow: ${name}`, bytes, whole)];
    });
    return [measureOf('closed workflow', whole, LIMIT_BYTES), ...parts.toSorted((a, b) => b.value - a.value)];
  },
};

const WORKFLOWS = 1000;
const LIMIT_BYTES = 64_000;
const LEAST_BYTES = 100;

function measureOf(name: string, bytes: number, against: number): Measure {
  return atMost(1, {
    name,
    value: bytes / 1000,
    unit: 'kB',
    against: against === LIMIT_BYTES ? 'limit' : 'whole',
    limit: against / 1000,
  });
}

/** Folds copies of a recorded workflow, each with its own ids, as one ledger. */
function fold(copies: number): State {
  const texts = workflowOf(recordedEntries()).map((entry) => JSON.stringify(entry));
  const folded = emptyState();
  for (let n = 0; n < copies; n += 1) {
    const hex = n.toString(16).padStart(4, '0');
    for (const text of texts) {
      const own = text.replaceAll('W-00001', `W-${n}`).replaceAll(UUID, `$<first>${hex}`);
      const entry = { ...(JSON.parse(own) as Entry), seq: folded.seq + 1 }; // oxlint-disable-line typescript/no-unsafe-type-assertion
      foldEntry(folded, entry);
    }
  }
  return folded;
}

const UUID = /(?<first>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{8})[0-9a-f]{4}/g;

/** The entries of the workflow and of its sessions. */
function workflowOf(entries: readonly Entry[]): readonly Entry[] {
  const agents = new Set(
    entries.flatMap(({ type, data }) =>
      type === 'AgentRequested' && JSON.stringify(data).includes('W-00001') ? [data['agent_id']] : [],
    ),
  );
  return entries.filter(({ data }) => data['task_id'] === 'W-00001' || agents.has(data['agent_id'] ?? ''));
}

function recordedEntries(): readonly Entry[] {
  const packed = readFileSync(join(import.meta.dirname, '../test/fixtures/recorded/place.json.br'));
  const files = JSON.parse(brotliDecompressSync(packed).toString()) as Record<string, string>; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const [, content = ''] = Object.entries(files).find(([path]) => path.endsWith('.db')) ?? [];
  const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
  try {
    const path = join(folder, 'ledger.db');
    writeFileSync(path, Buffer.from(content, 'base64'));
    using database = new DatabaseSync(path);
    return database
      .prepare('SELECT bytes FROM entry ORDER BY seq')
      .all()
      .flatMap(({ bytes }) => {
        const entry = bytes instanceof Uint8Array ? parseEntry(bytes) : undefined;
        return entry?.ok === true ? [entry.value] : [];
      });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
