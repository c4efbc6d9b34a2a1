import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { findPrograms } from './programs.ts';

it('every program can be bundled: from source, which runs where that fails, each supervisor would take twice the memory', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { baton, ...programs } = await findPrograms(folder);
  expect(existsSync(baton)).toBe(true);
  for (const path of Object.values(programs)) {
    expect(path).toMatch(/\.cjs$/);
    expect(existsSync(path)).toBe(true);
  }
}, 60_000);
