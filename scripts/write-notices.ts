import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { program } from './bundle-programs.ts';

const root = join(import.meta.dirname, '..');

/** Writes the licences of all packages in the bundles: each requires that its notice is distributed with its code. */
export async function writeNotices(file: string): Promise<void> {
  const parts = (await findBundledPackages()).map((folder) => {
    const { name, version, license }: PackageFile = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    );
    const [text] = globSync('{LICEN[CS]E,licen[cs]e}*', { cwd: join(root, folder) });
    if (license === undefined) throw new Error(`${name} names no licence`);
    // Packages of one repository may have their licence at its top.
    const terms = text === undefined ? '' : `\n${readFileSync(join(root, folder, text), 'utf8').trim()}\n`;
    return `${name} ${version} (${license})\n${terms}`;
  });
  writeFileSync(
    file,
    `The programs of Baton contain code of these packages.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`,
  );
}

interface PackageFile {
  readonly name: string;
  readonly version: string;
  readonly license?: string;
}

/** The package folders in the bundles, relative to the root, sorted by name. */
async function findBundledPackages(): Promise<string[]> {
  const entryPoints = ['src/cli/main.ts', 'src/daemon/main.ts', 'src/web/app/main.tsx', 'src/web/hub/main.ts'];
  const { metafile } = await build({ ...program, entryPoints, outdir: 'dist', write: false, metafile: true });
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  return [...new Set(folders)].toSorted();
}
