import { expect, it } from 'vitest';
import { Play } from '../engine/play.cases.ts';
import type { Caller } from './caller.ts';
import { mayReadEntry } from './read-access.ts';
import * as runs from './runs/say.cases.ts';
import * as say from './say.cases.ts';

/** Two tasks, and a decision about the agent that works on A. */
function asked(): Play {
  const plan = { kind: 'agent', agent: runs.agentPlan() } as const;
  const play = new Play().order(say.create()).say(runs.configure([{ name: 'w', concurrency: 1, plan }]));
  play.say(runs.signal('escalate', undefined, 'Which parser?'), say.session('x1', 'A', 1)).order(say.create('B'));
  return play.order(runs.resolve(play.decision().id, 1, 'The old one'));
}

function readableBy(play: Play, caller: Caller): ReadonlySet<string> {
  const read = play.entries.filter((entry) => mayReadEntry(play.state, caller, entry));
  return new Set(read.map(({ type }) => type));
}

const QUESTIONS = ['DecisionOpened', 'DecisionResolved', 'NotificationRequested'];

it('decisions about a task can be read by people, and by the sessions of that task', () => {
  const play = asked();
  for (const caller of [say.operator, say.session('x1', 'A', 1), { kind: 'agent', agentId: 'x1' } as const])
    expect([...readableBy(play, caller)]).toEqual(expect.arrayContaining(QUESTIONS));
  for (const caller of [say.worker, say.session('s2', 'B', 1), { kind: 'agent', agentId: 'x9' } as const]) {
    const read = readableBy(play, caller);
    expect(QUESTIONS.filter((type) => read.has(type))).toEqual([]);
    expect([...read]).toEqual(expect.arrayContaining(['TaskCreated', 'TaskClaimed', 'AgentSignalled']));
  }
});
