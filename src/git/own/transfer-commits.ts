import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gitFailure, type GitFailure, type GitResult } from '../run-git.ts';
import {
  hasCompleteCommit,
  openOwnRepository,
  type OwnRepository,
  pinCommits,
  readCloneKind,
  runOwnGit,
} from './own-repository.ts';
import { DAMAGED_HINT, transferPack } from './transfer-pack.ts';

/**
 * Brings commits of the user's repository into Baton's own, with all that they need. Only what is not here yet is copied, and every byte
 * of it is hashed again. Commits that are here already cost nothing.
 */
export async function importCommits(
  own: OwnRepository,
  wants: readonly string[],
  onProgress?: (line: string) => void,
): Promise<GitResult<null>> {
  const odd = wants.find((sha) => !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha));
  if (odd !== undefined)
    return gitFailure('git/bad-name', `not the full name of a commit: '${odd}'`, 'Give all digits.');
  const missing = [...new Set(wants)].filter((sha) => !hasCompleteCommit(own, sha));
  if (missing.length === 0) return { ok: true, value: null };
  const copied = await transferPack(own, {
    // What both have is read from ours: in the user's repository it may have been pruned or changed since.
    from: { objects: own.source.objects, also: [own.objects] },
    to: { objects: own.objects },
    wants: missing,
    haves: own.recent,
    ...(onProgress === undefined ? {} : { onProgress }),
  });
  if (!copied.ok) return incomplete(own, copied);
  const pinned = await pinCommits(own, missing);
  if (!pinned.ok) return notPinned(pinned, missing);
  await joinPacks(own);
  return { ok: true, value: null };
}

/** Opens a project's own repository when it is first needed, and brings commits into it, one import at a time. */
export class OwnRepositoryImporter {
  readonly #open: () => Promise<GitResult<OwnRepository>>;
  readonly #onProgress: ((line: string) => void) | undefined;
  #opened: Promise<GitResult<OwnRepository>> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #progress: string | null = null;

  constructor(
    place: { readonly stateDir: string; readonly projectId: string; readonly path: string },
    onProgress?: (line: string) => void,
  ) {
    this.#open = async () => openOwnRepository(place.stateDir, place.projectId, place.path);
    this.#onProgress = onProgress;
  }

  /** How far the first import is; null while there is none. */
  get progress(): string | null {
    return this.#progress;
  }

  /** Baton's own repository, with these commits in it. */
  async with(...wants: readonly string[]): Promise<GitResult<OwnRepository>> {
    const own = await this.#openOnce();
    if (!own.ok || wants.every((sha) => hasCompleteCommit(own.value, sha))) return own;
    const imported = this.#last.then(async () => this.#import(own.value, wants));
    this.#last = imported.catch(() => undefined);
    const done = await imported;
    return done.ok ? own : done;
  }

  /**
   * Why a commit cannot be copied; undefined if it can, or if that is not known after `waitMs`. Only a clone that may lack objects is tried:
   * the copy of any other is made when it is needed.
   */
  async findRefusal(sha: string, waitMs: number): Promise<GitFailure['problem'] | undefined> {
    const own = await this.#openOnce();
    if (!own.ok) return own.problem;
    if (readCloneKind(own.value.source) === 'whole') return undefined;
    const late = new AbortController();
    const waited = sleep(waitMs, undefined, { signal: late.signal, ref: false }).catch(() => undefined);
    const copied = await Promise.race([this.with(sha), waited]);
    late.abort();
    return copied === undefined || copied.ok ? undefined : copied.problem;
  }

  /** Only the first import takes long enough to be watched. */
  async #import(own: OwnRepository, wants: readonly string[]): Promise<GitResult<null>> {
    if (own.recent.length > 0) return importCommits(own, wants);
    try {
      return await importCommits(own, wants, (line) => {
        this.#progress = line;
        this.#onProgress?.(line);
      });
    } finally {
      this.#progress = null;
    }
  }

  async #openOnce(): Promise<GitResult<OwnRepository>> {
    this.#opened ??= this.#open();
    const opened = await this.#opened;
    // One that failed is tried again by the next call.
    if (!opened.ok) this.#opened = undefined;
    return opened;
  }
}

/** What arrived has other names than those that were asked for, or is no commit. */
function notPinned({ problem }: GitFailure, wants: readonly string[]): GitFailure {
  const sha = wants.find((each) => problem.message.includes(each)) ?? wants.join(', ');
  if (problem.message.includes('non-commit'))
    return gitFailure('git/no-commit', `${sha} is not a commit`, 'Name a commit: git rev-parse HEAD');
  const message = `commit ${sha} is missing or damaged in the repository: its content has another name`;
  return gitFailure('git/damaged-object', message, DAMAGED_HINT);
}

/** A clone that never had all objects cannot give them: that is not damage, and has a remedy of its own. */
function incomplete({ source }: OwnRepository, failure: GitFailure): GitFailure {
  if (failure.problem.code !== 'git/damaged-object') return failure;
  const { path } = source;
  const kind = readCloneKind(source);
  const object = /\b[0-9a-f]{40,64}\b/.exec(failure.problem.message)?.[0] ?? 'a part of it';
  if (kind === 'shallow') {
    const message = `'${path}' is a shallow clone, and Baton needs its whole history: ${object} is missing`;
    return gitFailure('git/shallow-repository', message, 'Fetch its whole history: git fetch --unshallow');
  }
  if (kind === 'partial') {
    const message = `'${path}' is a partial clone, and Baton needs all of its objects: ${object} is missing`;
    const hint =
      'Fetch what it left out: git fetch --refetch --no-filter; then git config --unset remote.origin.promisor';
    return gitFailure('git/partial-repository', message, hint);
  }
  return failure;
}

/** Each import leaves a pack. Many small ones are joined; nothing is removed. */
export async function joinPacks(own: OwnRepository, most = MOST_PACKS): Promise<void> {
  const packs = readdirSync(join(own.objects, 'pack')).filter((name) => name.endsWith('.pack'));
  if (packs.length < most) return;
  await runOwnGit(own, ['repack', '-d', '-q', '--geometric=2'], { timeoutMs: 3_600_000 });
  await runOwnGit(own, ['pack-refs', '--all'], { timeoutMs: 600_000 });
}

const MOST_PACKS = 60;

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
