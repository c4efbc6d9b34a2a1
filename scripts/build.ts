import { execFileSync } from 'node:child_process';
import { cpSync, globSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { build } from 'esbuild';
import { bundlePrograms, ownFolders, program, shared } from './bundle-programs.ts';

/** The release: a bundle for the command and each program beside it, one for each library that others import, and their types. */
const root = join(import.meta.dirname, '..');
const outdir = 'dist';

rmSync(join(root, outdir), { recursive: true, force: true });

await build({ ...program, outdir, entryPoints: { baton: 'src/cli/main.ts', daemon: 'src/daemon/main.ts' } });
await bundlePrograms(outdir);
for (const folder of globSync(['src/**/sql', 'src/web'], { cwd: root })) {
  cpSync(join(root, folder), join(root, outdir, relative('src', folder)), { recursive: true });
}

await build({
  ...shared,
  outdir,
  entryPoints: { protocol: 'src/protocol/index.ts', ledger: 'src/ledger/index.ts' },
  format: 'esm',
  platform: 'neutral',
});

await build({
  ...shared,
  outdir,
  entryPoints: { client: 'src/api/index.ts' },
  plugins: [ownFolders('import.meta.dirname')],
  format: 'esm',
  platform: 'node',
});

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
