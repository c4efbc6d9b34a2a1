import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { PROTOCOL_LIMITS } from '../../protocol/limits.ts';
import { problem } from '../../protocol/shape/problem.ts';
import { openBareProject } from '../project/project.cases.ts';
import type { Project } from '../project/project.ts';
import type { Call } from './call.ts';
import { importTasks } from './import-tasks.ts';

type Import = Parameters<typeof importTasks>[0];

const { importPart } = PROTOCOL_LIMITS;
const SIZE = 2 * importPart + 10;
const LIST = Array.from({ length: SIZE }, (_, i) => ({
  task_id: `T${i}`,
  title: 'a task',
  ...(i === 0 ? {} : { after: [`T${i - 1}`] }),
}));

let folder: string;
let project: Project;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-import-'));
  project = await openBareProject({ id: 'p', path: folder, stateDir: folder });
});
afterEach(async () => {
  await project.close();
  rmSync(folder, { recursive: true });
});

async function importList(tasks: Import['input']['tasks'] = LIST, key?: string) {
  const call = { project, caller: { kind: 'operator', name: 'ada' }, input: { source: 'a list', tasks } } as const;
  // The handler uses nothing else of a call.
  return importTasks({ ...call, ...(key === undefined ? {} : { key }) } as Call as Import); // oxlint-disable-line typescript/no-unsafe-type-assertion
}

const added = (count: number, existing = 0) => ({ ok: true, result: { added: count, existing } });
const ids = async () => {
  const read = await project.commandLoop.read(({ state }) => [...state.tasks.values()].map(({ id, n }) => [id, n]));
  return read.ok ? read.answer : [];
};
const ALL = LIST.map(({ task_id }, i) => [task_id, i + 1]);

describe('a long import', () => {
  it('is recorded in parts, so that other commands are answered in between', async () => {
    const append = vi.spyOn(project.ledger, 'append');
    const running = importList();
    const other = await importList([{ task_id: 'other', title: 'meanwhile' }]);
    expect(other).toEqual(added(1));
    expect(await running).toEqual(added(SIZE));
    expect(Math.max(...append.mock.calls.map(([drafts]) => drafts.length))).toBeLessThanOrEqual(importPart + 1);
    expect((await ids()).findIndex(([id]) => id === 'other')).toBeLessThan(SIZE);
  });

  it.each([
    ['an id twice', { task_id: 'T0', title: 'again' }, 'task-exists'],
    ['an unknown task before', { task_id: 'X', title: 'x', after: ['Z'] }, 'no-such-task'],
    [
      'more than an entry holds',
      { task_id: 'X', title: 'x', after: Array.from({ length: 1200 }, () => 'T'.repeat(60)) },
      'too-large',
    ],
  ])('creates nothing if its last task has a mistake: %s', async (_, last, code) => {
    expect(await importList([...LIST, last])).toMatchObject({ ok: false, error: { code } });
    expect(await ids()).toEqual([]);
  });

  it.each([
    ['with its key', 'k', added(SIZE)],
    ['without a key', undefined, added(SIZE - importPart, importPart)],
  ])('is completed by the same call after a failure in between, %s', async (_, key, answer) => {
    const append = project.ledger.append.bind(project.ledger);
    const away = problem('store-unavailable', 'the disk is full', 'Make room.');
    vi.spyOn(project.ledger, 'append')
      .mockImplementationOnce(append)
      .mockResolvedValueOnce({ ok: false, problem: away });
    expect(await importList(LIST, key)).toMatchObject({ ok: false, error: { code: 'store-unavailable' } });
    expect(await ids()).toEqual(ALL.slice(0, importPart));
    expect(await importList(LIST, key)).toEqual(answer);
    expect(await ids()).toEqual(ALL);
    const { size } = project.ledger.head;
    expect(await importList(LIST, key)).toEqual(key === undefined ? added(0, SIZE) : answer);
    expect(project.ledger.head.size).toBe(size);
  });
});
