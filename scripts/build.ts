import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { bundlePrograms, program } from './bundle-programs.ts';

/** The release: a bundle for the command and each program beside it, one for each library that others import, and their types. */
const root = join(import.meta.dirname, '..');

rmSync(join(root, 'dist'), { recursive: true, force: true });

await build({ ...program, outdir: 'dist', entryPoints: { baton: 'src/cli/main.ts', daemon: 'src/daemon/main.ts' } });
await bundlePrograms('dist');
for (const folder of globSync('src/**/sql', { cwd: root })) {
  cpSync(join(root, folder), join(root, 'dist', relative('src', folder)), { recursive: true });
}

await build({
  absWorkingDir: root,
  outdir: 'dist',
  bundle: true,
  minify: true,
  keepNames: true,
  target: 'node24',
  logLevel: 'warning',
  entryPoints: { protocol: 'src/protocol/index.ts' },
  format: 'esm',
  platform: 'neutral',
});

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
