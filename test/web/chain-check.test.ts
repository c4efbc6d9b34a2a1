import { beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../src/api/answer.ts';
import { webVerifier } from '../../src/ledger/format/crypto.ts';
import { MemoryStore } from '../../src/ledger/memory-store.ts';
import type { StoredEntry } from '../../src/ledger/store.ts';
import { renderEntryLine } from '../../src/ledger/verify/export-line.ts';
import { openTestLedger, record, testDraft, testOptions } from '../../src/ledger/writer/ledger.cases.ts';
import type { Ledger } from '../../src/ledger/writer/ledger.ts';
import { ChainCheck, type SignedPart } from '../../src/web/hub/chain-check.ts';

const DAY = Date.UTC(2026, 0, 2);

/** A ledger behind a daemon, and a browser with memory. */
class World {
  ledger: Ledger;
  memory: unknown;
  isAway = false;
  partEntries = 7;
  reads: number[] = [];
  isDiskFull = false;
  /** Changes the entries in transit or in the store. */
  tamper: (lines: readonly string[]) => readonly string[] = (lines) => lines;

  checkpoint = (note: string): string => note;

  constructor(ledger: Ledger) {
    this.ledger = ledger;
  }

  open(): ChainCheck {
    return new ChainCheck('demo', {
      verifier: webVerifier,
      readPart: async (from) => this.#read(from),
      turn: async () => {},
      now: () => DAY,
      read: async () => this.memory,
      write: async (memory) => {
        if (this.isDiskFull) throw new Error('the quota is exceeded');
        this.memory = JSON.parse(JSON.stringify(memory));
      },
      onChange: () => {},
    });
  }

  async verify(): Promise<ChainCheck> {
    const check = this.open();
    await check.run();
    return check;
  }

  async #read(from: number): Promise<Answer<SignedPart>> {
    if (this.isAway) return { ok: false, error: { code: 'no-answer', message: 'away', hint: '' } };
    this.reads.push(from);
    const stored: StoredEntry[] = [];
    for await (const batch of this.ledger.store.entries({ from: 1 })) stored.push(...batch);
    const whole = stored.findIndex(({ note }, i) => note !== undefined && i + 1 >= from - 1 + this.partEntries);
    const end = whole === -1 ? stored.length : whole + 1;
    const lines = this.tamper(stored.map(({ bytes, hash }) => renderEntryLine(new TextDecoder().decode(bytes), hash)));
    const checkpoint = this.checkpoint(stored[end - 1]?.note ?? '');
    return {
      ok: true,
      result: { lines: lines.slice(from - 1, end), next: end < stored.length ? end + 1 : null, checkpoint },
    };
  }
}

let world: World;

beforeEach(async () => {
  world = new World(await ledgerWith(40));
});

describe('the chain, verified in the browser', () => {
  it('is not shown as running forever if the browser cannot remember it', async () => {
    world.isDiskFull = true;
    const check = await world.verify();
    expect(check.verified).toMatchObject({ isRunning: false, paused: { message: expect.stringContaining('quota') } });
    world.isDiskFull = false;
    await check.run();
    expect(check.verified).toMatchObject({ to: 41, isRunning: false });
    expect(check.verified).not.toHaveProperty('paused');
  });

  it('is verified to its end, part by part', async () => {
    const { verified } = await world.verify();
    expect(verified).toMatchObject({ to: 41, isRunning: false, at: DAY });
    expect(verified.broken).toBeUndefined();
    expect(verified.keys).toHaveLength(1);
    expect(world.reads).toEqual([1, 12, 22, 32]);
  });

  it('continues from its last position, even after the page was closed', async () => {
    const check = await world.verify();
    world.reads = [];
    await record(world.ledger, [testDraft(50), testDraft(51)]);
    expect(check.isBehind(43)).toBe(true);
    await check.run();
    expect(check.verified.to).toBe(43);
    expect(check.isBehind(43)).toBe(false);
    await record(world.ledger, [testDraft(52)]);
    const reopened = world.open();
    await reopened.load();
    expect(reopened.verified).toMatchObject({ to: 43 });
    await reopened.run();
    expect(reopened.verified.to).toBe(44);
    // The last known entry is compared after each opening.
    expect(world.reads).toEqual([42, 43]);
  });

  it('waits while the daemon does not answer, and reports no fault', async () => {
    world.isAway = true;
    const check = await world.verify();
    expect(check.verified).toMatchObject({ to: 0, paused: { code: 'no-answer' } });
    expect(check.verified.broken).toBeUndefined();
    world.isAway = false;
    await check.run();
    expect(check.verified.to).toBe(41);
    expect(check.verified.paused).toBeUndefined();
  });
});

describe('an invalid chain', () => {
  it('is reported with its first faulty entry, the expected and the found value', async () => {
    world.tamper = (lines) => lines.with(19, (lines[19] ?? '').replace('Schritt 18', 'Schritt 19'));
    const { broken } = (await world.verify()).verified;
    expect(broken).toMatchObject({ seq: 20, code: 'ledger/wrong-hash' });
    expect(broken?.expected).toMatch(/^hash [0-9a-f]{64}$/);
    expect(broken?.found).toMatch(/^hash [0-9a-f]{64}$/);
    expect(broken?.found).not.toBe(broken?.expected);
  });

  it('is reported if an entry was left out, or inserted with its own hash', async () => {
    world.tamper = (lines) => lines.toSpliced(9, 1);
    expect((await world.verify()).verified.broken).toMatchObject({
      seq: 10,
      expected: 'entry 10',
      found: 'entry 11',
    });
    world.memory = undefined;
    let foreign = '';
    const other = new World(await ledgerWith(40, 100));
    other.tamper = (lines) => {
      foreign = lines[9] ?? '';
      return lines;
    };
    await other.verify();
    world.tamper = (lines) => lines.with(9, foreign);
    const { broken } = (await world.verify()).verified;
    expect(broken?.seq).toBe(10);
    expect(broken?.expected).toMatch(/^previous hash/);
  });

  it('is reported if the signed checkpoint states another tree', async () => {
    const other = await (await ledgerWith(40, 100)).store.findCheckpoint();
    world.partEntries = 100;
    world.checkpoint = () => other?.note ?? '';
    expect((await world.verify()).verified.broken).toMatchObject({ seq: 41, code: 'ledger/wrong-root' });
  });

  it('stays broken after the page was closed, until it was verified again from the start', async () => {
    world.tamper = (lines) => lines.with(19, (lines[19] ?? '').replace('Schritt 18', 'Schritt 19'));
    await world.verify();
    world.tamper = (lines) => lines;
    const reopened = world.open();
    await reopened.load();
    expect(reopened.verified.broken?.seq).toBe(20);
    expect(reopened.isBehind(41)).toBe(false);
    await reopened.run('again');
    expect(reopened.verified).toMatchObject({ to: 41 });
    expect(reopened.verified.broken).toBeUndefined();
  });
});

describe('what this browser remembers', () => {
  it('is missing if the ledger was rolled back, even by a copy that is valid by itself', async () => {
    await world.verify();
    world.ledger = await ledgerWith(30);
    const check = await world.verify();
    expect(check.verified.broken).toMatchObject({ code: 'ledger/rolled-back', isRewritten: true });
    expect(check.verified.broken?.message).toContain('41 entries on 2026-01-02');
    await check.run('again');
    expect(check.verified.broken).toMatchObject({ seq: 32, code: 'ledger/rolled-back' });
    const reopened = world.open();
    await reopened.run('again');
    expect(reopened.verified.broken).toMatchObject({ seq: 32 });
  });

  it('is missing if the ledger was rewritten, however long it is now', async () => {
    await world.verify();
    for (const count of [40, 60]) {
      world.ledger = await ledgerWith(count, 500);
      const check = await world.verify();
      expect(check.verified.broken).toMatchObject({ seq: 41, code: 'ledger/forked', isRewritten: true });
      await check.run('again');
      expect(check.verified.broken).toMatchObject({ seq: 41, code: 'ledger/forked' });
    }
  });

  it('is missing as soon as the ledger becomes shorter', async () => {
    const check = await world.verify();
    world.ledger = await ledgerWith(30);
    await check.run();
    expect(check.verified.broken).toMatchObject({ code: 'ledger/rolled-back', isRewritten: true });
  });

  it('is compared again after the daemon was away, even without new entries', async () => {
    const check = await world.verify();
    expect(check.isBehind(41)).toBe(false);
    world.ledger = await ledgerWith(40, 500);
    check.compareAgain();
    expect(check.isBehind(41)).toBe(true);
    await check.run();
    expect(check.verified.broken).toMatchObject({ seq: 41, code: 'ledger/forked' });
  });

  it("is dropped only on the user's request", async () => {
    await world.verify();
    world.ledger = await ledgerWith(30);
    const check = await world.verify();
    await check.run('forget');
    expect(check.verified).toMatchObject({ to: 31 });
    expect(check.verified.broken).toBeUndefined();
    expect((await world.verify()).verified.broken).toBeUndefined();
  });

  it('is ignored if it was damaged, or is of another project', async () => {
    await world.verify();
    const kept = JSON.stringify(world.memory);
    for (const memory of [kept.replace('"demo"', '"other"'), '{"v":1,"position":{"size":9}}', '[]', 'null']) {
      world.memory = JSON.parse(memory);
      const check = world.open();
      await check.load();
      expect(check.verified.to).toBe(0);
      await check.run();
      expect(check.verified.to).toBe(41);
    }
  });
});

async function ledgerWith(count: number, first = 0): Promise<Ledger> {
  const ledger = await openTestLedger(testOptions({ store: new MemoryStore() }));
  for (let i = 0; i < count; i += 5)
    await record(
      ledger,
      Array.from({ length: 5 }, (_, j) => testDraft(first + i + j)),
    );
  return ledger;
}
