import { dirname, join, relative } from 'node:path';
import type { ViteUserConfig } from 'vitest/config';
import { temporaryFolder } from './temporary-folder.ts';

const ROOT = join(import.meta.dirname, '../..');

/** One folder per run, because concurrent runs in several worktrees must not share it. */
const TEMPORARY = temporaryFolder();
const FOLDER = join(TEMPORARY, `baton-package-${process.pid}`);

/** The modules that look for programs beside them. */
const LOCATE = new Set(
  ['src/api/client/start-daemon.ts', 'src/supervisor/programs.ts'].map((path) => join(ROOT, path)),
);

/**
 * Vitest settings with which tests start Baton's programs from a package that is built once per run. Modules that look
 * for programs beside themselves get the folder that they have in that package, as from the bundler.
 */
export const usePackage = {
  plugins: [
    {
      name: 'baton-package',
      enforce: 'pre',
      // The folder is read when the module runs, because vitest caches transformed modules for later runs with other
      // folders.
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
