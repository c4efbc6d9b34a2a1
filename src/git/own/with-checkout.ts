import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { conversionSettings, readOperatorConfig } from '../config.ts';
import { gitText, type GitResult, type OwnGitFolder } from '../run-git.ts';
import { readConfig } from '../worktree-config.ts';
import { readFilterAccess } from './filter-reach.ts';
import { readFileSettings } from '../file-settings.ts';
import { withInspectionFolder, type InspectedWorktree } from './inspection-folder.ts';

type Checkout = OwnGitFolder & { readonly worktree: string };

/**
 * Works on a checkout of a user with its own index. Of the configuration of its repository only line ends, what the file system can do and
 * which folders are checked out count. Filters such as LFS are those of the operator's own configuration.
 */
export async function withCheckout<T>(
  {
    stateDir,
    path,
    format,
    objects,
  }: Pick<InspectedWorktree, 'stateDir' | 'format' | 'objects'> & { readonly path: string },
  use: (place: Checkout, settings: readonly string[]) => Promise<GitResult<T>>,
): Promise<GitResult<T>> {
  const asked = ['rev-parse', '--path-format=absolute', '--git-dir', '--git-common-dir'];
  const found = await gitText(asked, { cwd: path });
  if (!found.ok) return found;
  const [gitDir = '', commonDir = ''] = found.value.split('\n');
  const sparse = await readConfig(path, ['--type=bool'], 'core.sparseCheckout');
  const isSparse = sparse.ok && sparse.value === 'true';
  const conversion = [...conversionSettings(await readOperatorConfig(), 'all'), ...(await readFileSettings(path))];
  const reach = await readFilterAccess(path, conversion);
  // Objects of LFS that the repository has need not be fetched.
  const storage = ['-c', `lfs.storage=${join(commonDir, 'lfs')}`];
  const looked = { stateDir, gitDir, worktree: path, format, objects, index: 'itself' } as const;
  return withInspectionFolder(looked, async (place) => {
    const rules = join('info', 'sparse-checkout');
    if (isSparse) await copyFile(join(gitDir, rules), join(place.gitDir, rules)).catch(() => undefined);
    const reaching = { ...place, env: { ...place.env, ...reach.env } };
    const settings = [...conversion, ...reach.settings, ...storage];
    return use(reaching, [...settings, ...(isSparse ? ['-c', 'core.sparseCheckout=true'] : [])]);
  });
}
