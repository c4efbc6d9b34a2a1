import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../ledger/format/entry.ts';
import { toRecordedEvent } from './recorded-event.ts';
import { emptyState, evolve } from './state.ts';

/**
 * Ledgers of the version before causes, principals and adopted runbooks, with the state to which that version folded
 * them: one of the demo, and random ones with every other type of entry.
 */
interface OldLedger {
  readonly name: string;
  readonly entries: readonly Pick<Entry, 'seq' | 'at' | 'actor' | 'type' | 'data'>[];
  /** The state, with maps as lists of pairs. */
  readonly state: { readonly [part: string]: unknown; readonly effects: readonly (readonly [string, OldEffect])[] };
}

interface OldEffect {
  readonly [field: string]: unknown;
  readonly key: string;
  readonly place?: object;
}

const FIXTURE = join(import.meta.dirname, '../../test/fixtures/ledger/before-gates.ndjson');
const ledgers = readFileSync(FIXTURE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as OldLedger); // oxlint-disable-line typescript/no-unsafe-type-assertion

describe('a ledger of an earlier version', () => {
  it.each(ledgers.map((ledger) => [ledger.name, ledger] as const))('folds to the same state: %s', (_, ledger) => {
    const state = emptyState();
    for (const entry of ledger.entries) {
      const recorded = toRecordedEvent({ v: 1, project: 'p', prev: '', cause: null, ...entry });
      if (recorded !== undefined) evolve(state, recorded);
    }
    const folded = Object.entries(state).map(([name, part]: [string, unknown]) => [
      name,
      part instanceof Map ? [...part] : part,
    ]);
    expect(JSON.parse(JSON.stringify(Object.fromEntries(folded)))).toMatchObject(expected(ledger.state));
  });

  it('has more than seventy types of entries, and no move with a typed cause', () => {
    const entries = ledgers.flatMap((ledger) => ledger.entries);
    expect(new Set(entries.map(({ type }) => type)).size).toBeGreaterThan(70);
    expect(entries.filter(({ type, data }) => type === 'PhaseMoved' && 'cause' in data)).toEqual([]);
  });
});

/**
 * Adapts an old state. New fields may exist. Authors may be more, because a claim in IMPLEMENTATION now makes an
 * author. Budgets may be more, because a budget is now kept as long as its run, to be checked again after the last
 * process has exited.
 */
function expected({ effects, ...state }: OldLedger['state']): Record<string, unknown> {
  const same: Record<string, unknown> = JSON.parse(JSON.stringify(state), (name, value: unknown) =>
    HAS_MORE.has(name) ? atLeast(value) : value,
  );
  return { ...same, effects: effects.map(([key, effect]) => [key, effectOfToday(effect)]) };
}

/** Old effects had their own field names. The process number is now part of the key of a start. */
function effectOfToday(old: OldEffect) {
  const { key, kind: _, start: __, seq, wakes, about, names, place, checks, ...rest } = old;
  const data = Object.fromEntries(Object.entries(rest).map(([name, value]) => [snakeCase(name), value]));
  return {
    key,
    ...(seq === undefined ? {} : { seq }),
    data: {
      ...data,
      ...place,
      ...(wakes === true ? { wakes } : {}),
      ...(about === undefined ? {} : { kind: about }),
      ...(names === undefined ? {} : { watch: names }),
      ...(checks === undefined ? {} : { checks: atLeast(checks) }),
    },
  };
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

const HAS_MORE: ReadonlySet<string> = new Set(['authors', 'budgets']);

function atLeast(authors: unknown): unknown {
  return expect.arrayContaining(Array.isArray(authors) ? authors : []);
}
