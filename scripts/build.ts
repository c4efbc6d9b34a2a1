import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { BuildOptions } from 'esbuild';
import { build } from 'esbuild';

/** The release: a bundle for the command, one for each library that others import, and their types. */
const root = join(import.meta.dirname, '..');

const shared: BuildOptions = {
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  minify: true,
  // Names of classes and functions stay what they are, in stack traces and in errors.
  keepNames: true,
  target: 'node24',
  logLevel: 'warning',
};

rmSync(join(root, 'dist'), { recursive: true, force: true });

// One CommonJS file: dynamic imports inside it stay lazy, and Node loads it twice as fast as a dozen ES modules.
await build({
  ...shared,
  entryPoints: { baton: 'src/cli/main.ts' },
  format: 'cjs',
  platform: 'node',
  outExtension: { '.js': '.cjs' },
  external: ['pg'],
});

await build({
  ...shared,
  entryPoints: { protocol: 'src/protocol/index.ts' },
  format: 'esm',
  platform: 'neutral',
});

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
