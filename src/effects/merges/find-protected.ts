import { posix } from 'node:path';
import { readChangedPaths } from '../../git/commits.ts';
import { type CommittedFiles, openCommittedFiles } from '../../git/committed-files.ts';
import { type GitLocation, type GitResult, gitText } from '../../git/run-git.ts';
import {
  type ChangedFileTexts,
  findProtectedPaths,
  leadsToProtected,
  needsContent,
  type Protection,
} from '../../runbook/gates/protected-paths.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { EffectContext } from '../context.ts';
import { findMainOf } from '../sessions/workplace.ts';

export interface FoundProtected {
  readonly head: string;
  readonly base: string;
  readonly paths: readonly string[];
}

/** Finds the protected paths that a branch changes since its merge base, in Baton's own repository. */
export async function findProtected(
  task: Pick<Task, 'flow'>,
  head: string,
  context: Pick<EffectContext, 'path' | 'ownRepository' | 'settingsFor' | 'readState' | 'recordMainMoves'>,
): Promise<GitResult<FoundProtected>> {
  const { protection } = context.settingsFor(task);
  const main = await findMainOf(task, context);
  if (!main.ok) return main;
  const mainSha = task.flow.mainBefore ?? main.value.sha;
  const own = await context.ownRepository.with(head, mainSha);
  if (!own.ok) return own;
  const met = await gitText(['merge-base', mainSha, head], { cwd: own.value });
  // Without a common commit every file differs.
  const base = met.ok ? met.value : mainSha;
  const changed = await readChangedPaths(own.value, base, head);
  if (!changed.ok) return changed;
  const [before, after] = [openCommittedFiles(own.value, base), openCommittedFiles(own.value, head)];
  const files = await Promise.all(
    changed.value.map(async (each) =>
      needsContent(each, protection) ? withTexts(each, before, after) : { path: each },
    ),
  );
  const linked = await followLinks(own.value, base, protection);
  const paths = findProtectedPaths(files, { ...protection, inUse: [...protection.inUse, ...linked] });
  return { ok: true, value: { head, base, paths: paths.slice(0, MOST_PATHS).map((each) => each.slice(0, 400)) } };
}

/** Keeps the entry within its size limit. */
const MOST_PATHS = 100;

async function withTexts(path: string, before: CommittedFiles, after: CommittedFiles): Promise<ChangedFileTexts> {
  const [was, is] = await Promise.all([before, after].map(async (files) => textOf(path, files)));
  return { path, before: was, after: is };
}

async function textOf(path: string, files: CommittedFiles): Promise<string | undefined> {
  const file = (await files.list(path)).find((each) => each.path === path && !each.isLink);
  const read = file === undefined ? undefined : await files.read(file);
  return read?.ok === true ? read.value : undefined;
}

/** If a protected path is a link, or leads through one, its target is protected too. */
async function followLinks(place: GitLocation, commit: string, protection: Protection): Promise<readonly string[]> {
  const files = openCommittedFiles(place, commit);
  const links = (await files.list('')).filter(({ isLink }) => isLink);
  const targets: string[] = [];
  for (let round = 0; round < MOST_LINKS; round += 1) {
    const known = { ...protection, inUse: [...protection.inUse, ...targets] };
    const found = await Promise.all(
      links
        .filter(({ path }) => leadsToProtected(path, known))
        .map(async (link) => {
          const target = await files.read(link);
          return target.ok ? posix.normalize(posix.join(posix.dirname(link.path), target.value)) : '';
        }),
    );
    const fresh = found.filter((path) => path !== '' && !path.startsWith('..') && !targets.includes(path));
    if (fresh.length === 0) break;
    targets.push(...fresh);
  }
  return targets;
}

const MOST_LINKS = 5;
