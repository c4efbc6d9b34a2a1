import { describe, expect, it } from 'vitest';
import { LEDGER_LEVEL } from '../../protocol/fleet.ts';
import { ENTRY_LEVELS } from '../../state/fleet/entry-levels.ts';
import * as runs from '../../state/runs/say.cases.ts';
import * as say from '../../state/say.cases.ts';
import { Play } from '../play.cases.ts';
import { playFleet } from './fleet.cases.ts';

/** The level of a later release. */
const LATER = LEDGER_LEVEL + 1;
const raise = { kind: 'raise-level', command: { level: LATER } } as const;

describe('an entry above the level of the ledger', () => {
  it('is not written until every host can read it', () => {
    const play = playFleet();
    play.levels = { TaskCreated: LATER };
    const refused = play.refuse(say.create('A'));
    expect(refused).toMatchObject({
      code: 'above-level',
      message: expect.stringMatching(/waits until every host knows it$/),
    });
    play.say(raise).order(say.create('A'));
    expect(play.count('TaskCreated')).toBe(1);
  });

  it('that follows from a command keeps the whole command from being recorded', () => {
    const play = playFleet();
    play.levels = { StepStarted: LATER };
    expect(() => play.order(runs.startPipeline())).toThrow('waits until every host knows it');
  });

  it('is written on SQLite, where no other host reads', () => {
    const play = new Play();
    play.levels = { TaskCreated: LATER };
    expect(play.order(say.create('A')).count('TaskCreated')).toBe(1);
  });

  it("does not exist among today's types", () => {
    expect(Object.values(ENTRY_LEVELS).filter((level) => level > LEDGER_LEVEL)).toEqual([]);
  });
});
