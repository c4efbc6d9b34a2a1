import { expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import * as runs from '../../state/runs/say.cases.ts';
import * as say from '../../state/say.cases.ts';
import { claimsToRenew } from './liveness.ts';

const worker = {
  name: 'w',
  concurrency: 2,
  plan: { kind: 'agent', agent: runs.agentPlan({ requires: [] }) },
} as const;

it("renews the claim of a starting agent, and leaves a running agent's claim to its supervisor", () => {
  const play = new Play().order(say.create('T1')).order(runs.configure([worker]));
  expect(claimsToRenew(play.state, undefined)).toEqual([{ taskId: 'T1', epoch: 1 }]);
  expect(claimsToRenew(play.say(runs.started(play.agent().id)).state, undefined)).toEqual([]);
});

it('renews the claim of an agent that waits until the process of an earlier claim has exited', () => {
  const play = new Play().order(say.create('T1')).order(runs.configure([worker]));
  const first = play.agent();
  play.say(runs.started(first.id)).say(say.release('T1'), say.session(first.id, 'T1', 1));
  expect([play.agent(first.id).process, play.agent().task?.epoch]).toEqual(['running', 2]);
  expect(claimsToRenew(play.state, undefined)).toEqual([{ taskId: 'T1', epoch: 2 }]);
});
