import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { bundleCommand, bundlePrograms, ownFolders, shared } from './bundle-programs.ts';
import { writeNotices } from './write-notices.ts';

/**
 * Builds the release: a bundle for the command and each program beside it, one for each library that others import, and
 * their types.
 */
const root = join(import.meta.dirname, '..');
const outdir = 'dist';

rmSync(join(root, outdir), { recursive: true, force: true });

await bundleCommand(outdir);
await bundlePrograms(outdir);
await writeNotices(join(root, outdir, 'THIRD-PARTY.txt'));

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
