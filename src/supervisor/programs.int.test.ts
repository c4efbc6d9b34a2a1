import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Programs } from './programs.ts';

it('bundles every program in a clone: from source, which runs if that fails, each supervisor would take twice the memory', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-programs-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // Tests use the programs of a package; a separate process runs the working tree, as users of a clone do.
  const source = `
    import { findPrograms } from ${JSON.stringify(join(import.meta.dirname, 'programs.ts'))};
    console.log(JSON.stringify(await findPrograms(${JSON.stringify(folder)})));`;
  const printed = execFileSync(process.execPath, ['--input-type=module-typescript', '-e', source], {
    encoding: 'utf8',
  });
  const { baton, ...programs }: Programs = JSON.parse(printed);
  expect(existsSync(baton)).toBe(true);
  for (const path of Object.values(programs)) {
    expect(path.startsWith(folder)).toBe(true);
    expect(path).toMatch(/\.cjs$/);
    expect(existsSync(path)).toBe(true);
  }
}, 60_000);
