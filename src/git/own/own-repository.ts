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

/** Baton's copy of a project's commits, and its source. */
export interface OwnRepository extends OwnGitFolder {
  readonly stateDir: string;
  readonly format: ObjectFormat;
  readonly objects: string;
  readonly source: SourceRepository;
  /** Complete commits, newest first, which need not be sent again. */
  readonly recent: string[];
}

/** The user's repository: objects are read from it, and those of a merge are added. */
export interface SourceRepository {
  readonly path: string;
  readonly commonDir: string;
  readonly objects: string;
}

export async function openOwnRepository(
  stateDir: string,
  projectId: string,
  path: string,
): Promise<GitResult<OwnRepository>> {
  const command = ['rev-parse', '--path-format=absolute', '--show-object-format', '--git-common-dir'];
  const found = await gitText(command, { cwd: path });
  if (!found.ok) return found;
  const [format, commonDir] = found.value.split('\n');
  if (commonDir === undefined || (format !== 'sha1' && format !== 'sha256')) {
    const message = `'${path}' has objects of an unknown format: ${format ?? ''}`;
    return gitFailure('git/object-format', message, 'Use sha1 or sha256.');
  }
  const gitDir = join(stateDir, 'repositories', `${projectId}${format === 'sha1' ? '' : `.${format}`}.git`);
  makeRepository(gitDir, format);
  const source = { path, commonDir, objects: join(commonDir, 'objects') };
  const own: OwnRepository = { stateDir, gitDir, format, objects: join(gitDir, 'objects'), source, recent: [] };
  const recent = existsSync(join(gitDir, 'packed-refs')) || readdirSync(join(gitDir, PINS)).length > 0;
  return recent ? withRecent(own) : { ok: true, value: own };
}

export function hasCompleteCommit({ gitDir, recent }: OwnRepository, sha: string): boolean {
  if (recent.includes(sha) || existsSync(join(gitDir, PINS, sha))) return true;
  const packed = join(gitDir, 'packed-refs');
  return existsSync(packed) && readFileSync(packed, 'latin1').includes(`\n${sha} ${PINS}/${sha}\n`);
}

/** Pins complete commits. Below `refs/heads` git ensures that they exist and are commits. */
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

/** Creates the git folder without starting git. Rewrites the config each time, so that no other content stays. */
function makeRepository(gitDir: string, format: ObjectFormat): void {
  mkdirSync(join(gitDir, '..'), { recursive: true, mode: 0o700 });
  for (const folder of ['objects/pack', 'objects/info', PINS])
    mkdirSync(join(gitDir, folder), { recursive: true, mode: 0o700 });
  // HEAD names a branch without commits, so that no attributes are read from it.
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(gitDir, 'config'), renderOwnConfig(format));
  for (const name of ['info', 'hooks', 'objects/info/alternates', 'objects/info/commit-graph'])
    rmSync(join(gitDir, name), { recursive: true, force: true });
  // Leftovers of an interrupted import.
  for (const name of readdirSync(join(gitDir, 'objects/pack')))
    if (name.startsWith('tmp_')) rmSync(join(gitDir, 'objects/pack', name), { force: true });
}

async function withRecent(own: OwnRepository): Promise<GitResult<OwnRepository>> {
  const command = ['for-each-ref', '--sort=-committerdate', `--count=${MOST_RECENT}`, '--format=%(objectname)', PINS];
  const listed = await runOwnGit(own, command);
  if (!listed.ok) return listed;
  own.recent.push(...listed.value.stdout.split('\n').filter((line) => line !== ''));
  return { ok: true, value: own };
}

export async function runOwnGit(
  own: OwnGitFolder,
  args: readonly string[],
  options: Omit<GitOptions, 'cwd'> = {},
): Promise<GitResult<GitOutput>> {
  return git(args, { ...options, cwd: own });
}

/** The config of Baton's repositories: no setting runs a program or changes bytes. */
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
        // A commit-graph or multi-pack-index duplicates data, and only objects are hash-checked.
        commitGraph: 'false',
        multiPackIndex: 'false',
      },
    ],
    ...(format === 'sha1' ? [] : [['extensions', { objectFormat: format }] as const]),
    // Baton repacks explicitly and never prunes.
    ['gc', { auto: '0' }],
    ['maintenance', { auto: 'false' }],
    ['transfer', { fsckObjects: 'true' }],
  ];
  const lines = sections.flatMap(([name, values]) => [
    `[${name}]\n`,
    ...Object.entries(values).map(([key, value]) => `\t${key} = ${value}\n`),
  ]);
  return lines.join('');
}

export type ObjectFormat = 'sha1' | 'sha256';

/** The clone kind: a shallow or partial clone may lack objects that Baton must copy. */
export function readCloneKind({ commonDir, objects }: SourceRepository): 'whole' | 'shallow' | 'partial' {
  if (existsSync(join(commonDir, 'shallow'))) return 'shallow';
  const packs = existsSync(join(objects, 'pack')) ? readdirSync(join(objects, 'pack')) : [];
  return packs.some((name) => name.endsWith('.promisor')) ? 'partial' : 'whole';
}
