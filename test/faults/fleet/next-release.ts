import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LEDGER_LEVEL } from '../../../src/protocol/fleet.ts';

const ROOT = join(import.meta.dirname, '../../..');
const COPIED = ['src', 'bin', 'examples', 'runbooks', 'scripts', 'test', 'package.json', 'tsconfig.json'];

/** A package of the next release: this source with one more type of entry, at the next level. */
export function makeNextRelease(): { readonly folder: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'baton-next-'));
  const source = join(folder, 'source');
  for (const path of COPIED) cpSync(join(ROOT, path), join(source, path), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'));
  // The worked example of CONTRIBUTING.md: `TaskNoted`, recorded when a person unblocks a task.
  execFileSync('git', ['apply', '--include=src/*', '-'], { cwd: source, input: readExample() });
  const next = LEDGER_LEVEL + 1;
  edit(source, 'src/protocol/fleet.ts', `LEDGER_LEVEL = ${LEDGER_LEVEL}`, `LEDGER_LEVEL = ${next}`);
  edit(
    source,
    'src/state/fleet/entry-levels.ts',
    'ENTRY_LEVELS: EntryLevels = {',
    `ENTRY_LEVELS: EntryLevels = { TaskNoted: ${next},`,
  );
  const made = join(folder, 'package');
  const program = `import { makePackage } from './test/package/make-package.ts'; await makePackage(${JSON.stringify(made)});`;
  execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: source,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return { folder: made, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
}

function readExample(): string {
  const text = readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8');
  const [, section = ''] = /^### A new entry type$([^]*?)^### /m.exec(text) ?? [];
  return [...section.matchAll(/```diff\n([^]*?)```/g)].map(([, diff = '']) => diff).join('');
}

function edit(folder: string, path: string, from: string, to: string): void {
  const file = join(folder, path);
  const text = readFileSync(file, 'utf8');
  if (!text.includes(from)) throw new Error(`${path} has no '${from}'`);
  writeFileSync(file, text.replace(from, to));
}
