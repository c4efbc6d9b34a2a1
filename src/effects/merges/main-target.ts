import { advanceBranch, type AdvanceResult } from '../../git/merge/advance-branch.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import { fetchRef } from '../../git/remote/fetch-ref.ts';
import { pushRef } from '../../git/remote/push-ref.ts';
import { findSha } from '../../git/repository.ts';
import { gitFailure, type GitResult } from '../../git/run-git.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import { findMain } from '../../state/main/main-branch.ts';
import type { EffectContext } from '../context.ts';
import { fastForwardMain } from '../travel/follow-main.ts';
import { requireRemote } from '../travel/remote-away.ts';

/** The branch that a merge goes to: of this repository, or in a fleet of the recorded remote. */
interface MainTarget {
  findHead(): Promise<GitResult<string>>;
  /** Moves the branch if it is still at `from`, the commit that was checked. */
  advance(own: OwnRepository, from: string, to: string): Promise<GitResult<AdvanceResult>>;
}

export async function openMainTarget(branch: string, context: EffectContext): Promise<MainTarget> {
  const url = await context.readState((state) => findSharedRemote(state));
  return url ? remoteTarget(url, branch, context) : localTarget(branch, context);
}

function localTarget(branch: string, { path }: EffectContext): MainTarget {
  return {
    async findHead() {
      const sha = await findSha(path, `refs/heads/${branch}`);
      if (sha !== null) return { ok: true, value: sha };
      return gitFailure('git/no-main-branch', `there is no branch ${branch} here`, '');
    },
    advance: async (own, from, to) => advanceBranch(own, { branch, from, to }),
  };
}

/** The push lease names the checked commit, so the push fails if the branch moved after the check. */
function remoteTarget(url: string, branch: string, context: EffectContext): MainTarget {
  const ref = `refs/heads/${branch}`;
  return {
    async findHead() {
      const own = await context.ownRepository.with();
      const head = own.ok ? requireRemote(await fetchRef(own.value, { url, ref })) : own;
      if (!head.ok) return head;
      const recorded = await context.readState((state) => findMain(state));
      // Baton merges only onto a recorded position.
      if (recorded?.branch === branch && recorded.sha !== head.value) await context.recordMainMoves('fresh');
      return head;
    },
    async advance(own, from, to) {
      const pushed = requireRemote(await pushRef(own, { url, ref, sha: to, lease: from }));
      if (!pushed.ok) return pushed;
      if (pushed.value === 'moved') return { ok: true, value: 'moved' };
      await fastForwardMain(own, branch, to, context);
      return { ok: true, value: 'advanced' };
    },
  };
}
