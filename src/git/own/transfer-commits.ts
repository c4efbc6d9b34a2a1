import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetchRef } from '../remote/fetch-ref.ts';
import { gitFailure, type GitFailure, gitLines, type GitResult } from '../run-git.ts';
import {
  hasCompleteCommit,
  openOwnRepository,
  type OwnRepository,
  pinCommits,
  readCloneKind,
  runOwnGit,
} from './own-repository.ts';
import { DAMAGED_HINT, transferPack } from './transfer-pack.ts';

/** Copies missing commits with all objects into Baton's repository, and hashes every byte. */
export async function importCommits(
  own: OwnRepository,
  wants: readonly string[],
  onProgress?: (line: string) => void,
): Promise<GitResult<null>> {
  const odd = wants.find((sha) => !/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(sha));
  if (odd !== undefined) return gitFailure('git/bad-name', `not the full id of a commit: '${odd}'`, 'Use the full id.');
  const missing = [...new Set(wants)].filter((sha) => !hasCompleteCommit(own, sha));
  if (missing.length === 0) return { ok: true, value: null };
  const copied = await transferPack(own, {
    // Reads shared objects from Baton's copy, because the user's may be pruned or altered.
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

/** Opens a project's repository on first use and runs one import at a time. */
export class OwnRepositoryImporter {
  readonly #open: () => Promise<GitResult<OwnRepository>>;
  readonly #onProgress: ((line: string) => void) | undefined;
  readonly #findRemote: () => string | null;
  #opened: Promise<GitResult<OwnRepository>> | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #progress: string | null = null;

  constructor(
    place: { readonly stateDir: string; readonly projectId: string; readonly path: string },
    onProgress?: (line: string) => void,
    /** Returns the recorded address of a fleet's remote, which has the commits of other hosts; null without one. */
    findRemote: () => string | null = () => null,
  ) {
    this.#open = async () => openOwnRepository(place.stateDir, place.projectId, place.path);
    this.#onProgress = onProgress;
    this.#findRemote = findRemote;
  }

  /** The progress of the first import; null if none is running. */
  get progress(): string | null {
    return this.#progress;
  }

  async with(...wants: readonly string[]): Promise<GitResult<OwnRepository>> {
    const own = await this.#openOnce();
    if (!own.ok || wants.every((sha) => hasCompleteCommit(own.value, sha))) return own;
    const imported = this.#last.then(async () => this.#import(own.value, wants));
    this.#last = imported.catch(() => undefined);
    const done = await imported;
    if (done.ok) return own;
    const fetched = await this.#fetchMissing(own.value, wants);
    if (fetched?.ok === true) return own;
    return fetched?.problem.code === 'git/remote-unreachable' ? fetched : done;
  }

  /**
   * Fetches commits of other hosts; undefined without a remote. Imports from the local repository do not wait for the
   * network.
   */
  async #fetchMissing(own: OwnRepository, wants: readonly string[]): Promise<GitResult<null> | undefined> {
    const url = this.#findRemote();
    if (url === null) return undefined;
    for (const sha of wants) {
      if (hasCompleteCommit(own, sha) || (await importCommits(own, [sha])).ok) continue;
      const fetched = await fetchRef(own, { url, ref: sha, timeoutMs: FETCH_MS });
      if (!fetched.ok) return fetched;
    }
    return { ok: true, value: null };
  }

  /** Returns why a commit cannot be copied; undefined if it can, or if that is unknown after `waitMs`. */
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

  /** Only the first import takes long enough to report progress. */
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
    // After a failure the next call retries.
    if (!opened.ok) this.#opened = undefined;
    return opened;
  }
}

function notPinned({ problem }: GitFailure, wants: readonly string[]): GitFailure {
  const sha = wants.find((each) => problem.message.includes(each)) ?? wants.join(', ');
  if (problem.message.includes('non-commit'))
    return gitFailure('git/no-commit', `${sha} is not a commit`, 'Name a commit: git rev-parse HEAD');
  const message = `commit ${sha} is missing or damaged in the repository: its content does not match its id`;
  return gitFailure('git/damaged-object', message, DAMAGED_HINT);
}

/** Turns the failure into one that names the remedy: an incomplete clone is not damaged. */
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

/** Each import leaves a pack; many small packs are joined. */
export async function joinPacks(own: OwnRepository, most = MOST_PACKS): Promise<void> {
  const packs = readdirSync(join(own.objects, 'pack')).filter((name) => name.endsWith('.pack'));
  if (packs.length < most) return;
  await runOwnGit(own, ['repack', '-d', '-q', '--geometric=2'], { timeoutMs: 3_600_000 });
  await runOwnGit(own, ['pack-refs', '--all'], { timeoutMs: 600_000 });
}

/** Adds a commit to the user's repository with all objects that `onto` lacks. Moves no ref. */
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

/**
 * Adds a commit of another host, with everything that the user's repository lacks. Does nothing if it has the commit.
 */
export async function exportMissing(own: OwnRepository, sha: string): Promise<GitResult<null>> {
  const input = [sha, ...own.recent].map((each) => `${each}\n`).join('');
  const listed = await gitLines(['cat-file', '--batch-check'], { cwd: own.source.path, input });
  if (!listed.ok) return listed;
  const there = listed.value.flatMap((line) => (/ commit /.test(line) ? [line.slice(0, line.indexOf(' '))] : []));
  if (there.includes(sha)) return { ok: true, value: null };
  const from = { objects: own.objects };
  return transferPack(own, { from, to: { objects: own.source.objects }, wants: [sha], haves: there });
}

const MOST_PACKS = 60;
const FETCH_MS = 60_000;
