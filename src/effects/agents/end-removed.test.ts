import { expect, it } from 'vitest';
import { playFleet } from '../../engine/fleet/fleet.cases.ts';
import * as fleet from '../../state/fleet/say.cases.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { isRemoval, listAgentsOf } from './end-removed.ts';

it('finds the agents of a removed host, although they count as lost', () => {
  const play = playFleet().on('beta').order(runs.startAgent()).say(runs.started('a1'));
  play.on('alpha').order(fleet.remove('beta'));
  expect(play.agent('a1').process).toBe('gone');
  expect(listAgentsOf(play.state, 'beta')).toEqual([{ id: 'a1', start: 1 }]);
  expect(listAgentsOf(play.state, 'alpha')).toEqual([]);
});

it('recognises only the removal of this host', () => {
  const data = { host: 'beta', reason: 'burnt down', by: 'operator:ann' };
  const recorded = [{ type: 'HostRemoved', data, seq: 1, at: '', actor: '' } as const];
  expect([isRemoval(recorded, 'beta'), isRemoval(recorded, 'alpha'), isRemoval(recorded, undefined)]).toEqual([
    true,
    false,
    false,
  ]);
});
