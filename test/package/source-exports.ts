import { registerHooks } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * `node --import`: resolves the package's libraries by their public names in the working tree. An export condition in
 * package.json could do the same, but would name files that the published package does not contain.
 */
const SOURCES: Readonly<Record<string, string>> = {
  'batonctl/protocol': 'src/protocol/index.ts',
  'batonctl/ledger': 'src/ledger/index.ts',
  'batonctl/client': 'src/api/index.ts',
};

registerHooks({
  resolve: (specifier, context, next) => {
    const source = SOURCES[specifier];
    if (source === undefined) return next(specifier, context);
    return { url: pathToFileURL(join(import.meta.dirname, '../..', source)).href, shortCircuit: true };
  },
});
