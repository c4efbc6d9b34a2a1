import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { findProcesses } from '../processes/find-processes.ts';

const ROOT = join(import.meta.dirname, '../..');
const SEEN = 'implementer has it';

describe('npm start', () => {
  it('leaves nothing running if it is interrupted', { timeout: 120_000 }, async () => {
    const place = mkdtempSync(join(tmpdir(), 'baton-demo-test-'));
    onTestFinished(() => rmSync(place, { recursive: true, force: true }));
    const env = { PATH: process.env['PATH'], HOME: place, TMPDIR: place };
    const stdio = ['ignore', 'pipe', 'ignore'] as const;
    const demo = spawn(process.execPath, ['scripts/demo.ts'], { cwd: ROOT, env, stdio: [...stdio] });
    onTestFinished(() => void demo.kill('SIGKILL'));
    const exited = once(demo, 'exit');
    let said = '';
    for await (const chunk of demo.stdout) {
      const before = said;
      said += String(chunk);
      if (!before.includes(SEEN) && said.includes(SEEN)) demo.kill('SIGINT');
    }
    expect(await exited).toEqual([130, null]);
    const folder = join(place, readdirSync(place)[0] ?? '');
    expect(said).toContain(`Interrupted. Nothing runs any more; what there was by then is in ${folder}`);
    expect(existsSync(join(folder, 'state/daemon.json'))).toBe(false);
    expect(findProcesses(join(folder, 'state'))).toEqual([]);
  });
});
