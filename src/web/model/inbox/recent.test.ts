import { expect, it } from 'vitest';
import { Play } from '../../../engine/play.cases.ts';
import * as run from '../../../state/runs/say.cases.ts';
import * as say from '../../../state/say.cases.ts';
import { listRecent } from './recent.ts';

function brief(play: Play, most = 10) {
  return listRecent(play.state, { most }).map(({ kind, title, state }) => [kind, title, state]);
}

it('has nothing while nothing has ended', () => {
  expect(brief(new Play().order(say.create('A')))).toEqual([]);
});

it('lists what ended, newest first', () => {
  const play = new Play().order(say.create('A')).order(say.create('B')).order(say.create('C'));
  play.wait(1000).order(say.operate('cancel', 'not wanted', 'B'));
  play.wait(1000).order(say.operate('cancel', 'nor this', 'A'));
  expect(listRecent(play.state, { most: 10 })).toMatchObject([
    { id: 'A', state: 'cancelled', note: 'nor this', at: '2026-01-01T00:00:02.000Z' },
    { id: 'B', state: 'cancelled', note: 'not wanted', at: '2026-01-01T00:00:01.000Z' },
  ]);
});

it('keeps the newest of many', () => {
  const play = new Play();
  const ids = Array.from({ length: 25 }, (_, i) => `T${i}`);
  for (const id of ids) play.order(say.create(id));
  for (const id of ids) play.wait(1000).order(say.operate('cancel', 'why', id));
  expect(listRecent(play.state, { most: 3 }).map(({ id }) => id)).toEqual(['T24', 'T23', 'T22']);
});

it('lists a lone agent, and who answered the decision about it', () => {
  const play = new Play().order(run.startAgent()).say(run.started('a1'));
  play.wait(1000).say(run.exited('a1', { code: 1 }));
  const [decision] = play.state.decisions.values();
  const option = (decision?.options.findIndex(({ action }) => action === 'cancel') ?? -1) + 1;
  play.wait(1000).order(run.resolve(decision?.id ?? '', option));
  expect(brief(play)).toEqual([
    ['decision', decision?.title, 'resolved'],
    ['agent', 'coder', 'cancelled'],
  ]);
  expect(listRecent(play.state, { most: 10 }).find(({ kind }) => kind === 'decision')).toMatchObject({
    note: `${decision?.options[option - 1]?.label}, by operator:ann`,
    costMillicents: null,
  });
});

it('has one row for a pipeline with its agents', () => {
  const play = new Play().order(run.startPipeline());
  play.order(run.cancel('p1', 'enough'));
  for (const { id } of play.state.agents.values()) play.say(run.startFailed(id));
  expect(brief(play)).toEqual([['pipeline', 'main', 'cancelled']]);
});
