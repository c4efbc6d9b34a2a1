import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../api/answer.ts';
import type { ShownEntry } from '../../model/ledger/describe-entry.ts';
import { EntryPages, type EntriesPart } from './entry-pages.ts';
import { parseFilter, toFilterInput } from './filter.ts';
import { FoundEntries } from './found-entries.ts';

describe('entries by number', () => {
  it('reads only what is on the screen, and each page once', async () => {
    const reads: string[] = [];
    const pages = new EntryPages(
      async ({ from, to }) => {
        reads.push(`${from}-${to}`);
        return part(from, to);
      },
      () => {},
    );
    pages.want(99_950, 99_990);
    await turns();
    expect(pages.find(99_950)?.seq).toBe(99_950);
    expect(pages.find(99_901)).toBeDefined();
    expect(pages.find(99_900)).toBeUndefined();
    pages.want(99_940, 99_980);
    await turns();
    expect(reads).toEqual(['99901-99990']);
    pages.want(99_890, 99_910);
    await turns();
    expect(reads).toEqual(['99901-99990', '99801-99900']);
  });

  it('reads the rest of a part that was cut, and new entries of the ledger', async () => {
    const reads: string[] = [];
    const pages = new EntryPages(
      async ({ from, to }) => {
        reads.push(`${from}-${to}`);
        return part(from, Math.min(to, from + 9));
      },
      () => {},
    );
    pages.want(1, 15);
    await turns();
    expect(pages.find(15)?.seq).toBe(15);
    pages.want(1, 17);
    await turns();
    expect(reads).toEqual(['1-15', '11-15', '16-17']);
  });

  it('keeps its entries when a read fails, and repeats it', async () => {
    let isDown = true;
    const pages = new EntryPages(
      async ({ from, to }) => (isDown ? away : part(from, to)),
      () => {},
    );
    pages.want(1, 5);
    await turns();
    expect(pages.error?.code).toBe('no-answer');
    isDown = false;
    pages.retry();
    await turns();
    expect(pages.error).toBeUndefined();
    expect(pages.find(5)).toBeDefined();
  });

  it('drops entries that were scrolled away long ago', async () => {
    const pages = new EntryPages(
      async ({ from, to }) => part(from, to),
      () => {},
    );
    for (let page = 0; page < 60; page += 1) {
      pages.want(page * 100 + 1, page * 100 + 100);
      await turns();
    }
    expect(pages.find(1)).toBeUndefined();
    expect(pages.find(6000)).toBeDefined();
  });
});

describe('entries that fit a filter', () => {
  it('are found from the newest down, in parts, even through long stretches without any', async () => {
    const found = new FoundEntries(every(1000), 10_000, () => {});
    await found.more();
    expect(found.entries.map(({ seq }) => seq)).toEqual([10_000]);
    while (!found.isComplete) await found.more();
    expect(found.entries).toHaveLength(10);
    expect(found.searchedTo).toBe(1);
  });

  it('wait until the reader requests them if they are new', async () => {
    const found = new FoundEntries(every(10), 100, () => {});
    await found.more();
    await found.look(395);
    expect(found.newCount).toBe(29);
    expect(found.entries[0]?.seq).toBe(100);
    found.showNew();
    expect(found.newCount).toBe(0);
    expect(found.entries.slice(0, 3).map(({ seq }) => seq)).toEqual([390, 380, 370]);
    while (!found.isComplete) await found.more();
    expect(found.entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 39 }, (_, i) => 390 - 10 * i));
  });

  it('are searched again after a failure, and none is missed', async () => {
    let isDown = false;
    const search = every(10);
    const found = new FoundEntries(
      async (range) => (isDown ? away : search(range)),
      100,
      () => {},
    );
    await found.more();
    isDown = true;
    await found.look(200);
    await found.more();
    expect(found.error?.code).toBe('no-answer');
    isDown = false;
    await found.look(200);
    expect(found.newCount).toBe(10);
  });
});

it('asks for several types, and for nothing that was left empty', () => {
  expect(toFilterInput(parseFilter({ type: 'TaskCreated, AgentEnded', actor: ' ', text: 'a b' }))).toEqual({
    types: ['TaskCreated', 'AgentEnded'],
    text: 'a b',
  });
});

const away = { ok: false, error: { code: 'no-answer', message: 'away', hint: '' } } as const;

function entry(seq: number): ShownEntry {
  return { seq, at: '', actor: '', type: '', cause: null, data: {}, hash: '' };
}

function part(from: number, to: number): Answer<EntriesPart> {
  const entries = Array.from({ length: to - from + 1 }, (_, i) => entry(from + i));
  return { ok: true, result: { entries, next: null } };
}

/** A ledger in which every nth entry matches; a call searches at most 55 entries, and returns at most two. */
function every(n: number) {
  return async ({ from = 1, to = 0 }): Promise<Answer<EntriesPart>> => {
    const entries: ShownEntry[] = [];
    let at = to;
    for (; at >= from && at > to - 55 && entries.length < 2; at -= 1) if (at % n === 0) entries.push(entry(at));
    return { ok: true, result: { entries, next: at >= from ? at : null } };
  };
}

async function turns(): Promise<void> {
  for (let i = 0; i < 50; i += 1) await Promise.resolve();
}
