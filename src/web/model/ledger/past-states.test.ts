import { describe, expect, it } from 'vitest';
import type { Entry } from '../../../ledger/format/entry.ts';
import { emptyState, foldEntry } from '../../../state/state.ts';
import { PastStates } from './past-states.ts';
import { describePast, type PastView } from './past-view.ts';

const TASKS = 40;
const ENTRIES = 11_300;
const entries: readonly Entry[] = Array.from({ length: ENTRIES }, (_, i) => makeEntry(i + 1));

describe('the state at an entry', () => {
  it('is the fold of the entries up to it, in whatever order it is asked for', async () => {
    const past = new PastStates(new Source());
    for (const seq of [1, 40, 41, 5000, 4999, 11_300, 5001, 7777, 7776, 7775, 250, 11_299])
      expect(await past.look(seq, describePast)).toEqual({ ok: true, result: expectedAt(seq) });
  });

  it('is not folded again from the beginning', async () => {
    const source = new Source();
    const past = new PastStates(source);
    await past.look(ENTRIES, describePast);
    source.entriesRead = 0;
    await past.look(9500, describePast);
    expect(source.entriesRead).toBeLessThanOrEqual(2000);
    source.entriesRead = 0;
    for (const seq of [9499, 9498, 9700, 9250]) await past.look(seq, describePast);
    expect(source.entriesRead).toBe(0);
  });

  it('is correct for several concurrent requests', async () => {
    const past = new PastStates(new Source());
    const seqs = [6000, 100, 6001, 6002];
    const looked = await Promise.all(seqs.map((seq) => past.look(seq, describePast)));
    expect(looked).toEqual(seqs.map((seq) => ({ ok: true, result: expectedAt(seq) })));
  });

  it('is found in parts of any size, and after the ledger has grown', async () => {
    const source = new Source(7);
    source.size = 60;
    const past = new PastStates(source);
    expect(await past.look(60, describePast)).toMatchObject({ ok: true });
    expect(await past.look(61, describePast)).toMatchObject({ ok: false, error: { code: 'no-such-entry' } });
    source.size = 90;
    expect(await past.look(90, describePast)).toEqual({ ok: true, result: expectedAt(90) });
  });

  it('stops when it is no longer needed, and continues from there', async () => {
    const source = new Source();
    const past = new PastStates(source);
    const stop = new AbortController();
    source.beforeRead = (from) => from > 3000 && stop.abort();
    const stopped = await past.look(ENTRIES, describePast, { signal: stop.signal });
    expect(stopped).toMatchObject({ ok: false, error: { code: 'stopped' } });
    source.beforeRead = (from) => expect(from).toBeGreaterThan(3000);
    expect(await past.look(5000, describePast)).toEqual({ ok: true, result: expectedAt(5000) });
  });

  it('names the entry that cannot be folded, and still shows earlier states', async () => {
    const source = new Source();
    source.lines = (from, to) =>
      linesOf(from, to).map((line) => (line.includes('"seq":30,') ? line.replace('"after":', '"before":') : line));
    const past = new PastStates(source);
    const refused = await past.look(35, describePast);
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining('entry 30') } });
    expect(await past.look(29, describePast)).toEqual({ ok: true, result: expectedAt(29) });
  });
});

function makeEntry(seq: number): Entry {
  const task_id = `T${String(((seq - 1) % TASKS) + 1).padStart(3, '0')}`;
  const at = new Date(Date.UTC(2026, 0, 1) + seq * 1000).toISOString();
  const common = { v: 1, project: 'demo', seq, prev: '', at, actor: 'operator:ann', cause: null } as const;
  if (seq <= TASKS) {
    const rest = { n: seq, title: `Task ${seq}`, after: [], priority: 0, phase: 'DRAFT', next_role: null };
    const data = { task_id, ...rest, prompt_file: null, epic_id: null, prd_id: null };
    return { ...common, type: 'TaskCreated', data };
  }
  if (seq % 3 === 0) return { ...common, type: 'DependencyAdded', data: { task_id, after: 'T001' } };
  const to = seq % 7 === 0 ? 'COMPLETED' : seq % 5 === 0 ? 'BLOCKED' : 'IMPLEMENTATION';
  const data = { task_id, to, from: 'DRAFT', next_role: null, reason: 'moved', cause: 'waived' };
  return { ...common, type: 'PhaseMoved', data };
}

function linesOf(from: number, to: number): readonly string[] {
  return entries.slice(from - 1, to).map((entry) => JSON.stringify({ entry, hash: '' }));
}

function expectedAt(seq: number): PastView {
  const state = emptyState();
  for (const entry of entries.slice(0, seq)) foldEntry(state, entry);
  return describePast({ state, seq, at: entries[seq - 1]?.at ?? '' });
}

class Source {
  readonly #most: number;
  size = ENTRIES;
  entriesRead = 0;
  beforeRead: (from: number) => unknown = () => {};
  lines = linesOf;

  constructor(most = 1000) {
    this.#most = most;
  }

  readonly turn = async (): Promise<void> => {};

  readonly readPart = async (from: number, limit: number) => {
    this.beforeRead(from);
    const lines = this.lines(from, Math.min(this.size, from - 1 + Math.min(limit, this.#most)));
    this.entriesRead += lines.length;
    return { ok: true, result: { lines, next: null } } as const;
  };
}
