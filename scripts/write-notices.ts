import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { program } from './bundle-programs.ts';

const root = join(import.meta.dirname, '..');

/** Writes the licences of all packages whose code is in the bundles: each of them asks that its notice goes with its code. */
export async function writeNotices(file: string): Promise<void> {
  const parts = (await findBundledPackages()).map((folder) => {
    const { name, version, license }: PackageFile = JSON.parse(
      readFileSync(join(root, folder, 'package.json'), 'utf8'),
    );
    const [text] = globSync('{LICEN[CS]E,licen[cs]e}*', { cwd: join(root, folder) });
    if (license === undefined) throw new Error(`${name} names no licence`);
    // Packages of one repository may leave the text at its top.
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

/** Folders below the root, by name. */
async function findBundledPackages(): Promise<string[]> {
  const entryPoints = ['src/cli/main.ts', 'src/daemon/main.ts', 'src/web/app/main.tsx', 'src/web/hub/main.ts'];
  const { metafile } = await build({ ...program, entryPoints, outdir: 'dist', write: false, metafile: true });
  const folders = Object.keys(metafile.inputs).flatMap(
    (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? [],
  );
  return [...new Set(folders)].toSorted();
}
