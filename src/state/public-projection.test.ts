import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import { Play } from '../engine/play.cases.ts';
import { SPEECHES } from '../engine/speech.cases.ts';
import type { RecordedEvent } from './event.ts';
import * as runs from './runs/say.cases.ts';
import * as say from './say.cases.ts';
import { restoreState, toStateJson } from './json-form.ts';
import { publicProjection } from './public-projection.ts';
import { emptyState, evolve, type State } from './state.ts';

/** Recorded ledgers that together have every type of entry. */
const LEDGERS = gunzipSync(readFileSync('test/fixtures/recorded/entries.ndjson.gz'))
  .toString('utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as readonly RecordedEvent[]); // oxlint-disable-line typescript/no-unsafe-type-assertion

describe('the state of the page', () => {
  it('continues from a projection at any entry of recorded ledgers as the daemon does', () => {
    for (const entries of LEDGERS)
      for (let cut = 0; cut <= entries.length; cut += 1)
        expect(seenByPage(entries, cut), `after entry ${cut}`).toEqual(viewOf(fold(entries)));
  });

  it('continues from a projection at any entry of any story', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(...SPEECHES), { maxLength: 60, size: 'max' }), fc.nat(), (story, cut) => {
        const play = new Play({ ciGate: true });
        for (const speech of story) {
          const said = speech(play);
          if (said !== undefined) play.attempt(...said);
        }
        const { entries } = play;
        expect(seenByPage(entries, cut % (entries.length + 1))).toEqual(viewOf(fold(entries)));
      }),
      { numRuns: samples(100) },
    );
  }, 60_000);

  it('holds no prompt, variable, message, description, record, handoff or answer of a command', () => {
    const plan = { prompt: 'HIDDEN', env: { KEY: 'HIDDEN' } };
    const play = new Play()
      .order(runs.startAgent(runs.agentPlan(plan)))
      .order(runs.startPipeline(runs.pipelinePlan([runs.agentStep('code')], { agents: [runs.agentPlan(plan)] })))
      .order(runs.send('a1', 'HIDDEN'))
      .order(say.create('A', { description: 'HIDDEN' }))
      .say(say.claim('A', 's1', { role: 'implementer' }), say.worker)
      .say(say.record({ task_id: 'A', summary: 'HIDDEN' }), say.session())
      .say(say.handoff({ xml: 'HIDDEN' }), say.session());
    play.state.settled.set('key', 'HIDDEN');
    expect(JSON.stringify(toStateJson(play.state)).match(/HIDDEN/g)?.length).toBeGreaterThan(8);
    expect(JSON.stringify(publicProjection(play.state))).not.toContain('HIDDEN');
  });

  it('keeps every map, so that nothing that is folded later can miss one', () => {
    const names = Object.keys(emptyState());
    expect(Object.keys(publicProjection(emptyState()))).toEqual(names);
    expect(Object.keys(restoreState({}))).toEqual(names);
  });
});

describe('a state as JSON', () => {
  it('is the same state when it is restored', () => {
    for (const entries of LEDGERS) {
      const json = reread(toStateJson(fold(entries)));
      expect(reread(toStateJson(restoreState(json)))).toEqual(json);
    }
  });

  it.each([[null], ['x'], [{ tasks: 1 }], [{ others: [] }], [{ seq: 'x' }]])('refuses %j', (value) => {
    expect(() => restoreState(value)).toThrow(TypeError);
  });
});

/** The state of a page that receives a projection at `cut` and folds the later entries itself. */
function seenByPage(entries: readonly RecordedEvent[], cut: number): State {
  const received = reread(publicProjection(fold(entries.slice(0, cut))));
  return viewOf(fold(entries.slice(cut), restoreState(received)));
}

function fold(entries: readonly RecordedEvent[], state = emptyState()): State {
  return entries.reduce(evolve, state);
}

function reread<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

/** The page's view: a whole projection, restored. */
function viewOf(state: State): State {
  return restoreState(reread(publicProjection(state)));
}
