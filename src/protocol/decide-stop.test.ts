import { describe, expect, it } from 'vitest';
import { decideStop, MAX_BLOCKS, type StopAttempt } from './decide-stop.ts';
import { HANDLERS } from './run-plan.ts';

/** A working agent that tries to stop for the first time and has sent no signal. */
const attempt = (change: Partial<StopAttempt> = {}): StopAttempt => ({
  agentId: 'a1',
  onStop: 'signal',
  attempts: undefined,
  isHookActive: false,
  blocks: 0,
  totalBlocks: 0,
  maxBlocks: MAX_BLOCKS,
  hasSignalled: false,
  isOwned: true,
  isParked: false,
  missing: [],
  usesTools: false,
  ...change,
});

const decisionOn = (change: Partial<StopAttempt>): string => decideStop(attempt(change)).output.decision;

describe('decideStop', () => {
  it('signal: blocks until the agent has signalled; the reason says how, and what is missing', () => {
    const { output, records } = decideStop(attempt({ missing: ['result', 'exit'] }));
    expect(records).toBeNull();
    expect(output).toMatchObject({ decision: 'block' });
    const { reason } = output.decision === 'block' ? output : { reason: '' };
    expect(reason.split('\n')[0]).toBe(
      "You must explicitly signal completion before stopping. Run: baton emit agent:signal --agent a1 '<json>'",
    );
    expect(reason).toContain('{"kind":"complete"');
    expect(reason).toContain('Still missing: result, exit.');
  });

  it('signal: names the tools to an agent that judges, whose shell sends nothing', () => {
    const { output } = decideStop(attempt({ missing: ['result', 'handoff', 'exit'], usesTools: true }));
    const { reason } = output.decision === 'block' ? output : { reason: '' };
    expect(reason).not.toContain('baton ');
    for (const tool of ['agent_signal', 'result_submit', 'handoff_send', 'exit_signal']) {
      expect(reason).toContain(`the tool \`${tool}\``);
    }
  });

  it('idle and escalate: name the event to record first, and the reason', () => {
    expect(decideStop(attempt({ onStop: 'idle' }))).toEqual({
      output: {
        decision: 'block',
        reason: 'Stop hook: on_idle handler invoked. Continue working or signal completion.',
      },
      records: 'idle',
    });
    expect(decideStop(attempt({ onStop: 'escalate' }))).toEqual({
      output: {
        decision: 'block',
        reason: 'A human has been notified. Wait for instructions or signal completion.',
      },
      records: 'stop',
    });
  });

  it.each(HANDLERS.on_stop.actions)(
    '%s: allows an agent that has signalled, has no owner or is parked, and records nothing',
    (onStop) => {
      for (const why of [{ hasSignalled: true }, { isOwned: false }, { isParked: true }])
        expect(decideStop(attempt({ onStop, ...why }))).toEqual({ output: { decision: 'allow' }, records: null });
    },
  );

  it('without attempts, the client’s own flag prevents loops', () => {
    expect(decisionOn({ isHookActive: true })).toBe('allow');
    expect(decisionOn({ isHookActive: false, blocks: 99 })).toBe('block');
  });

  it('with attempts, only Baton’s own count prevents loops', () => {
    expect(decisionOn({ attempts: 2, blocks: 1, isHookActive: true })).toBe('block');
    expect(decisionOn({ attempts: 2, blocks: 2, isHookActive: false })).toBe('allow');
    expect(decisionOn({ attempts: 'forever', blocks: 1_000_000, isHookActive: true })).toBe('block');
  });

  it.each([undefined, 3, 'forever'] as const)(
    'allows a run that has used up `limits.blocks`, with attempts = %s',
    (attempts) => {
      for (const onStop of HANDLERS.on_stop.actions) {
        const used = { onStop, attempts, blocks: 0, maxBlocks: 25 } as const;
        expect(decisionOn({ ...used, totalBlocks: 24 })).toBe('block');
        expect(decisionOn({ ...used, totalBlocks: 25 })).toBe('allow');
        expect(decisionOn({ ...used, totalBlocks: 26 })).toBe('allow');
      }
    },
  );
});
