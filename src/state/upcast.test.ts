import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Entry } from '../ledger/format/entry.ts';
import { toRecordedEvent, upcast } from './recorded-event.ts';
import { emptyState, evolve } from './state.ts';

interface Scene {
  readonly name: string;
  /** Entries from before causes were typed: moves have a reason but no cause. */
  readonly entries: readonly Pick<Entry, 'seq' | 'at' | 'actor' | 'type' | 'data'>[];
  /** The tasks to which the code of that time folded them. */
  readonly tasks: Readonly<Record<string, object>>;
}

const FIXTURE = join(import.meta.dirname, '../../test/fixtures/ledger/before-typed-causes.ndjson');
const scenes = readFileSync(FIXTURE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Scene); // oxlint-disable-line typescript/no-unsafe-type-assertion

describe('a ledger from before typed causes', () => {
  it.each(scenes.map((scene) => [scene.name, scene] as const))('folds to the same tasks: %s', (_, scene) => {
    const state = emptyState();
    for (const entry of scene.entries) {
      const recorded = toRecordedEvent({ v: 1, project: 'p', prev: '', cause: null, ...entry });
      if (recorded !== undefined) evolve(state, recorded);
    }
    expect(Object.fromEntries(state.tasks)).toMatchObject(scene.tasks);
    for (const [id, task] of Object.entries(scene.tasks))
      expect(state.tasks.get(id)?.blocked).toEqual('blocked' in task ? task.blocked : null);
  });

  it('has moves without a cause, which are read by the table', () => {
    const moves = scenes.flatMap(({ entries }) => entries.filter(({ type }) => type === 'PhaseMoved'));
    expect(moves.length).toBeGreaterThan(20);
    expect(moves.filter(({ data }) => 'cause' in data)).toEqual([]);
  });
});

describe('the cause of an old move', () => {
  const causeOf = (actor: string, reason: string): unknown =>
    upcast({ type: 'PhaseMoved', actor, data: { reason } })['cause'];

  it.each([
    ['operator:ann', 'cancelled: not wanted', 'cancelled'],
    ['operator:ann', 'waived: by hand', 'waived'],
    ['system:engine', 'decision: deny', 'decision'],
    ['system:merge', 'merge refused: no branch', 'merge-refused'],
    ['system:merge', 'merged as abc', 'merged'],
    ['system:ci', 'check failed: unit', 'checks'],
  ])('%s, %s: %s', (actor, reason, cause) => {
    expect(causeOf(actor, reason)).toBe(cause);
  });

  it.each(['cancelled: x', 'waived: x', 'decision: x', 'merge refused: x', 'merged as abc', 'check failed: x'])(
    'is never read from the text of a session: %s',
    (reason) => {
      expect(causeOf('session:s1', reason)).toBe('unrecorded');
    },
  );

  it('is not read from text if the entry has one', () => {
    const data = { reason: 'cancelled: x', cause: 'updated' };
    expect(upcast({ type: 'PhaseMoved', actor: 'operator:ann', data })).toBe(data);
  });
});
