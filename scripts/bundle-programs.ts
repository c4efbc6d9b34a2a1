import { cpSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import type { BuildOptions, Plugin } from 'esbuild';
import { build } from 'esbuild';
import { writePage } from './bundle-page.ts';

/** Settings of all programs: one CommonJS file each, which Node loads twice as fast as a dozen ES modules. */
const root = join(import.meta.dirname, '..');

/** A bundle is one file, so code that asks for its own folder gets the folder that it would have in `dist`. */
export const ownFolders = (bundleFolder: string): Plugin => ({
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

/**
 * The stop hook's fallback without a supervisor is a separate file, because loading it costs a millisecond at every
 * stop.
 */
const apart: Plugin = {
  name: 'apart',
  setup: (bundle) => {
    bundle.onResolve({ filter: /^\.\/ask-others\.ts$/ }, () => ({ path: './hook-stop-others.cjs', external: true }));
  },
};

/**
 * `baton up --foreground` runs the daemon's own bundle: a second copy would double the size of the command, and its
 * start.
 */
const daemonApart: Plugin = {
  name: 'daemon-apart',
  setup: (bundle) => {
    bundle.onResolve({ filter: /^\.\.\/\.\.\/daemon\/main\.ts$/ }, () => ({ path: './daemon.cjs', external: true }));
  },
};

export const shared: BuildOptions = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  // Keeps the names of classes and functions in stack traces and errors.
  keepNames: true,
  target: 'node24',
  logLevel: 'warning',
};

export const program: BuildOptions = {
  ...shared,
  // Dynamic imports inside them stay lazy.
  format: 'cjs',
  platform: 'node',
  outExtension: { '.js': '.cjs' },
  // pg tries to load it and works without it. No other package is left to load, so an installed Baton has no
  // dependencies.
  external: ['pg-native'],
  plugins: [ownFolders('__dirname')],
};

/** The command and the daemon, with the files that they read at run time. */
export async function bundleCommand(outdir: string): Promise<void> {
  const plugins = [ownFolders('__dirname'), daemonApart];
  await build({
    ...program,
    plugins,
    outdir,
    entryPoints: { baton: 'src/cli/main.ts', daemon: 'src/daemon/main.ts' },
  });
  for (const folder of globSync(['src/**/sql', 'src/cli/docs/site/assets'], { cwd: root })) {
    cpSync(join(root, folder), resolve(root, outdir, relative('src', folder)), { recursive: true });
  }
  await writePage(resolve(root, outdir, 'web'));
}

/** The programs that run beside the daemon. */
export async function bundlePrograms(outdir: string): Promise<void> {
  await build({
    ...program,
    plugins: [ownFolders('__dirname'), apart],
    // Loaded often in every session, so code that only serves stack traces is dropped.
    keepNames: false,
    outdir,
    entryPoints: {
      supervisor: 'src/supervisor/main.ts',
      'hook-stop': 'src/supervisor/stop-hook/main.ts',
      'hook-stop-others': 'src/supervisor/stop-hook/ask-others.ts',
      scripted: 'src/agents/scripted/main.ts',
      builtin: 'src/agents/builtin/main.ts',
      'acp-driver': 'src/agents/acp/driver/main.ts',
      'hook-own': 'src/hooks/session/main.ts',
      watchdog: 'src/watchdog/main.ts',
      'network-helper': 'src/sandbox/network/namespace/helper/main.ts',
      'shell-forward': 'src/sandbox/shell/forward/main.ts',
    },
  });
}

// In a clone, a daemon runs this file to build its programs.
if (process.argv[1] === import.meta.filename && process.argv[2] !== undefined) await bundlePrograms(process.argv[2]);
