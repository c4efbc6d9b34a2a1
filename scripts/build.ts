import { execFileSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';
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

/** A bundle is one file in one folder; what asks for its own folder gets the one that it would have in `dist`. */
const ownFolders = (bundleFolder: string): Plugin => ({
  name: 'own-folders',
  setup: (bundle) => {
    bundle.onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const folder = JSON.stringify(relative(join(root, 'src'), dirname(path)));
      const source = readFileSync(path, 'utf8');
      return {
        loader: 'ts',
        contents: source.replaceAll('import.meta.dirname', `(${bundleFolder} + '/' + ${folder})`),
      };
    });
  },
});

// CommonJS files: dynamic imports inside them stay lazy, and Node loads one twice as fast as a dozen ES modules.
await build({
  ...shared,
  entryPoints: { baton: 'src/cli/main.ts', daemon: 'src/daemon/main.ts' },
  plugins: [ownFolders('__dirname')],
  format: 'cjs',
  platform: 'node',
  outExtension: { '.js': '.cjs' },
  external: ['pg'],
});
for (const folder of globSync('src/**/sql', { cwd: root })) {
  cpSync(join(root, folder), join(root, 'dist', relative('src', folder)), { recursive: true });
}

await build({
  ...shared,
  entryPoints: { protocol: 'src/protocol/index.ts', ledger: 'src/ledger/index.ts' },
  format: 'esm',
  platform: 'neutral',
});

await build({
  ...shared,
  entryPoints: { client: 'src/api/index.ts' },
  plugins: [ownFolders('import.meta.dirname')],
  format: 'esm',
  platform: 'node',
});

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { cwd: root, stdio: 'inherit' });
