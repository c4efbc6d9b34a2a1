import { describe, expect, it } from 'vitest';
import { Play } from '../../engine/play.cases.ts';
import * as runs from '../../state/runs/say.cases.ts';
import { LastReports, measureSilence } from './silence.ts';

/** The silence of an agent after the daemon has run for an hour. If `isHeard`, the agent reported a minute ago. */
function silence(play: Play, isHeard = true): number | undefined {
  const lastReports = new LastReports(0);
  if (isHeard) lastReports.noteAgent('a1', 3_540_000);
  const clocks = { lastReports, silenceMs: 600_000, nowMs: 3_600_000, now: new Date(play.at) };
  return measureSilence(play.state, 'a1', clocks)?.silentMs;
}

describe('the silence of an agent', () => {
  const started = (): Play => new Play().order(runs.startAgent()).say(runs.started('a1'));

  it('lasts since its last report while its process runs', () => {
    expect(silence(started().wait(5))).toBe(60_000);
    expect(silence(started(), false)).toBe(3_600_000);
  });

  it('lasts since it was requested while it has no process yet, however long the daemon runs', () => {
    expect(silence(new Play().order(runs.startAgent()).wait(7000), false)).toBe(7000);
  });

  it('is none while a timer is set for an exited agent', () => {
    const plan = runs.agentPlan({ on_dead: { action: 'resume', attempts: 3, cooldown_ms: 900_000 } });
    const play = new Play().order(runs.startAgent(plan)).say(runs.started('a1'));
    play.say(runs.exited('a1', { start: 1, code: 1 }));
    play.say(runs.started('a1', 2)).say(runs.exited('a1', { start: 2, code: 1 }));
    expect(play.agent('a1')).toMatchObject({ process: 'gone', outcome: null, parked: null });
    expect(silence(play.wait(800_000))).toBe(0);
  });

  it('is undefined for an unknown agent', () => {
    expect(silence(new Play())).toBe(undefined);
  });
});
