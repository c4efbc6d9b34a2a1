import { describe, expect, it } from 'vitest';
import type { Command } from './decide.ts';
import type { RecordedEvent } from './event.ts';
import { createStory } from './given.cases.ts';
import { findAdoption, type Rules, rulesFor, rulesInForce } from './rules.ts';
import { operator, system } from './say.cases.ts';
import { resolve } from './runs/say.cases.ts';
import { emptyState, type State } from './state.ts';
import { adopt, askAdoption, startWorkflow } from './workflow/say.cases.ts';

const [STRICT, LAX] = ['1'.repeat(64), '2'.repeat(64)];
const adopted = new Map<string, Rules>();
const RULES: Rules = { ciGate: false, mergeGate: false, adopted };
adopted.set(STRICT, { ...RULES, ciGate: true, checks: [{ name: 'test', run: 'npm test' }], reviewRounds: 1 });
adopted.set(LAX, { ...RULES, checks: [] });

function play(...commands: readonly Command[]): { state: State; events: readonly RecordedEvent[] } {
  const story = createStory(RULES);
  const { state, entries } = story;
  for (const command of commands) story.say(command, command.kind === 'ask-adoption' ? system : operator);
  return { state, events: entries };
}

describe('an adopted runbook', () => {
  it('is one entry that names its predecessor', () => {
    const { events } = play(adopt(STRICT), adopt(LAX, { commit: 'c'.repeat(40) }));
    expect(events.map(({ data }) => data)).toMatchObject([
      { sha256: STRICT, previous: null, commit: null, by: 'operator:ada', runbook_blob: `sha256:${STRICT}` },
      { sha256: LAX, previous: STRICT, commit: 'c'.repeat(40) },
    ]);
  });

  it('is not adopted again while it is in force', () => {
    expect(play(adopt(STRICT), adopt(STRICT)).events).toHaveLength(1);
  });

  it('gives the rules in force; before the first adoption the given rules apply', () => {
    expect(rulesInForce(emptyState(), RULES)).toBe(RULES);
    expect(rulesInForce(play(adopt(STRICT)).state, RULES)).toMatchObject({ ciGate: true });
  });

  it('decides nothing if its rules are not loaded: every gate would be open', () => {
    const { state } = play(adopt(STRICT));
    expect(() => rulesInForce(state, { ciGate: false, mergeGate: false })).toThrow(/not loaded/);
  });
});

describe('a running workflow', () => {
  it('keeps the runbook it was started with when another is adopted', () => {
    const { state } = play(adopt(STRICT), startWorkflow('do it'), adopt(LAX), startWorkflow('and that'));
    const [first, second] = [...state.tasks.values()];
    if (first === undefined || second === undefined) throw new Error('no tasks');
    expect([first.flow.runbook, second.flow.runbook]).toEqual([STRICT, LAX]);
    const inForce = rulesInForce(state, RULES);
    expect(rulesFor(first, inForce)).toMatchObject({ ciGate: true, reviewRounds: 1 });
    expect(rulesFor(second, inForce)).toMatchObject({ ciGate: false });
  });

  it('of an old ledger without a recorded runbook uses the one in force', () => {
    const { state } = play(startWorkflow('do it'), adopt(STRICT));
    const [task] = [...state.tasks.values()];
    if (task === undefined) throw new Error('no task');
    expect(rulesFor(task, rulesInForce(state, RULES))).toMatchObject({ ciGate: true });
  });
});

describe('a runbook of the main branch that loosens', () => {
  const open = (state: State) => [...state.decisions.values()].filter(({ result }) => result === null);

  it('opens one decision and is not adopted', () => {
    const { state } = play(adopt(STRICT), askAdoption(LAX), askAdoption(LAX, { decisionId: 'again' }));
    expect(open(state)).toMatchObject([{ source: 'integrity', adopts: { sha256: LAX } }]);
    expect(findAdoption(state)?.sha256).toBe(STRICT);
    expect(open(state)[0]?.options.find(({ recommended }) => recommended)?.action).toBe('deny');
  });

  it('is not asked about again in a newer form of the same rules', () => {
    const newer = askAdoption('4'.repeat(64), { former: LAX });
    expect(open(play(adopt(STRICT), askAdoption(LAX), newer).state)).toMatchObject([{ adopts: { sha256: LAX } }]);
    const denied = play(adopt(STRICT), askAdoption(LAX), resolve(`d-${LAX.slice(0, 4)}`, 1), newer).state;
    expect(open(denied)).toEqual([]);
  });

  it('has its decision withdrawn by a newer one, or by another adoption', () => {
    const third = '3'.repeat(64);
    const newer = play(adopt(STRICT), askAdoption(LAX), askAdoption(third)).state;
    expect(open(newer)).toMatchObject([{ adopts: { sha256: third } }]);
    expect(open(play(adopt(STRICT), askAdoption(LAX), adopt(LAX)).state)).toEqual([]);
  });
});
