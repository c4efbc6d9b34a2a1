import { basename, join } from 'node:path';

/**
 * Where tests find the command. Under vitest it is a package built from the working tree at the start of the run
 * (`global-setup.ts`): starting a daemon from it takes an eighth of the CPU time. Scripts outside vitest use the
 * source.
 */
const ROOT = join(import.meta.dirname, '../..');
const BUILT = process.env['BATON_TEST_PACKAGE'];

export const BATON: string = join(BUILT ?? ROOT, 'bin/baton.cjs');

export const DAEMON: string = BUILT === undefined ? join(ROOT, 'src/daemon/main.ts') : join(BUILT, 'dist/daemon.cjs');

/** A program in `test` that the package contains, by its path there without extension. */
export function testProgram(path: string): string {
  return BUILT === undefined ? join(ROOT, 'test', `${path}.ts`) : join(BUILT, 'dist', `${basename(path)}.cjs`);
}

/** Node's compile cache, shared by every process of this run. */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  BUILT === undefined ? {} : { NODE_COMPILE_CACHE: join(BUILT, 'compiled') };

/** Repositories with one commit, from which copies are made. */
export const REPOSITORIES: string | undefined = BUILT === undefined ? undefined : join(BUILT, 'repositories');
