import { describe, expect, it } from 'vitest';
import { SilenceWatch } from './silence.ts';

const MINUTE = 60_000;
const LIMITS = { silenceMs: 10 * MINUTE, toolMs: 60 * MINUTE };

describe('silence in a turn', () => {
  it('is reported after limits.silence without any event', () => {
    const agent = begin();
    expect(agent.pass(9.9)).toEqual([]);
    expect(agent.pass(0.2)).toEqual([{ what: 'turn', for_ms: 10 * MINUTE, tool: null }]);
  });

  it('is postponed by each event', () => {
    const agent = begin();
    agent.pass(9);
    agent.watch.onActivity(agent.nowMs);
    expect(agent.pass(9.9)).toEqual([]);
    expect(agent.pass(0.2)).toHaveLength(1);
  });

  it('is reported again after each further interval', () => {
    const agent = begin();
    expect(agent.pass(31)).toEqual(
      [10, 20, 30].map((minutes) => ({ what: 'turn', for_ms: minutes * MINUTE, tool: null })),
    );
  });

  it('does not exist before the first turn and between two turns', () => {
    const agent = new Agent();
    expect(agent.pass(60)).toEqual([]);
    agent.watch.turnBegan();
    agent.pass(5);
    agent.watch.turnEnded(agent.nowMs);
    expect(agent.pass(60)).toEqual([]);
    agent.watch.turnBegan();
    expect(agent.pass(9.9)).toEqual([]);
    expect(agent.pass(0.2)).toHaveLength(1);
  });

  it('does not count while the agent is suspended, and restarts afterwards', () => {
    const agent = begin();
    agent.pass(9);
    expect(agent.pass(100, true)).toEqual([]);
    expect(agent.pass(9.9)).toEqual([]);
    expect(agent.pass(0.2)).toHaveLength(1);
  });

  it.each([6, 60, 6000])('gets a full interval again after %s minutes without a poll', (minutes) => {
    const agent = begin();
    agent.pass(9);
    agent.nowMs += minutes * MINUTE;
    expect(agent.pass(9.9)).toEqual([]);
    expect(agent.pass(0.5)).toHaveLength(1);
  });

  it("is expected until the client's next retry", () => {
    const agent = begin();
    agent.pass(9);
    agent.watch.onRetry(60 * MINUTE, agent.nowMs);
    expect(agent.pass(69.9)).toEqual([]);
    expect(agent.pass(0.2)).toHaveLength(1);
    agent.watch.onRetry(60 * MINUTE, agent.nowMs);
    agent.watch.onActivity(agent.nowMs);
    expect(agent.pass(10.1)).toHaveLength(1);
  });

  it('ends with the next event of any kind, once', () => {
    const ways: ((watch: SilenceWatch, nowMs: number) => boolean)[] = [
      (watch, nowMs) => watch.onActivity(nowMs),
      (watch, nowMs) => watch.toolStarted('t1', 'Bash', nowMs),
      (watch, nowMs) => watch.toolEnded('t1', nowMs),
      (watch, nowMs) => watch.turnEnded(nowMs),
    ];
    for (const way of ways) {
      const agent = begin();
      expect(way(agent.watch, agent.nowMs)).toBe(false);
      agent.watch.turnBegan();
      agent.watch.toolEnded('t1', agent.nowMs);
      agent.pass(11);
      expect(way(agent.watch, agent.nowMs)).toBe(true);
      expect(way(agent.watch, agent.nowMs)).toBe(false);
    }
  });
});

describe('a tool call', () => {
  it('suspends the measuring of silence, which starts again after the last call', () => {
    const agent = begin();
    agent.pass(9);
    agent.watch.toolStarted('t1', 'Bash', agent.nowMs);
    agent.watch.toolStarted('t2', 'Bash', agent.nowMs);
    expect(agent.pass(30)).toEqual([]);
    agent.watch.toolEnded('t1', agent.nowMs);
    expect(agent.pass(20)).toEqual([]);
    agent.watch.toolEnded('t2', agent.nowMs);
    expect(agent.pass(9.9)).toEqual([]);
    expect(agent.pass(0.2)).toMatchObject([{ what: 'turn' }]);
  });

  it('is reported after limits.tool, whatever other events occur', () => {
    const agent = begin();
    agent.watch.toolStarted('t1', 'Bash', agent.nowMs);
    for (let i = 0; i < 59; i += 1) {
      expect(agent.pass(1)).toEqual([]);
      agent.watch.onActivity(agent.nowMs);
    }
    expect(agent.pass(1.1)).toEqual([{ what: 'tool', for_ms: 60 * MINUTE, tool: 'Bash' }]);
  });

  it('that was reported is settled by its end, not by other events', () => {
    const agent = begin();
    agent.watch.toolStarted('t1', 'Bash', agent.nowMs);
    agent.pass(61);
    expect(agent.watch.onActivity(agent.nowMs)).toBe(false);
    expect(agent.watch.toolStarted('t2', 'Read', agent.nowMs)).toBe(false);
    expect(agent.watch.toolEnded('t2', agent.nowMs)).toBe(false);
    expect(agent.watch.toolEnded('t1', agent.nowMs)).toBe(true);
  });

  it('that was reported is settled by a question of the client, and reported again after limits.tool', () => {
    const agent = begin();
    agent.watch.toolStarted('t1', 'Bash', agent.nowMs);
    agent.pass(61);
    expect([agent.watch.asked(agent.nowMs), agent.watch.asked(agent.nowMs)]).toEqual([true, false]);
    expect(agent.pass(61)).toMatchObject([{ what: 'tool' }]);
  });

  it('ends with its turn if no end was reported', () => {
    const agent = begin();
    agent.watch.toolStarted('t1', 'Bash', agent.nowMs);
    agent.watch.turnEnded(agent.nowMs);
    agent.watch.turnBegan();
    expect(agent.pass(10.1)).toMatchObject([{ what: 'turn' }]);
  });

  it('has its full time again after the agent was suspended', () => {
    const agent = begin();
    agent.watch.toolStarted('t1', 'Bash', agent.nowMs);
    agent.pass(50);
    agent.pass(600, true);
    expect(agent.pass(59)).toEqual([]);
    expect(agent.pass(1.5)).toMatchObject([{ what: 'tool', for_ms: 710 * MINUTE }]);
  });
});

class Agent {
  nowMs = 1000;
  readonly watch = new SilenceWatch(LIMITS, 1000);

  /** Advances the clock by minutes and returns the reports. */
  pass(minutes: number, isSuspended = false): unknown[] {
    const endMs = this.nowMs + minutes * MINUTE;
    const reported: unknown[] = [];
    while (this.nowMs < endMs) {
      this.nowMs = Math.min(endMs, this.nowMs + this.watch.pollMs);
      const silence = this.watch.poll(this.nowMs, isSuspended);
      if (silence !== undefined) reported.push({ ...silence, for_ms: Math.floor(silence.for_ms / MINUTE) * MINUTE });
    }
    return reported;
  }
}

function begin(): Agent {
  const agent = new Agent();
  agent.watch.turnBegan();
  return agent;
}
