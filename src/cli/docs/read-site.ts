import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** The files of the site by path. */
export type Site = ReadonlyMap<string, Uint8Array>;

const BUILT = join(import.meta.dirname, '..', '..', 'docs');
const BUILDER = join(import.meta.dirname, '..', '..', '..', 'scripts', 'site', 'build-site.ts');

/** In the package the site is built; in a clone it is built now, in memory. */
export async function readSite(): Promise<Site | undefined> {
  if (existsSync(join(BUILT, 'index.html'))) return readFolder(BUILT);
  if (!existsSync(BUILDER)) return undefined;
  const { buildSite }: { buildSite: () => Site } = await import(BUILDER);
  return buildSite();
}

function readFolder(folder: string): Site {
  const paths = globSync('**/*', { cwd: folder }).filter((path) => statSync(join(folder, path)).isFile());
  return new Map(paths.map((path) => [path.replaceAll('\\', '/'), readFileSync(join(folder, path))]));
}
