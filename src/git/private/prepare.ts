import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { PrivateGit } from '../../protocol/sandbox.ts';
import { isDiskFaultText } from '../../protocol/resource-faults.ts';
import { gitFailure, type GitResult } from '../run-git.ts';
import { isRealFolder } from './agent-files.ts';
import { buildFolder, buildImportFolder, prepareHooks, writeAlternates } from './build-folder.ts';
import { findUnsyncedRefs, UNSYNCED_PREFIXES } from './carried-refs.ts';
import { privateGitFolder } from './find.ts';
import { findFurtherMounts } from './further-mounts.ts';
import { importFolder } from './import-commits.ts';
import { type Known, readKnown, readSnapshot, writeKnown, writeSnapshot } from './known.ts';
import {
  branchOfHead,
  findPackedRef,
  parsePackedRefs,
  readPrivateRefs,
  type Refs,
  renderPackedRefs,
  stampOf,
} from './private-refs.ts';
import { refreshRefs } from './refresh.ts';
import { hasSubmodules, markSubmodules, rewriteIndex } from './rewrite-index.ts';
import { syncPrivateGit } from './sync.ts';
import { HEADS } from './sync-plan.ts';
import { readUserRepository, type UserRepository } from './user-repository.ts';

export interface PrivateGitRequest {
  readonly stateDir: string;
  readonly worktree: string;
  /** The task's branch. Defaults to the checked-out branch. */
  readonly branch?: string | null;
  readonly fence: PrivateGit['fence'];
  /**
   * Whether this is another process of the same session. Stashes, the index, a running merge or rebase, and its
   * settings stay.
   */
  readonly isResumed: boolean;
  readonly isUnmounted?: true;
}

/**
 * Prepares the git directory for a process in a sandbox. First syncs what an earlier process left before a crash. No
 * process may be running in the worktree's sandbox.
 */
export async function preparePrivateGit(request: PrivateGitRequest): Promise<GitResult<PrivateGit>> {
  const folder = privateGitFolder(request.stateDir, request.worktree);
  const earlier = readKnown(folder);
  // What the session of an ended claim left is carried over outside of the branches, and never imported.
  if (earlier !== null && isSameClaim(earlier.git, request)) await syncPrivateGit(earlier.git);
  const found = await readUserRepository(request.worktree);
  if (!found.ok) return found;
  try {
    const git = make(folder, request, found.value);
    await guardSubmodules(git, !request.isResumed);
    return { ok: true, value: git };
  } catch (error) {
    const message = `the git directory for a session in '${request.worktree}' cannot be made: ${String(error)}`;
    const code = isDiskFaultText(String(error)) ? 'git/disk' : 'git/failed';
    return gitFailure(code, message, `Check the rights and the free space of ${request.stateDir}.`);
  }
}

function isSameClaim({ fence }: Pick<PrivateGit, 'fence'>, { fence: now }: Pick<PrivateGitRequest, 'fence'>): boolean {
  return fence?.livePath === now?.livePath && fence?.epoch === now?.epoch;
}

/**
 * Marks submodules before the session can change them. The session sees its own submodules without the mark. The index
 * of a resumed directory is left to the session.
 */
async function guardSubmodules(git: PrivateGit, isNew: boolean): Promise<void> {
  if (!hasSubmodules(join(git.at, 'index'))) return;
  await rewriteIndex(git);
  const env = { GIT_INDEX_FILE: join(git.folder, 'git', 'index') };
  if (isNew) await markSubmodules({ ...importFolder(git), env }, 'no-assume-unchanged');
}

function make(folder: string, request: PrivateGitRequest, repository: UserRepository): PrivateGit {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { at, worktree, commonDir, format, head } = repository;
  const git: PrivateGit = {
    folder,
    at,
    worktree,
    commonDir,
    format,
    fence: request.fence,
    objects: repository.objects.map(({ path }) => path),
    branch: request.branch === undefined ? branchOfHead(head) : request.branch,
    hooks: prepareHooks(folder, repository),
    also: findFurtherMounts(folder, repository),
    ...(request.isUnmounted === true ? { isUnmounted: true } : {}),
  };
  buildImportFolder(git, repository);
  const earlier = readKnown(folder);
  const isThere = earlier !== null && !earlier.isBuilding && isRealFolder(join(folder, 'git'));
  if (request.isResumed && isThere && isSameClaim(earlier.git, request)) {
    writeAlternates(git);
    refreshRefs(git, repository.packedRefs, 'not running');
    writeKnown({ ...(readKnown(folder) ?? earlier), git });
    return git;
  }
  const carried = isThere
    ? findUnsyncedRefs(readPrivateRefs(earlier.git, UNSYNCED_PREFIXES), earlier, readSnapshot(earlier.git))
    : (earlier?.carried ?? new Map<string, string>());
  const known = describe(git, repository, earlier, carried);
  writeKnown({ ...known, isBuilding: true });
  const { packedRefs } = repository;
  const withCarried = (): Refs => new Map([...parsePackedRefs(packedRefs, format), ...carried]);
  buildFolder(git, repository, carried.size === 0 ? packedRefs : renderPackedRefs(withCarried()));
  writeSnapshot(folder, packedRefs);
  writeKnown({ ...known, stamp: stampOf(folder) });
  return git;
}

function describe(git: PrivateGit, { packedRefs, head }: UserRepository, earlier: Known | null, carried: Refs): Known {
  const current = branchOfHead(head);
  const valueOf = (branch: string): string | null => findPackedRef(packedRefs, HEADS + branch);
  // Branches that others have moved since no longer count as the worktree's own.
  const made = [...(earlier?.made ?? [])].filter(([name, value]) => valueOf(name) === value);
  return {
    git,
    tip: git.branch === null ? null : valueOf(git.branch),
    made: new Map(made),
    pending: new Map(),
    carried,
    head,
    indexed: current === null ? head : valueOf(current),
    stamp: '',
    isBuilding: false,
  };
}
