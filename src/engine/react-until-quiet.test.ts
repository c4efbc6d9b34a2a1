import { describe, expect, it } from 'vitest';
import { event, type Event, type RecordedEvent } from '../state/event.ts';
import { EndlessReaction, MOST_REACTIONS, reactUntilQuiet } from './react-until-quiet.ts';

const fired = (id: string): Event => event('TimerCancelled', { timer_id: id });

function play(first: readonly string[], follows: (id: string) => readonly string[]): string[] {
  const heard: string[] = [];
  const record = (what: Event): RecordedEvent => {
    const recorded = { ...what, seq: heard.length + 1, at: '', actor: 'system:x' };
    heard.push('timer_id' in what.data ? what.data.timer_id : '');
    return recorded;
  };
  const react = ({ data }: RecordedEvent): readonly Event[] =>
    'timer_id' in data ? follows(data.timer_id).map(fired) : [];
  reactUntilQuiet(
    first.map((id) => record(fired(id))),
    react,
    record,
  );
  return heard;
}

describe('reactions', () => {
  it('follow in the order of their causes, after all decided entries', () => {
    expect(play(['a', 'b'], (id) => (id.length < 3 ? [`${id}1`, `${id}2`] : []))).toEqual([
      'a', 'b', 'a1', 'a2', 'b1', 'b2', 'a11', 'a12', 'a21', 'a22', 'b11', 'b12', 'b21', 'b22',
    ]); // prettier-ignore
  });

  it('to many decided entries may be many', () => {
    const decided = Array.from({ length: 2 * MOST_REACTIONS }, (_, i) => `a${i}`);
    expect(play(decided, (id) => (id.startsWith('a') ? [`b${id}`] : []))).toHaveLength(4 * MOST_REACTIONS);
  });

  it('that never end throw an error that names the first entry', () => {
    expect(() => play(['a'], (id) => [id])).toThrow(EndlessReaction);
    expect(() => play(['a'], (id) => [id])).toThrow(
      `the rules never come to rest: TimerCancelled led to more than ${MOST_REACTIONS} entries, the last one TimerCancelled`,
    );
  });
});
