import { ghLoginConfig, parseRepository } from '../../github/find-github.ts';
import type { Rules } from '../../state/rules.ts';
import { isInHistory, measureMove, readMoveContent } from '../../git/main-branch.ts';
import type { FleetRole } from '../../effects/context.ts';
import type { OwnRepository } from '../../git/own/own-repository.ts';
import type { OwnRepositoryImporter } from '../../git/own/transfer-commits.ts';
import { fetchRef } from '../../git/remote/fetch-ref.ts';
import { findMainBranch, type MainBranchHead } from '../../git/repository.ts';
import { findSharedRemote } from '../../state/fleet/fleet.ts';
import { findMain, type MainBranchState } from '../../state/main/main-branch.ts';
import type { ObservedMove, ObserveResult } from '../../state/main/observe-main.ts';
import type { State } from '../../state/state.ts';
import type { CommandLoop } from '../loop/command-loop.ts';

/**
 * The main branch of a fleet with a recorded remote. It is the remote's, and only the caretaker records its position.
 */
export interface SharedMain {
  readonly remote: string;
  readonly isCaretaker: boolean;
  readonly term: number | undefined;
}

/** Undefined on a single machine and without a remote, where the repository's branch counts. */
export function findSharedMain(state: State, here: FleetRole | undefined): SharedMain | undefined {
  const remote = findSharedRemote(state);
  return here === undefined || remote === null ? undefined : { remote, ...here };
}

/** The recorded main branch if it is the remote's, because this host's branch may be behind. */
export function findRemoteHead(state: State, here: FleetRole | undefined): MainBranchHead | undefined {
  const main = findSharedMain(state, here) && findMain(state);
  return main && { name: main.branch, sha: main.sha, ref: `refs/heads/${main.branch}` };
}

interface RemoteMainOptions {
  readonly path: string;
  readonly own: OwnRepositoryImporter;
  readonly commandLoop: Pick<CommandLoop, 'read' | 'submitCommand'>;
  readonly into: () => string | undefined;
}

/**
 * Fetches the remote's main branch and records a move. The remote decides who may push, so a fast-forward needs no
 * approval; rewritten history does. `absent`: the remote has no such branch yet. Undefined if the remote or the store
 * does not respond.
 */
export async function recordRemoteMain(
  { path, own: importer, commandLoop, into }: RemoteMainOptions,
  { remote: url, term }: SharedMain,
): Promise<ObserveResult | 'absent' | undefined> {
  const read = await commandLoop.read(({ state }) => findMain(state));
  const own = await importer.with();
  if (!read.ok || !own.ok) return undefined;
  const main = read.answer;
  const configured = into();
  const branch = configured ?? main?.branch ?? (await findName(path));
  if (branch === undefined) return 'absent';
  const fetched = await fetchRef(own.value, { url, ref: `refs/heads/${branch}`, timeoutMs: FETCH_MS });
  if (!fetched.ok) return fetched.problem.code === 'git/no-remote-ref' ? 'absent' : undefined;
  const sha = fetched.value;
  if (main?.branch === branch && (main.sha === sha || main.prepared?.sha === sha)) return 'known';
  const move = main === undefined ? null : await measure(importer, own.value, main, sha);
  const known = { branch, sha, upstream: main?.upstream ?? null, isConfigured: configured !== undefined };
  const command = { ...known, seenAt: main?.at ?? '', move };
  const caller = { kind: 'system', name: 'main', ...(term === undefined ? {} : { term }) } as const;
  const settled = await commandLoop.submitCommand({ kind: 'see-main', command }, caller);
  return settled.ok ? settled.answer : undefined;
}

async function findName(path: string): Promise<string | undefined> {
  const found = await findMainBranch(path);
  return found.ok ? found.value.name : undefined;
}

async function measure(
  importer: OwnRepositoryImporter,
  own: OwnRepository,
  main: MainBranchState,
  sha: string,
): Promise<ObservedMove> {
  // Another host may have recorded this commit, so it may be missing here.
  await importer.with(main.sha);
  const prepared = main.prepared?.sha;
  const old = prepared !== undefined && (await isInHistory(own, prepared, sha)) ? prepared : main.sha;
  const { fastForward, commits } = await measureMove(own, old, sha);
  const content = fastForward ? { authors: [], stat: null } : await readMoveContent(own, old, sha);
  return { old, fastForward, commits, onUpstream: fastForward ? true : null, ...content };
}

const FETCH_MS = 30_000;

/** The options with which git reads the pull requests' repository as the login of `gh`. */
export function loginConfigOf({ pulls }: Rules): readonly string[] {
  const repository = pulls === undefined ? undefined : parseRepository(pulls.repository);
  return repository === undefined ? [] : ghLoginConfig(repository);
}
