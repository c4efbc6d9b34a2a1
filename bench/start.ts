import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Benchmark } from './measure.ts';
import { atMost, median } from './measure.ts';

const root = join(import.meta.dirname, '..');
const RUNS = 40;

/** Compares the built command, from start to answer, with a Node process that does nothing. */
export const start: Benchmark = {
  name: 'start',
  async run() {
    execFileSync('npm', ['run', '--silent', 'build'], { cwd: root, stdio: 'inherit' });
    const folder = mkdtempSync(join(tmpdir(), 'baton-bench-'));
    try {
      // Outside the clone there is no src/, so the bin runs the bundle like an installed package.
      for (const part of ['bin', 'dist', 'package.json'])
        cpSync(join(root, part), join(folder, part), { recursive: true });
      const signal = join(root, 'test/fixtures/exit/schema.json');
      const env = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'cache') };
      const bare: number[] = [];
      const validate: number[] = [];
      for (let i = 0; i < RUNS; i++) {
        bare.push(timeMs(['-e', '0'], env));
        validate.push(timeMs([join(folder, 'bin/baton.cjs'), 'validate', 'exit', signal], env));
      }
      return [
        atMost(1.5, {
          name: 'baton validate exit FILE',
          value: median(validate),
          unit: 'ms',
          against: 'node -e 0',
          limit: median(bare),
        }),
      ];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

function timeMs(args: readonly string[], env: NodeJS.ProcessEnv): number {
  const before = performance.now();
  const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`node ${args.join(' ')} failed: ${stderr}`);
  return performance.now() - before;
}
