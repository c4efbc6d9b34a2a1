import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../run-cli.ts';
import { ENVIRONMENT, REPOSITORY, STATE, takePlace } from '../place.ts';
import { hashEntries, unpackVersion } from './fixture.ts';
import { VERSIONS } from './versions.ts';

/** A version before 0.1.0, with other tables. */
const FIRST = 'before-runbooks';

/** Each ledger was left with a claimed task, a waiting one, and, since pipelines exist, an open decision. */
describe.each(Object.keys(VERSIONS).filter((name) => name !== FIRST))('a ledger of %s', (name) => {
  it('is verified, folds to the same tasks, and continues', { timeout: 120_000 }, async () => {
    using _place = await takePlace();
    const old = unpackVersion(name);
    const before = await baton('ledger', 'export');
    expect(hashEntries(before, old.entries)).toBe(old.sha256);
    expect(await verifiedEntries()).toBe(old.entries);
    expect(await proveT1()).toBeNull();
    try {
      expect(await statusByTask()).toEqual(old.tasks);
      await answerDecisions();
      await baton('task', 'release', 'T1');
      await baton('task', 'add', 'T9', '--title', 'Written by this version', '--after', 'T1');
      await baton('task', 'claim', 'T1', '--as', 'bob');
      expect(await statusByTask()).toEqual({ ...old.tasks, T9: 'todo' });
      await baton('ledger', 'seal');
      // Complete since this version has written, and not before.
      const complete = await proveT1();
      expect(complete?.from).toBeGreaterThan(old.entries);
      expect(complete?.to).toBeGreaterThan(complete?.from ?? Infinity);
    } finally {
      await baton('down');
    }
    const after = await baton('ledger', 'export');
    expect(hashEntries(after, old.entries)).toBe(old.sha256);
    expect(await verifiedEntries()).toBeGreaterThan(old.entries + 3);
  });
});

describe(`a ledger of ${FIRST}`, () => {
  it('is refused with the reason and the next step, and left as it was', async () => {
    using _place = await takePlace();
    unpackVersion(FIRST);
    const [file = ''] = globSync(join(STATE, 'projects/*.db'));
    const before = readFileSync(file);
    const { code, err } = await runCli(['ledger', 'verify'], '', { env: ENVIRONMENT, cwd: REPOSITORY });
    expect([code, err]).toEqual([1, expect.stringContaining('was written before 0.1.0 had its format')]);
    expect(readFileSync(file).equals(before)).toBe(true);
  });
});

async function answerDecisions(): Promise<void> {
  const { decisions }: { decisions: { id: string }[] } = JSON.parse(await baton('decision', 'list', '--json'));
  for (const { id } of decisions) await baton('decision', 'resolve', id, '1', '-m', 'after the upgrade');
  expect(JSON.parse(await baton('decision', 'list', '--json'))).toMatchObject({ decisions: [] });
}

async function statusByTask(): Promise<Record<string, string>> {
  const { tasks }: { tasks: { id: string; status: string }[] } = JSON.parse(await baton('task', 'list', '--json'));
  return Object.fromEntries(tasks.map(({ id, status }) => [id, status]));
}

async function verifiedEntries(): Promise<number> {
  const { size }: { size: number } = JSON.parse(await baton('ledger', 'verify', '--all-signatures', '--json'));
  return size;
}

async function proveT1(): Promise<{ from: number; to: number } | null> {
  const file = join(STATE, 'T1.proof.json');
  await baton('ledger', 'prove', 'T1', '-o', file);
  return JSON.parse(await baton('verify', file, '--json')).complete;
}

async function baton(...argv: string[]): Promise<string> {
  const ran = await runCli(argv, '', { env: ENVIRONMENT, cwd: REPOSITORY });
  expect([argv, ran.code, ran.err]).toEqual([argv, 0, expect.any(String)]);
  return ran.out;
}
