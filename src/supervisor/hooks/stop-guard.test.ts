import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Answer } from '../../api/answer.ts';
import type { Standing } from '../../protocol/standing.ts';
import { StopGuard, type StopGuardOptions } from './stop-guard.ts';

const AT_WORK: Standing = { has_signalled: false, is_owned: true, is_parked: false, missing: [] };
const ORPHANED: Standing = { ...AT_WORK, is_owned: false };
const at = (seq: number, standing: Standing): Standing => ({ ...standing, at: seq });

/** A guard whose daemon answers only when the test resolves the call. */
function begin() {
  const asked = Promise.withResolvers<Answer>();
  const reported = Promise.withResolvers<Answer>();
  const guard = makeGuard({ report: async () => reported.promise, askStanding: async () => asked.promise });
  return { guard, asked, reported };
}

function makeGuard(options: Partial<StopGuardOptions>): StopGuard {
  return new StopGuard({
    agentId: 'a',
    config: { on_stop: 'signal' },
    owes: [],
    usesTools: false,
    hasKeptSignal: () => false,
    report: async () => ({ ok: true, result: null }),
    settlePrinted: async () => undefined,
    askStanding: async () => ({ ok: true, result: null }),
    readHead: () => undefined,
    ...options,
  });
}

const answered = (standing: Standing): Answer => ({ ok: true, result: standing });
const recorded = (standing: Standing): Answer => ({ ok: true, result: { standing } });

it('asks the daemon before a block, and lets an agent stop that the daemon does not own', async () => {
  const guard = makeGuard({ config: { on_stop: 'escalate' }, askStanding: async () => answered(ORPHANED) });
  guard.setStanding(at(1, AT_WORK));
  expect(await guard.stop(Buffer.from('{}'))).toEqual({ decision: 'allow' });
  expect(guard.wasLetGo).toBe(false);
});

describe('the standing of an agent, received on several connections', () => {
  it.each(['first', 'last'])(
    'is what follows from the newest entry, also where the earlier answer comes %s',
    async (when) => {
      const { guard, asked, reported } = begin();
      const asking = guard.refreshStanding();
      const reporting = guard.report({ kind: 'idle', why: 'stop' });
      if (when === 'first') {
        asked.resolve(answered(at(1, AT_WORK)));
        await asking;
      }
      reported.resolve(recorded(at(2, ORPHANED)));
      await reporting;
      asked.resolve(answered(at(1, AT_WORK)));
      await asking;
      expect(guard.isOwned).toBe(false);
    },
  );

  it.each<[string, (guard: StopGuard) => void]>([
    ['that it has signalled', (guard) => guard.onSignal()],
    ['what the daemon pushed', (guard) => guard.setStanding(at(2, { ...AT_WORK, has_signalled: true }))],
  ])('is not replaced by one older than %s', async (_, hear) => {
    const { guard, asked } = begin();
    const asking = guard.refreshStanding();
    hear(guard);
    asked.resolve(answered(at(1, AT_WORK)));
    await asking;
    expect(guard.hasSignalled).toBe(true);
  });

  it("is the daemon's answer if the pushed standing is older", async () => {
    const { guard, reported } = begin();
    const reporting = guard.report({ kind: 'idle', why: 'stop' });
    guard.setStanding(at(1, AT_WORK));
    reported.resolve(recorded(at(2, { ...AT_WORK, is_parked: true, is_held: true })));
    await reporting;
    expect(guard.isHeld).toBe(true);
    guard.setStanding(at(1, AT_WORK));
    expect(guard.isHeld).toBe(true);
  });

  it('is not an old signal that a person has answered since, whichever message arrives first', async () => {
    const { guard, reported } = begin();
    guard.onSignal();
    const reporting = guard.report({ kind: 'idle', why: 'stop' });
    reported.resolve(recorded(at(11, AT_WORK)));
    await reporting;
    guard.setStanding(at(10, AT_WORK));
    expect(guard.hasSignalled).toBe(false);
  });

  it('may follow from an older entry if no newer message can be in flight: an older ledger was restored', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const { guard } = begin();
    guard.setStanding(at(5000, AT_WORK));
    guard.setStanding(at(4000, ORPHANED));
    expect(guard.isOwned).toBe(true);
    vi.advanceTimersByTime(20_000);
    guard.setStanding(at(4000, ORPHANED));
    expect(guard.isOwned).toBe(false);
  });

  it("is the daemon's answer if nothing else was received", async () => {
    const { guard, asked } = begin();
    asked.resolve(answered(ORPHANED));
    await guard.refreshStanding();
    expect(guard.isOwned).toBe(false);
  });
});

describe('the standing of an agent, asked at every step', () => {
  const AWAY: Answer = { ok: false, error: { code: 'daemon-away', message: 'away', hint: '' } };
  const HELD: Standing = { ...AT_WORK, is_parked: true, is_held: true };

  /** A guard whose daemon returns these answers in order. */
  function answering(...answers: Answer[]) {
    return makeGuard({ askStanding: async () => answers.shift() ?? AWAY });
  }

  it('is what the daemon knows, even if it has not pushed it yet', async () => {
    const guard = answering(answered(at(1, AT_WORK)), answered(at(2, HELD)));
    await guard.refreshStandingIfReachable();
    expect(guard.isHeld).toBe(false);
    await guard.refreshStandingIfReachable();
    expect(guard.isHeld).toBe(true);
  });

  it('is not asked again while the daemon does not answer, until the daemon sends something itself', async () => {
    const guard = answering(AWAY, answered(at(2, HELD)));
    await guard.refreshStandingIfReachable();
    await guard.refreshStandingIfReachable();
    expect(guard.isHeld).toBe(false);
    guard.setStanding(at(1, AT_WORK));
    await guard.refreshStandingIfReachable();
    expect(guard.isHeld).toBe(true);
  });
});

describe('the bound on blocks', () => {
  const FIRST = Buffer.from('{"stop_hook_active":false}');

  function counting(config: StopGuardOptions['config']) {
    const reports: unknown[] = [];
    const guard = makeGuard({
      config,
      report: async (report) => {
        reports.push(report);
        return { ok: true, result: null };
      },
    });
    return { guard, reports };
  }

  it('reports each block, numbered over all processes of the run', async () => {
    const { guard, reports } = counting({ on_stop: 'signal', attempts: 'forever', blocks_before: 7 });
    await guard.stop(FIRST);
    await guard.stop(FIRST);
    expect(reports).toEqual([
      { kind: 'blocked', blocks: 8 },
      { kind: 'blocked', blocks: 9 },
    ]);
  });

  it.each([3, 'forever'] as const)(
    'lets the agent go at the ceiling, whatever it does in between (attempts = %s)',
    async (attempts) => {
      const { guard } = counting({ on_stop: 'signal', attempts, max_blocks: 25, blocks_before: 20 });
      const decisions: string[] = [];
      for (let i = 0; i < 7; i += 1) {
        guard.onProgress();
        decisions.push((await guard.stop(FIRST)).decision);
      }
      expect(decisions).toEqual(['block', 'block', 'block', 'block', 'block', 'allow', 'allow']);
      expect(guard.wasLetGo).toBe(true);
    },
  );

  it('counts blocks that only the daemon knows of', async () => {
    const { guard } = counting({ on_stop: 'signal', attempts: 'forever' });
    guard.setStanding({ ...AT_WORK, blocks: 25 });
    expect((await guard.stop(FIRST)).decision).toBe('allow');
  });

  it('ignores the flag of a client that resets it: one block per message', async () => {
    const { guard } = counting({ on_stop: 'signal', ignores_flag: true });
    expect((await guard.stop(FIRST)).decision).toBe('block');
    guard.onProgress();
    expect((await guard.stop(FIRST)).decision).toBe('allow');
    guard.onMessageDelivered();
    expect((await guard.stop(FIRST)).decision).toBe('block');
  });
});
