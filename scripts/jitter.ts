import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/**
 * `npm run jitter -- [FILES]`: runs the process tests in a copy of this tree whose programs have random delays
 * (`test/processes/jitter.ts`). Code that depends on timing fails here reliably instead of rarely on a busy machine.
 */
const ROOT = join(import.meta.dirname, '..');
const PROGRAMS = ['daemon', 'supervisor', 'cli', 'agents/scripted', 'agents/builtin'];
const ROOMS = [
  'test/e2e',
  'src/daemon',
  'src/supervisor',
  'src/effects',
  'src/cli',
  'src/hooks',
  'src/api',
  'src/agents',
];
const LEFT = new Set(['node_modules', '.git', '.cache', 'dist']);

const copy = mkdtempSync(join(tmpdir(), 'baton-jitter-'));
process.on('exit', () => rmSync(copy, { recursive: true, force: true }));
cpSync(ROOT, copy, { recursive: true, filter: (path) => !LEFT.has(relative(ROOT, path)) });
symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
for (const program of PROGRAMS) {
  const file = join(copy, 'src', program, 'main.ts');
  const jitter = relative(join(copy, 'src', program), join(copy, 'test/processes/jitter.ts'));
  writeFileSync(file, `import '${jitter}';\n${readFileSync(file, 'utf8')}`);
}
const files = process.argv.length > 2 ? process.argv.slice(2) : ROOMS;
const patience = ['--testTimeout=120000', '--hookTimeout=120000'];
process.on('SIGINT', () => process.exit(130));
const { status, error } = spawnSync('vitest', ['run', ...patience, ...files], { cwd: copy, stdio: 'inherit' });
if (error) throw error;
process.exitCode = status ?? 1;
