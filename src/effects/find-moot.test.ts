import { expect, it } from 'vitest';
import { Play } from '../engine/play.cases.ts';
import * as runs from '../state/runs/say.cases.ts';
import * as say from '../state/say.cases.ts';
import { findMootReason } from './perform.ts';

function asking(): Play {
  const worker = { name: 'builders', concurrency: 1, plan: { kind: 'agent', agent: runs.agentPlan() } } as const;
  const play = new Play().order(runs.configure([worker])).order(say.create('A'));
  const { id } = play.agent();
  return play.say(runs.started(id)).say(runs.signal('escalate', id, 'which way?'), say.session(id));
}

const moot = (play: Play): string | undefined => findMootReason(play.the('NotificationRequested'), play.state);

it('sends a notification while its decision is open', () => {
  expect(moot(asking())).toBeUndefined();
});

it('cancels it once the task is cancelled or the decision answered', () => {
  expect(moot(asking().order(say.operate('cancel', 'not wanted')))).toBe('its decision was withdrawn');
  const play = asking();
  expect(moot(play.order(runs.resolve(play.decision().id, 1)))).toBe('its decision was answered');
});

it('cancels it while an answer is not in effect yet, and sends it if that is withdrawn', () => {
  const play = asking();
  const { id } = play.decision();
  expect(moot(play.order(runs.answer(id, 1, play.at)))).toBe('its decision was answered');
  expect(moot(play.order(runs.undo(id)))).toBeUndefined();
});

it('sends one without a decision', () => {
  const play = new Play().order(runs.startAgent());
  play.say(runs.started('a1')).say(runs.signal('complete', 'a1', 'built'), say.session('a1'));
  expect(moot(play)).toBeUndefined();
});

it('records the cancellation once', () => {
  const play = asking().order(say.operate('cancel', 'not wanted'));
  const { notification_id } = play.the('NotificationRequested');
  const command = { notification_id, sent: [], failed: [], called_off: 'its decision was withdrawn' };
  play.say({ kind: 'notification-sent', command });
  expect([play.owed('NotificationRequested'), play.entries.at(-1)]).toMatchObject([
    [],
    { type: 'NotificationSent', data: { sent: [], called_off: 'its decision was withdrawn' } },
  ]);
});
