import { mkdirSync, writeFileSync } from 'node:fs';
import { realpath, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { conversionSettings, readOperatorConfig } from '../config.ts';
import { platformConfig } from '../own/inspection-folder.ts';
import { type ObjectFormat, renderOwnConfig } from '../own/own-repository.ts';
import { readFilterAccess } from '../own/with-checkout.ts';
import { removeAgentFolder } from '../private/agent-files.ts';
import { attempt, type GitResult, unwrap } from '../run-git.ts';
import { findForeignFilter, withAttributesOf } from './attributes.ts';
import type { CheckoutRequest, CheckoutSource } from './checkout-request.ts';
import { checkOutSubmodules } from './submodules.ts';
import { copyObjects, writeFiles } from './write-files.ts';

/**
 * Creates a folder with exactly one commit, for commands that must not see anything else. It is a separate repository,
 * because the commands run code of agents, and nothing in its `.git` leads to Baton's repository. Files are converted
 * by the attributes of the main branch, so that a branch cannot change what its checks see. Replaces an earlier folder.
 */
export async function makeCheckout(
  own: CheckoutSource,
  request: CheckoutRequest,
  folder: string,
): Promise<GitResult<string>> {
  await removeCheckout(folder);
  const gitDir = join(folder, '.git');
  makeGitFolder(gitDir, own.format, request.sha);
  return attempt(async () => {
    unwrap(await copyObjects(own, gitDir, [{ name: 'HEAD', sha: request.sha }, request.main], [request.base]));
    const config = await readOperatorConfig();
    const place = { gitDir, worktree: folder, env: homeOf(request.filters) };
    const written = await withAttributesOf(place, request, async (indexed, differing) => {
      const foreign = await findForeignFilter(indexed, request.filters, config);
      if (!foreign.ok) return foreign;
      const conversion = conversionSettings(config, request.filters);
      const reach = own.source && (await readFilterAccess(topOf(own.source.commonDir), conversion));
      // The `origin` of a submodule is unknown here.
      const access = { settings: [...conversion, ...(reach?.settings ?? [])], env: reach?.env ?? {} };
      return writeFiles({ place, indexed, sha: request.sha, differing }, access);
    });
    unwrap(written);
    unwrap(await checkOutSubmodules(own, request, place, makeCheckout));
    return folder;
  });
}

/** A remote's URL may be relative to the main worktree. */
function topOf(commonDir: string): string {
  return basename(commonDir) === '.git' ? dirname(commonDir) : commonDir;
}

export async function removeCheckout(folder: string): Promise<void> {
  // In mode `user` the folder is a link. The session cannot have made it.
  const real = await realpath(folder).catch(() => folder);
  for (const path of new Set([real, folder])) {
    await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => removeAgentFolder(path));
  }
}

function makeGitFolder(gitDir: string, format: ObjectFormat, sha: string): void {
  for (const name of ['objects/pack', 'objects/info', 'refs/heads', 'info'])
    mkdirSync(join(gitDir, name), { recursive: true });
  writeFileSync(join(gitDir, 'HEAD'), `${sha}\n`);
  writeFileSync(join(gitDir, 'config'), renderOwnConfig(format, { bare: false }) + platformConfig);
}

/** A filter is the operator's program, and its settings and logins are in the operator's home. */
function homeOf(filters: readonly string[]): Readonly<Record<string, string>> {
  const { HOME: home } = process.env;
  return filters.length === 0 || home === undefined ? {} : { HOME: home };
}
