import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { basename } from 'node:path';
import type { Repository } from './repository.ts';

/** Readable, and the same for every worktree: the folder's name and a hash of where the shared git folder really is. */
export function projectId({ mainTop, commonDir }: Pick<Repository, 'mainTop' | 'commonDir'>): string {
  const slug = basename(mainTop)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 40);
  const hash = createHash('sha256').update(realpathSync(commonDir)).digest('hex').slice(0, 8);
  return slug === '' ? hash : `${slug}-${hash}`;
}
