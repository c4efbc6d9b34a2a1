import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Play } from '../engine/play.cases.ts';
import { SPEECHES, type Speech } from '../engine/speech.cases.ts';
import type { RecordedEvent } from '../state/event.ts';
import { INSTRUMENTS } from './instruments.ts';
import { measureEntry, nothingUnderWay } from './measure-entry.ts';
import { SPAN_KINDS, type FinishedTrace } from './spans.ts';
import { TraceFold } from './trace-fold.ts';

const stories = fc.array(fc.oneof(...SPEECHES), { maxLength: 60, size: 'max' });

function perform(story: readonly Speech[]): Play {
  const play = new Play({ ciGate: false });
  for (const speech of story) {
    const said = speech(play.wait(250));
    if (said !== undefined) play.attempt(...said);
  }
  return play;
}

function findFault({ root, spans }: FinishedTrace): string | undefined {
  const seen = new Map<string, string>();
  for (const { key, parent, kind, startMs, endMs } of spans) {
    if (seen.has(key)) return `${key} twice`;
    if (parent === null && key !== root.key) return `${key} is a second root`;
    if (parent !== null && !seen.has(parent)) return `${key} before its parent`;
    const allowed: readonly string[] = SPAN_KINDS[kind].parents;
    if (parent !== null && !allowed.includes(seen.get(parent) ?? '')) return `${key} below ${parent}`;
    if (endMs !== null && endMs < startMs) return `${key} ends before it begins`;
    seen.set(key, kind);
  }
  return root.endMs === null ? 'its root is open' : undefined;
}

/** The ids of ended pipelines that people started. */
function finishedAlone(entries: readonly RecordedEvent[]): string[] {
  const ended = new Set(entries.flatMap(({ type, data }) => (type === 'PipelineFinished' ? [data.pipeline_id] : [])));
  return entries.flatMap(({ type, data }) => {
    const isAlone = type === 'PipelineStarted' && data.parent === null && data.task === null;
    return isAlone && ended.has(data.pipeline_id) ? [data.pipeline_id] : [];
  });
}

it('makes whole traces of any history, each once, and the same ones again', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const { entries } = perform(story);
      const [first, second] = [new TraceFold('demo'), new TraceFold('demo')];
      const traces = entries.flatMap((entry) => first.add(entry));
      expect(traces.map(findFault).filter((fault) => fault !== undefined)).toEqual([]);
      expect(entries.flatMap((entry) => second.add(entry))).toEqual(traces);
      const roots = traces.map(({ root }) => `${root.key} ${root.startMs}`);
      expect(new Set(roots).size).toBe(roots.length);
      const reported = new Set(traces.flatMap(({ spans }) => spans.map(({ key }) => key)));
      expect(finishedAlone(entries).filter((id) => !reported.has(`pipeline/${id}`))).toEqual([]);
    }),
    { numRuns: 150 },
  );
});

it('measures any history with the labels of each metric, and nothing negative', () => {
  fc.assert(
    fc.property(stories, (story) => {
      const now = nothingUnderWay('demo');
      for (const { instrument, value, labels } of perform(story).entries.flatMap((entry) => measureEntry(now, entry))) {
        expect(Object.keys(labels)).toEqual(INSTRUMENTS[instrument].labels);
        expect(value).toBeGreaterThanOrEqual(0);
      }
    }),
    { numRuns: 100 },
  );
});
