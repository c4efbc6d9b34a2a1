import { basename, join } from 'node:path';

/**
 * Where tests find the command. Under vitest that is a package built from the working tree when the run began (`global-setup.ts`): a daemon
 * starts from it with an eighth of the CPU time that the source takes. Scripts that run outside vitest use the source.
 */
const ROOT = join(import.meta.dirname, '../..');
const BUILT = process.env['BATON_TEST_PACKAGE'];

export const BATON: string = join(BUILT ?? ROOT, 'bin/baton.cjs');

export const DAEMON: string = BUILT === undefined ? join(ROOT, 'src/daemon/main.ts') : join(BUILT, 'dist/daemon.cjs');

/** A program in `test` that is part of the package, by its path there without its ending. */
export function testProgram(path: string): string {
  return BUILT === undefined ? join(ROOT, 'test', `${path}.ts`) : join(BUILT, 'dist', `${basename(path)}.cjs`);
}

/** What Node compiled, for every process of this run. */
export const COMPILE_CACHE: Readonly<Record<string, string>> =
  BUILT === undefined ? {} : { NODE_COMPILE_CACHE: join(BUILT, 'compiled') };

/** Repositories with one commit, to be copied. */
export const REPOSITORIES: string | undefined = BUILT === undefined ? undefined : join(BUILT, 'repositories');
