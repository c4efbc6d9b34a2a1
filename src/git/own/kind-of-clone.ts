import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { SourceRepository } from './own-repository.ts';

/** How a repository was cloned: a shallow or partial clone may lack objects that Baton must copy. */
export function readCloneKind({ commonDir, objects }: SourceRepository): 'whole' | 'shallow' | 'partial' {
  if (existsSync(join(commonDir, 'shallow'))) return 'shallow';
  const packs = existsSync(join(objects, 'pack')) ? readdirSync(join(objects, 'pack')) : [];
  return packs.some((name) => name.endsWith('.promisor')) ? 'partial' : 'whole';
}
