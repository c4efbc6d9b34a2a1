import { dirname, join, relative } from 'node:path';
import type { ViteUserConfig } from 'vitest/config';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** One folder per run: runs in several worktrees at the same time must not share it. */
const TEMPORARY = temporaryFolder();
const FOLDER = join(TEMPORARY, `baton-package-${process.pid}`);

/** The modules that look for the programs beside them. */
const LOCATE = new Set(
  ['src/api/client/start-daemon.ts', 'src/supervisor/programs.ts'].map((path) => join(ROOT, path)),
);

/**
 * Settings of vitest with which tests start Baton's programs from a package built once per run. The modules that look for programs beside
 * themselves are given the folder that they have in that package, as the bundler gives it to them.
 */
export const usePackage = {
  plugins: [
    {
      name: 'baton-package',
      enforce: 'pre',
      // The folder is read when the module runs: vitest keeps what was transformed for later runs, whose folder is another one.
      transform: (code, id) =>
        LOCATE.has(id)
          ? code.replaceAll('import.meta.dirname', `(process.env.BATON_TEST_PACKAGE + ${inPackage(id)})`)
          : undefined,
    },
  ],
  test: {
    env: { BATON_TEST_PACKAGE: FOLDER, TMPDIR: TEMPORARY },
    globalSetup: [join(import.meta.dirname, 'global-setup.ts')],
  },
} satisfies ViteUserConfig;

function inPackage(id: string): string {
  return JSON.stringify(join('/dist', relative(join(ROOT, 'src'), dirname(id))));
}
