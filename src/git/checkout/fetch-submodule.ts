import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readOperatorConfig, settingArguments } from '../config.ts';
import { renderOwnConfig, runOwnGit, type ObjectFormat } from '../own/own-git.ts';
import { transferPack } from '../own/transfer-pack.ts';
import { gitFailure, type GitResult } from '../run-git.ts';
import type { CheckoutSource } from './checkout-request.ts';
import { isRelativeUrl, protocolsFor, type SubmoduleEntry } from './submodule-urls.ts';

export interface SubmoduleWanted {
  readonly entry: SubmoduleEntry;
  readonly sha: string;
  readonly stateDir: string;
  readonly format: ObjectFormat;
  /**
   * The git folder of the user's repository, if the main branch records the same commit: their clone may give it then. Agents can write in
   * that clone, so a commit that only a branch records comes from the URL.
   */
  readonly clone: { readonly commonDir: string } | undefined;
}

/** Baton's own repository of a submodule, by its URL, with one commit of it. What is there already costs nothing. */
export async function fetchSubmodule(wanted: SubmoduleWanted): Promise<GitResult<CheckoutSource>> {
  const { entry, sha, format } = wanted;
  const own = openSubmodule(wanted);
  if (await has(own, sha)) return { ok: true, value: own };
  if (await copyFromClone(own, wanted)) return { ok: true, value: own };
  const protocol = protocolsFor(entry.url);
  if (protocol === undefined) {
    const about = isRelativeUrl(entry.url) ? 'is relative' : 'is of a kind that Baton does not use';
    const message = `submodule '${entry.path}' at ${sha} is not in your clone, and its URL ${about}: ${entry.url}`;
    const hint = isRelativeUrl(entry.url)
      ? `Bring the commit to the main branch first, or write the whole URL in .gitmodules there.`
      : 'Use https, ssh or a path in .gitmodules on the main branch.';
    return gitFailure('git/submodule-url', message, hint);
  }
  const settings = settingArguments(await readOperatorConfig(), (name) => NEEDED.test(name));
  const { HOME: home } = process.env;
  const env = { GIT_ALLOW_PROTOCOL: protocol, ...(home === undefined ? {} : { HOME: home }) };
  const options = { env, timeoutMs: 1_800_000 };
  const fetch = ['fetch', '--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--'];
  const one = await runOwnGit(own, [...settings, ...fetch, entry.url, `+${sha}:${PIN}/${sha}`], options);
  if (one.ok) return { ok: true, value: own };
  // Not every server gives a commit by its name.
  const all = await runOwnGit(own, [...settings, ...fetch, entry.url, '+refs/heads/*:refs/heads/theirs/*'], options);
  if (all.ok && (await has(own, sha))) return { ok: true, value: own };
  const why = all.ok ? `${entry.url} does not have it` : all.problem.message;
  const message = `submodule '${entry.path}' at ${sha} (${format}) cannot be fetched: ${why}`;
  return gitFailure('git/submodule-fetch', message, `Look whether the commit is published: git ls-remote ${entry.url}`);
}

const PIN = 'refs/heads/commits';

/** How the operator reaches other hosts: logins, proxies, certificates, other names of hosts. */
const NEEDED = /^(?:credential\.|http\.|https\.|url\.|core\.sshcommand$|ssh\.)/;

function openSubmodule({ entry, stateDir, format }: SubmoduleWanted): CheckoutSource {
  const name = createHash('sha256').update(entry.url).digest('hex').slice(0, 32);
  const gitDir = join(stateDir, 'repositories', 'submodules', `${name}${format === 'sha1' ? '' : `.${format}`}.git`);
  for (const folder of ['objects/pack', 'objects/info', PIN]) {
    mkdirSync(join(gitDir, folder), { recursive: true, mode: 0o700 });
  }
  writeFileSync(join(gitDir, 'HEAD'), 'ref: refs/heads/none\n');
  writeFileSync(join(gitDir, 'config'), renderOwnConfig(format));
  return { gitDir, format, objects: join(gitDir, 'objects') };
}

/** With all that it needs: a fetch that was interrupted leaves no ref. */
async function has(own: CheckoutSource, sha: string): Promise<boolean> {
  const found = await runOwnGit(own, ['for-each-ref', '--count=1', '--contains', sha, '--format=%(refname)'], {
    answers: [129, 128, 1],
  });
  return found.ok && found.value.code === 0 && found.value.stdout !== '';
}

/** The user's clone of a submodule, as git keeps it in the git folder of the repository around it. */
export function findSubmoduleClone(
  { commonDir }: { readonly commonDir: string },
  { name }: SubmoduleEntry,
): { readonly commonDir: string } | undefined {
  // A name such as ../../x would lead out of the folder of clones.
  if (!/^[^/\\]+(?:\/[^/\\]+)*$/.test(name) || name.split('/').includes('..')) return undefined;
  const folder = join(commonDir, 'modules', name);
  return existsSync(join(folder, 'objects')) ? { commonDir: folder } : undefined;
}

async function copyFromClone(own: CheckoutSource, { entry, sha, clone }: SubmoduleWanted): Promise<boolean> {
  const found = clone && findSubmoduleClone(clone, entry);
  if (found === undefined) return false;
  const objects = join(found.commonDir, 'objects');
  const copied = await transferPack(own, { from: { objects }, to: { objects: own.objects }, wants: [sha], haves: [] });
  return copied.ok && (await runOwnGit(own, ['update-ref', `${PIN}/${sha}`, sha])).ok;
}
