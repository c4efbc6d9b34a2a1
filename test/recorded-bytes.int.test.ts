import { beforeAll, describe, expect, it } from 'vitest';
import { differences, makeRecording, readPart, type Recording } from './recorded/recording.ts';

/**
 * Ledgers, exports and transcripts of commands, recorded before the files of `src` were moved. If only the wording for
 * people has changed: `node scripts/record-bytes.ts --update-words`.
 */
let now: Recording;
beforeAll(async () => {
  now = await makeRecording();
}, 120_000);

describe('the recordings', () => {
  it.each(['machine', 'states', 'words'] as const)('is the same today: %s', (part) => {
    expect(differences(readPart(part), now[part])).toEqual([]);
  });

  it('has every exit code, every kind of message and a ledger of a whole workflow', () => {
    const rows = [...readPart('machine')];
    const codes = new Set(rows.flatMap(([, row]) => /^\{"code":(\d+)/.exec(row)?.[1] ?? []));
    expect([...codes].toSorted()).toEqual(['0', '1', '2', '4']);
    expect(rows.length).toBeGreaterThan(1000);
    expect(now.machine.get('ledger export')).toContain('MergeFinished');
  });
});

describe('a difference', () => {
  const recorded = new Map([
    ['same', '"x"'],
    ['changed', '"one two"'],
    ['longer', '"a"'],
    ['gone', '"y"'],
  ]);

  it.each([
    ['changed', '"one twO"'],
    ['longer', '"a" and more'],
  ])('is found: %s', (id, text) => {
    expect(differences(recorded, new Map([...recorded, [id, text]]))).toEqual([expect.stringContaining(text)]);
  });

  it('is found if something is missing or new', () => {
    const other = new Map([...recorded, ['new', '"z"']]);
    other.delete('gone');
    expect(differences(recorded, other)).toEqual(['gone: is missing', 'new: was not recorded']);
  });
});
