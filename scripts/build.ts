import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

/**
 * The release: one bundle for the command, split so that each command loads only its own part, one for each library that
 * others import, and their types.
 */
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');

rmSync(dist, { recursive: true, force: true });

await build({
  absWorkingDir: root,
  entryPoints: { baton: 'src/cli/main.ts', protocol: 'src/protocol/index.ts' },
  outdir: dist,
  bundle: true,
  splitting: true,
  minify: true,
  keepNames: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  external: ['pg'],
  banner: { js: '' },
  legalComments: 'linked',
});

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
