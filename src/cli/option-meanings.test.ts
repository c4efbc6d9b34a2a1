import { describe, expect, it } from 'vitest';
import type { Option } from './command.ts';
import { COMMANDS } from './commands.ts';

/** Both `run --follow ID` and `logs --follow` keep printing. */
const BOTH: ReadonlySet<string> = new Set(['follow']);

/** `agent play` takes the options of the clients that it imitates. */
const own = COMMANDS.filter(({ name }) => name !== 'agent play');
const options = (await Promise.all(own.map(async ({ load }) => (await load()).options))).flat();
const byName = Map.groupBy(options, ({ name }) => name);

const namesWhere = (differ: (uses: readonly Option[]) => boolean): string[] =>
  [...byName].filter(([name, uses]) => !BOTH.has(name) && differ(uses)).map(([name]) => name);

describe('an option', () => {
  it('is a switch in every command, or takes a value in every command', () => {
    const isSwitch = ({ value }: Option): boolean => value === undefined;
    expect(namesWhere((uses) => uses.some(isSwitch) && !uses.every(isSwitch))).toEqual([]);
  });

  it('takes a list in every command, or in none', () => {
    expect(namesWhere((uses) => new Set(uses.map(({ isList = false }) => isList)).size > 1)).toEqual([]);
  });

  it.each([
    ['after', 'A,B'],
    ['lines', 'N'],
    ['project', 'DIR'],
    ['message', 'TEXT'],
    ['reason', 'TEXT'],
    ['timeout', 'TIME'],
    ['role', 'ROLE'],
  ])('--%s has one meaning', (name, value) => {
    expect(new Set(byName.get(name)?.map((use) => use.value))).toEqual(new Set([value]));
  });

  it('has an old name only where no other option has it', async () => {
    for (const { name, load } of COMMANDS) {
      const { options: listed } = await load();
      const current = new Set(listed.flatMap(({ name: long, short }) => [`--${long}`, `-${short ?? ''}`]));
      const old = listed.flatMap(({ formerly = [] }) => formerly);
      expect([name, old.filter((each) => current.has(each))]).toEqual([name, []]);
    }
  });
});
