import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeProjectStore } from '../../api/project-list.ts';
import { projectId } from '../../git/repository.ts';
import { identifyProject, type IdentifiedProject } from './identity.ts';

const URL = 'postgres://baton@db.example/baton';
let top = '';
let stateDir = '';
let repository = { mainTop: '', commonDir: '' };

beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'baton-identity-'));
  stateDir = join(top, 'state');
  repository = { mainTop: join(top, 'demo'), commonDir: join(top, 'demo/.git') };
  mkdirSync(repository.commonDir, { recursive: true });
  mkdirSync(join(stateDir, 'projects'), { recursive: true });
});
afterEach(() => rmSync(top, { recursive: true }));

function identify(wanted: { project?: string; store?: string; defaultStore?: string } = {}): IdentifiedProject {
  const { project, store, defaultStore } = wanted;
  return identifyProject({ stateDir, repository, project, store, defaultStore });
}

const withLedger = (id: string): void => writeFileSync(join(stateDir, 'projects', `${id}.db`), '');
const errorOf = (found: IdentifiedProject) => (found.ok ? undefined : found.error);

describe('a repository without a ledger', () => {
  it('is the project that the runbook names, in the store that the person names too', () => {
    expect(identify()).toMatchObject({ identity: { id: projectId(repository), store: undefined, isKnown: false } });
    expect(identify({ project: 'shop', store: URL, defaultStore: URL })).toMatchObject({
      identity: { id: 'shop', store: URL, isKnown: false },
    });
    for (const defaultStore of ['postgres://other/x', undefined]) {
      const found = identify({ project: 'shop', store: URL, ...(defaultStore === undefined ? {} : { defaultStore }) });
      expect(errorOf(found)).toMatchObject({ code: 'wrong-store', hint: expect.stringContaining('baton up --store') });
    }
    expect(identify({ defaultStore: URL })).toMatchObject({ identity: { id: projectId(repository), store: URL } });
  });

  it('is refused the name of another repository of this state folder', () => {
    const other = join(top, 'other');
    writeProjectStore(stateDir, 'shop', { path: other, store: undefined });
    expect(identify({ project: 'shop' })).toMatchObject({ identity: { id: 'shop' } });
    mkdirSync(other);
    expect(errorOf(identify({ project: 'shop' }))).toMatchObject({ code: 'wrong-project' });
  });
});

describe('a repository with a ledger', () => {
  it('keeps its name and its store', () => {
    const own = projectId(repository);
    withLedger(own);
    expect(identify({ defaultStore: URL })).toMatchObject({ identity: { id: own, store: undefined, isKnown: true } });
    expect(errorOf(identify({ project: 'shop' }))?.hint).toBe(`Write into baton.toml: project = "${own}"`);
    expect(identify({ project: own })).toMatchObject({ identity: { id: own } });
    expect(errorOf(identify({ project: own, store: URL }))).toMatchObject({
      code: 'wrong-store',
      hint: `Move the ledger: baton store move --to ${URL}`,
    });
  });

  it('may reach the same database in another way, and no other database', () => {
    writeProjectStore(stateDir, 'shop', { path: repository.mainTop, store: URL });
    expect(identify()).toMatchObject({ identity: { id: 'shop', store: URL } });
    const stricter = 'postgres://second@db.example/baton?sslmode=verify-full';
    expect(identify({ project: 'shop', store: stricter })).toMatchObject({ identity: { store: stricter } });
    expect(errorOf(identify({ project: 'shop', store: 'postgres://db.example/other' }))).toMatchObject({
      code: 'wrong-store',
    });
  });
});
