import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildSite } from '../src/cli/docs/site/build-site.ts';

/**
 * `npm run docs`: writes the documentation as a static site to `dist/docs`, for a web server. `baton docs` needs no
 * files.
 */
const folder = join(import.meta.dirname, '../dist/docs');
rmSync(folder, { recursive: true, force: true });
for (const [path, content] of buildSite()) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), content);
}
process.stdout.write('dist/docs/index.html is the start page.\n');
