import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { verifyLedger } from '../../ledger/verify/verify-ledger.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { openBareProject } from '../project/project.cases.ts';
import type { Project } from '../project/project.ts';
import { UnknownTypes } from './fold-state.ts';

const UNKNOWN = 'entry 3 has the type MoonLanded, which this version';
let folder: string;
let project: Project;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'baton-unknown-'));
  project = await openBareProject({ id: 'p', path: folder, stateDir: folder, onMistake: () => {} });
  await create('A');
  await project.ledger.append([{ actor: 'system:later', type: 'MoonLanded', data: { crater: 7 } }]);
});
afterEach(async () => {
  await project.close();
  rmSync(folder, { recursive: true });
});

it('an entry of a later version stops every decision, also after a restart; reads go on', async () => {
  const stopped = { ok: false, problem: { code: 'store-unavailable', message: expect.stringContaining(UNKNOWN) } };
  expect(await create('B')).toMatchObject(stopped);
  expect(await count()).toEqual({ ok: true, answer: 1 });
  await project.close();
  project = await openBareProject({ id: 'p', path: folder, stateDir: folder, onMistake: () => {} });
  expect(await create('B')).toMatchObject(stopped);
  expect(await count()).toEqual({ ok: true, answer: 1 });
});

it('its chain verifies, and the entry is named', async () => {
  const unknown = new UnknownTypes();
  const options = { project: project.id, verifier: nodeVerifier, onEntry: unknown.read.bind(unknown) };
  expect(await verifyLedger(project.ledger.store, options)).toMatchObject({ ok: true, size: 3 });
  expect(unknown.warnings).toEqual([expect.stringContaining(UNKNOWN)]);
});

async function create(id: string) {
  return project.commandLoop.submitCommand(
    { kind: 'create-task', command: { id, title: 'x' } },
    { kind: 'operator', name: 'ada' },
  );
}

async function count() {
  return project.commandLoop.read(({ state }) => state.tasks.size);
}
