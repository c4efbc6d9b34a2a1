import { describe, expect, it } from 'vitest';
import type { AgentPlan } from '../protocol/run-plan.ts';
import * as runs from '../state/runs/say.cases.ts';
import { Play } from './play.cases.ts';

const MINUTE = 60_000;

function working(plan: Partial<AgentPlan> = {}): Play {
  return new Play().order(runs.startAgent(runs.agentPlan(plan), 'a1')).say(runs.started('a1'));
}

function limit(play: Play, resetAt: string | null = null): Play {
  const error = { kind: 'errored', error: 'rate_limited', message: 'too many', reset_at: resetAt } as const;
  return play.say(runs.report(error, 'a1'), runs.supervisor('a1'));
}

/** The wait is over, and the agent has its message. */
function lifted(play: Play): Play {
  const { timer_id: timerId, due } = play.the('TimerSet');
  play.wait(Math.max(0, Date.parse(due) - Date.parse(play.at))).say(runs.fire(timerId));
  return play.say(runs.deliver(play.the('MessageRequested').message_id));
}

describe('a limit of an API', () => {
  it('is waited for until it is lifted, and the wait does not count as work', () => {
    const play = limit(working(), '2026-01-01T03:00:00Z');
    expect(play.the('TimerSet')).toMatchObject({ due: '2026-01-01T03:00:00.000Z', purpose: { kind: 'reset' } });
    expect(play.agent().limited).toBe(true);
    lifted(play);
    expect(play.agent()).toMatchObject({ limited: false, waits: 1, workMs: 0, waitMs: 180 * MINUTE });
  });

  it('without a reset time is waited for longer each time, up to an hour', () => {
    const play = working();
    const waits: number[] = [];
    for (let i = 0; i < 8; i += 1) {
      limit(play);
      waits.push((Date.parse(play.the('TimerSet').due) - Date.parse(play.at)) / MINUTE);
      lifted(play);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60]);
  });

  it('whose reset time has passed is treated as one without', () => {
    const play = limit(working(), '2025-12-31T00:00:00Z');
    expect(play.the('TimerSet').due).toBe('2026-01-01T00:01:00.000Z');
  });

  it('begins with the cooldown of the runbook', () => {
    const play = limit(lifted(limit(working({ on_error: { any: { action: 'wait', cooldown_ms: 5000 } } }))));
    expect(Date.parse(play.the('TimerSet').due) - Date.parse(play.at)).toBe(10_000);
  });

  it('has one number of waits per run; then it escalates, and the count starts again', () => {
    const play = working({ on_error: { rate_limited: { action: 'wait', attempts: 2 } } });
    lifted(limit(lifted(limit(play)), '2026-01-02T00:00:00Z'));
    expect(play.agent().waits).toBe(2);
    limit(play);
    expect(play.seen().asked).toBe('error: on_error: attempts used up');
    expect(play.replayed().agents.get('a1')?.waits).toBe(2);
    play.order(runs.resolve(play.decision().id, 1));
    expect(play.agent().waits).toBe(0);
    play.checkReplay();
  });

  it('is waited for ten times by default', () => {
    const play = working();
    for (let i = 0; i < 10; i += 1) lifted(limit(play));
    limit(play);
    expect(play.seen().agent).toBe('escalated');
  });

  it('is counted separately from other errors', () => {
    const play = working({ on_error: { no_internet: { action: 'resume', attempts: 2 } } });
    lifted(limit(play));
    play.say(runs.report({ kind: 'errored', error: 'no_internet', message: '', reset_at: null }, 'a1'));
    expect(play.agent()).toMatchObject({ waits: 1, tries: { on_error: { count: 1 } } });
  });
});
