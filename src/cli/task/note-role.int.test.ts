import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { noteUnknownRole } from './note-role.ts';

it.each([
  ['implementer', ''],
  ['implementor', 'Note: implementor is not a role of this project; did you mean implementer?\n'],
  ['security', ''],
  ['securty', 'Note: securty is not a role of this project; did you mean security?\n'],
  ['gardener', ''],
])('the role %s', async (role, note) => {
  const cwd = mkdtempSync(join(tmpdir(), 'baton-role-'));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  copyFileSync('examples/runbooks/security-review.toml', join(cwd, 'baton.toml'));
  let err = '';
  const io = {
    env: {},
    cwd,
    isTerminal: false,
    out: () => undefined,
    err: (text: string) => (err += text),
    readInput: async () => new Uint8Array(),
  };
  await noteUnknownRole({ args: [], options: new Map([['role', role]]) }, io);
  expect(err).toBe(note);
});
