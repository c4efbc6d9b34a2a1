import type { GitResult } from '../run-git.ts';
import type { OwnRepository } from './own-repository.ts';
import { transferPack } from './transfer-pack.ts';

/**
 * Adds a commit of Baton's own repository to the user's, with everything that `onto` does not have: what git has pruned there since the
 * review is there again. Objects only; no ref moves.
 */
export async function exportCommit(
  own: OwnRepository,
  { sha, onto }: { readonly sha: string; readonly onto: string },
): Promise<GitResult<null>> {
  return transferPack(own, {
    from: { objects: own.objects },
    to: { objects: own.source.objects },
    wants: [sha],
    haves: [onto],
  });
}
