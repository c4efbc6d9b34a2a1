import { git, type GitOptions, type GitOutput, type GitResult, type OwnGitFolder } from '../run-git.ts';

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
