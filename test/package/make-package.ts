import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { makeRepositories } from './new-repository.ts';
import { bundleCommand, bundlePrograms, program } from '../../scripts/bundle-programs.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Programs that tests start many times. Node takes three times as long to start their source. */
const entryPoints = Object.fromEntries(
  ['processes/peer', 'processes/mixed-worker', 'processes/drain-worker', 'github/gh-stand-in'].map((path) => [
    basename(path),
    `test/${path}.ts`,
  ]),
);

/**
 * Builds the working tree into a folder with the layout of an installed package, which runs its bundles instead of the
 * source; also creates the repositories that tests copy.
 */
export async function makePackage(folder: string): Promise<void> {
  const dist = join(folder, 'dist');
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist, { recursive: true });
  for (const part of ['bin', 'examples', 'runbooks', 'package.json'])
    cpSync(join(ROOT, part), join(folder, part), { recursive: true });
  rmSync(join(folder, 'repositories'), { recursive: true, force: true });
  makeRepositories(join(folder, 'repositories'));
  await Promise.all([bundleCommand(dist), bundlePrograms(dist), build({ ...program, outdir: dist, entryPoints })]);
}
