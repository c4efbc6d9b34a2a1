import { join } from 'node:path';
import { writeSite } from './site/build-site.ts';

/** `npm run docs`: builds the documentation as a static site in `dist/docs`, which `baton docs` serves. */
writeSite(join(import.meta.dirname, '../dist/docs'));
process.stdout.write('dist/docs/index.html is the start page. Serve it: baton docs\n');
