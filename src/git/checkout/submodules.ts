import { join } from 'node:path';
import { gitFailure, git, gitText, type GitResult, type OwnGitFolder } from '../run-git.ts';
import { fetchSubmodule, findSubmoduleClone } from './fetch-submodule.ts';
import type { CheckoutRequest, CheckoutSource, MakeCheckout } from './checkout-request.ts';
import { findAllowedSubmodule, readSubmodules } from './submodule-urls.ts';

/**
 * Checks out the submodules of a commit, each at the recorded commit, from the URLs that the main branch has. A commit without submodules
 * costs one look at its index.
 */
export async function checkOutSubmodules(
  own: CheckoutSource,
  request: CheckoutRequest,
  place: OwnGitFolder & { readonly worktree: string },
  makeCheckout: MakeCheckout,
): Promise<GitResult<null>> {
  const links = await findLinks(place);
  if (!links.ok) return links;
  if (links.value.length === 0) return { ok: true, value: null };
  if ((request.depth ?? 0) >= MOST_DEPTH)
    return gitFailure('git/submodule-depth', `submodules lie more than ${MOST_DEPTH} deep in each other`, FLATTEN);
  const [main, head] = await Promise.all([readSubmodules(place, request.main.sha), readSubmodules(place, request.sha)]);
  if (!main.ok) return main;
  if (!head.ok) return head;
  for (const { path, sha } of links.value) {
    const entry = findAllowedSubmodule(path, main.value, head.value);
    if (entry === undefined) {
      const message = `'${path}' is a submodule that the main branch does not have, neither its path nor its URL`;
      const hint = 'A person adds it to .gitmodules on the main branch; then the check can be run again.';
      return gitFailure('git/submodule-unknown', message, hint);
    }
    const onMain = await linkAt(place, request.main.sha, entry.path);
    const clone = sha === onMain ? own.source : undefined;
    const { stateDir } = request;
    const wanted = { entry, stateDir, format: own.format, clone };
    const fetched = await fetchSubmodule({ ...wanted, sha });
    if (!fetched.ok) return fetched;
    // Its own attributes and submodules are judged by the commit that the main branch records.
    const before = onMain === undefined ? fetched : await fetchSubmodule({ ...wanted, sha: onMain, clone: own.source });
    if (!before.ok) return before;
    const base = onMain ?? sha;
    const inside = { ...request, sha, base, main: { name: 'main', sha: base }, depth: (request.depth ?? 0) + 1 };
    const source = own.source && findSubmoduleClone(own.source, entry);
    const from = { ...fetched.value, ...(source === undefined ? {} : { source }) };
    const made = await makeCheckout(from, inside, join(place.worktree, path));
    if (!made.ok) return made;
  }
  return { ok: true, value: null };
}

const MOST_DEPTH = 8;
const FLATTEN = 'Remove the submodule that contains itself.';

interface Link {
  readonly path: string;
  readonly sha: string;
}

async function findLinks(place: OwnGitFolder): Promise<GitResult<readonly Link[]>> {
  const listed = await git(['ls-files', '--stage', '-z'], { cwd: place, maxBytes: 1024 * 1024 * 1024 });
  if (!listed.ok) return listed;
  const links = listed.value.stdout
    .split('\0')
    .filter((line) => line.startsWith('160000 '))
    .map((line) => ({ sha: line.split(' ')[1] ?? '', path: line.slice(line.indexOf('\t') + 1) }));
  return { ok: true, value: links };
}

/** The commit of a submodule that the main branch records at a path. */
async function linkAt(place: OwnGitFolder, commit: string, path: string): Promise<string | undefined> {
  const found = await gitText(['ls-tree', '-z', commit, '--', path], { cwd: place });
  return found.ok ? /^160000 commit ([0-9a-f]+)\t/.exec(found.value)?.[1] : undefined;
}
