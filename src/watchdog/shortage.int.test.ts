import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';

/** Loads all modules first, then opens files until no descriptor is left. */
const SCRIPT = `
const { openSync, closeSync } = await import('node:fs');
const { startWatchdog } = await import(process.argv[1]);
const { startDaemon } = await import(process.argv[2]);
const stateDir = process.argv[3];
const taken = [];
try { for (;;) taken.push(openSync('/dev/null')); } catch {}
const reason = await new Promise((onLost) => startWatchdog({ stateDir, env: {}, onLost }));
for (const file of taken.splice(0, 2)) closeSync(file);
const { error } = await startDaemon({ stateDir, env: {}, deadlineMs: 10_000 });
for (const file of taken) closeSync(file);
console.log(JSON.stringify([reason, error.message]));
process.exit(0);
`;

it('without descriptors a watchdog and a daemon fail to start with the reason, and nothing crashes', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'baton-shortage-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true }));
  const modules = ['start-watchdog.ts', '../api/client/start-daemon.ts'].map((path) => join(import.meta.dirname, path));
  const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module', '-e', SCRIPT];
  const args = ['-c', 'ulimit -n 64; exec "$0" "$@"', ...node, ...modules, stateDir];
  const { stdout } = await promisify(execFile)('/bin/sh', args);
  const [watchdog, daemon]: readonly string[] = JSON.parse(stdout);
  expect(watchdog).toContain('EMFILE');
  expect(daemon).toContain('EMFILE');
});
