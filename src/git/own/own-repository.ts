import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  git,
  gitFailure,
  type GitOptions,
  type GitOutput,
  type GitResult,
  gitText,
  type OwnGitFolder,
} from '../run-git.ts';

/** Baton's own copy of a project's commits, and the repository that they come from. */
export interface OwnRepository extends OwnGitFolder {
  readonly stateDir: string;
  readonly format: ObjectFormat;
  /** The `objects` folder of this repository, and of the user's. */
  readonly objects: string;
  readonly source: SourceRepository;
  /** Commits that are here whole, the newest first: what need not be sent again. */
  readonly recent: string[];
}

/** The user's repository: objects are read from it, and those of a merge are added to it. */
export interface SourceRepository {
  /** The top of its main worktree. */
  readonly path: string;
  /** The git folder that all of its worktrees share. */
  readonly commonDir: string;
  readonly objects: string;
}

/** Where Baton's own repository of a project is. */
function ownRepositoryPath(stateDir: string, projectId: string, format: ObjectFormat = 'sha1'): string {
  return join(stateDir, 'repositories', `${projectId}${format === 'sha1' ? '' : `.${format}`}.git`);
}

/** Opens Baton's own repository of a project; the first time it is made, empty. */
export async function openOwnRepository(
  stateDir: string,
  projectId: string,
  path: string,
): Promise<GitResult<OwnRepository>> {
  const asked = ['rev-parse', '--path-format=absolute', '--show-object-format', '--git-common-dir'];
  const found = await gitText(asked, { cwd: path });
  if (!found.ok) return found;
  const [format, commonDir] = found.value.split('\n');
  if (commonDir === undefined || (format !== 'sha1' && format !== 'sha256')) {
    return gitFailure(
      'git/object-format',
      `'${path}' has objects of an unknown format: ${format ?? ''}`,
      'Use sha1 or sha256.',
    );
  }
  const gitDir = ownRepositoryPath(stateDir, projectId, format);
  makeRepository(gitDir, format);
  const source = { path, commonDir, objects: join(commonDir, 'objects') };
  const own: OwnRepository = { stateDir, gitDir, format, objects: join(gitDir, 'objects'), source, recent: [] };
  const recent = existsSync(join(gitDir, 'packed-refs')) || readdirSync(join(gitDir, PINS)).length > 0;
  return recent ? withRecent(own) : { ok: true, value: own };
}

/** Whether a commit is here with everything that it needs. */
export function hasCompleteCommit({ gitDir, recent }: OwnRepository, sha: string): boolean {
  if (recent.includes(sha) || existsSync(join(gitDir, PINS, sha))) return true;
  const packed = join(gitDir, 'packed-refs');
  return existsSync(packed) && readFileSync(packed, 'latin1').includes(`\n${sha} ${PINS}/${sha}\n`);
}

/**
 * Marks commits as whole, and keeps them. Below `refs/heads` git itself sees to it that they are there and that they are commits.
 */
export async function pinCommits(own: OwnRepository, shas: readonly string[]): Promise<GitResult<null>> {
  const input = shas.map((sha) => `update ${PINS}/${sha} ${sha}\n`).join('');
  const pinned = await runOwnGit(own, ['update-ref', '--stdin'], { input });
  if (!pinned.ok) return pinned;
  own.recent.unshift(...shas);
  own.recent.length = Math.min(own.recent.length, MOST_RECENT);
  return { ok: true, value: null };
}

const PINS = 'refs/heads/commits';
const MOST_RECENT = 64;

/** A git folder is a few files: no process is needed to make one. The config is written each time, so that it is ours. */
function makeRepository(gitDir: string, format: ObjectFormat): void {
  mkdirSync(join(gitDir, '..'), { recursive: true, mode: 0o700 });
  for (const folder of ['objects/pack', 'objects/info', PINS])
    mkdirSync(join(gitDir, folder), { recursive: true, mode: 0o700 });
  // A branch that never has a commit: there is no HEAD that attributes could be read from.
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(gitDir, 'config'), renderOwnConfig(format));
  for (const name of ['info', 'hooks', 'objects/info/alternates', 'objects/info/commit-graph'])
    rmSync(join(gitDir, name), { recursive: true, force: true });
  // What an import that was interrupted has left behind.
  for (const name of readdirSync(join(gitDir, 'objects/pack')))
    if (name.startsWith('tmp_')) rmSync(join(gitDir, 'objects/pack', name), { force: true });
}

async function withRecent(own: OwnRepository): Promise<GitResult<OwnRepository>> {
  const asked = ['for-each-ref', '--sort=-committerdate', `--count=${MOST_RECENT}`, '--format=%(objectname)', PINS];
  const listed = await runOwnGit(own, asked);
  if (!listed.ok) return listed;
  own.recent.push(...listed.value.stdout.split('\n').filter((line) => line !== ''));
  return { ok: true, value: own };
}

/** Runs git in a repository of Baton's own; `git` with `cwd: own` is the same. */
export async function runOwnGit(
  own: OwnGitFolder,
  args: readonly string[],
  options: Omit<GitOptions, 'cwd'> = {},
): Promise<GitResult<GitOutput>> {
  return git(args, { ...options, cwd: own });
}

/** The config file of a repository of Baton's own: everything that could run a program or change bytes is off. */
export function renderOwnConfig(format: ObjectFormat, { bare = true }: { readonly bare?: boolean } = {}): string {
  const sections: readonly (readonly [string, Readonly<Record<string, string>>])[] = [
    [
      'core',
      {
        repositoryFormatVersion: format === 'sha1' ? '0' : '1',
        bare: String(bare),
        hooksPath: '/dev/null',
        attributesFile: '/dev/null',
        excludesFile: '/dev/null',
        fsmonitor: 'false',
        logAllRefUpdates: 'false',
        // A commit-graph or a multi-pack-index repeats what objects say; only the objects were hashed.
        commitGraph: 'false',
        multiPackIndex: 'false',
      },
    ],
    ...(format === 'sha1' ? [] : [['extensions', { objectFormat: format }] as const]),
    // Baton repacks when it wants to; nothing is ever pruned.
    ['gc', { auto: '0' }],
    ['maintenance', { auto: 'false' }],
    ['transfer', { fsckObjects: 'true' }],
  ];
  return sections
    .map(
      ([name, values]) =>
        `[${name}]\n${Object.entries(values)
          .map(([key, value]) => `\t${key} = ${value}\n`)
          .join('')}`,
    )
    .join('');
}

export type ObjectFormat = 'sha1' | 'sha256';

/** How a repository was cloned: a shallow or partial clone may lack objects that Baton must copy. */
export function readCloneKind({ commonDir, objects }: SourceRepository): 'whole' | 'shallow' | 'partial' {
  if (existsSync(join(commonDir, 'shallow'))) return 'shallow';
  const packs = existsSync(join(objects, 'pack')) ? readdirSync(join(objects, 'pack')) : [];
  return packs.some((name) => name.endsWith('.promisor')) ? 'partial' : 'whole';
}
