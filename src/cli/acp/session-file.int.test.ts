import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { stateFiles } from '../../api/state-folder.ts';
import { SessionFiles } from './session-file.ts';

function scene() {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-editor-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  return { files: new SessionFiles(stateDir), folder: stateFiles(stateDir).editorSessions };
}

const session = (id: string, updatedAt: string) => {
  return { id, cwd: '/repo', title: 'Add it', run: { kind: 'workflow', id: 'W-00001' }, updatedAt } as const;
};

it('finds what was saved, newest first', () => {
  const { files } = scene();
  const [one, two] = [session(crypto.randomUUID(), '2026-01-01'), session(crypto.randomUUID(), '2026-01-02')];
  files.save(one);
  files.save(two);
  expect(files.find(one.id)).toEqual(one);
  expect(files.list()).toEqual([two, one]);
});

it('finds nothing under an unknown, foreign or damaged name', () => {
  const { files, folder } = scene();
  const { id, ...saved } = session(crypto.randomUUID(), '');
  files.save({ id, ...saved });
  writeFileSync(join(folder, `${id}.json`), '{"run":{"kind":"shell","id":7}}');
  for (const name of [id, crypto.randomUUID(), '../operator.token', '']) expect(files.find(name)).toBeUndefined();
  expect(files.list()).toEqual([]);
});

it('keeps a bounded number', () => {
  const { files, folder } = scene();
  files.save(session(crypto.randomUUID(), ''));
  for (let n = 0; n < 510; n += 1) writeFileSync(join(folder, `${crypto.randomUUID()}.json`), '{}');
  files.save(session(crypto.randomUUID(), ''));
  expect(readdirSync(folder)).toHaveLength(500);
});
