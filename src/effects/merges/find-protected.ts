import { posix } from 'node:path';
import { readChangedPaths } from '../../git/commits.ts';
import { type CommittedFile, type CommittedFiles, openCommittedFiles } from '../../git/committed-files.ts';
import { type GitLocation, type GitResult, gitText } from '../../git/run-git.ts';
import { isInstructionFile } from '../../protocol/code-files/code-files.ts';
import { importsOf } from '../../runbook/gates/check-programs.ts';
import {
  type ChangedFileTexts,
  findProtectedPaths,
  isAgentTextChange,
  isQuietChange,
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
  /** Changed files that agents read as instructions. The reviewer sees them marked; a merge does not ask about them. */
  readonly instructions: readonly string[];
  /** Changed CI configuration with the same commands, such as other versions. Marked for the reviewer; no question. */
  readonly versions: readonly string[];
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
  const [before, after] = await Promise.all([readSide(own.value, base), readSide(own.value, head)]);
  const files = await Promise.all(
    changed.value.map(async (each) =>
      needsContent(each, protection) ? withTexts(each, before, after) : { path: each },
    ),
  );
  const used = await Promise.all([before, after].map(async ({ files: side, all }) => findUsed(side, all, protection)));
  const paths = findProtectedPaths(files, { ...protection, inUse: [...protection.inUse, ...used.flat()] });
  const asksNot = (isOf: (file: ChangedFileTexts) => boolean): readonly string[] =>
    files.flatMap((file) => (isOf(file) && !paths.includes(file.path) ? [file.path] : []));
  const instructions = asksNot((file) => isInstructionFile(file.path) || isAgentTextChange(file));
  const versions = asksNot(isQuietChange);
  const noted = { instructions: shorten(instructions), versions: shorten(versions) };
  return { ok: true, value: { head, base, paths: shorten(paths), ...noted } };
}

function shorten(paths: readonly string[]): readonly string[] {
  return paths.slice(0, MOST_PATHS).map((each) => each.slice(0, 400));
}

/** What is recorded of it. */
export function measuredOf({ head, base, paths }: FoundProtected) {
  return { head, base, paths };
}

/** Keeps the entry within its size limit. */
const MOST_PATHS = 100;

interface Side {
  readonly files: CommittedFiles;
  readonly all: readonly CommittedFile[];
}

async function readSide(repository: GitLocation, commit: string): Promise<Side> {
  const files = openCommittedFiles(repository, commit);
  return { files, all: await files.list('') };
}

async function withTexts(path: string, before: Side, after: Side): Promise<ChangedFileTexts> {
  const [was, is] = await Promise.all([before, after].map(async (side) => textOf(path, side)));
  return { path, before: was, after: is, isFolderNew: isNewFolder(posix.dirname(path), before.all) };
}

/** Neither a folder with files nor a link was there, also if case is ignored. */
function isNewFolder(folder: string, before: Side['all']): boolean {
  const below = `${folder.toLowerCase()}/`;
  const isThere = (path: string): boolean => path.startsWith(below) || below.startsWith(`${path}/`);
  return folder !== '.' && before.length > 0 && !before.some(({ path }) => isThere(path.toLowerCase()));
}

async function textOf(path: string, { files, all }: Side): Promise<string | null | undefined> {
  const file = all.find((each) => each.path === path);
  if (file === undefined) {
    // A folder, or an empty list, which can also mean that git could not list the files.
    const isUnknown = all.length === 0 || all.some((each) => each.path.startsWith(`${path}/`));
    return isUnknown ? undefined : null;
  }
  const read = file.isLink ? undefined : await files.read(file);
  return read?.ok === true ? read.value : undefined;
}

/** What is protected in this commit besides the patterns: programs of checks with their imports, and targets of links. */
async function findUsed(
  files: CommittedFiles,
  all: readonly CommittedFile[],
  protection: Protection,
): Promise<readonly string[]> {
  const programs = await findPrograms(files, all, protection.programs);
  const inUse = [...protection.inUse, ...programs];
  return [...programs, ...(await followLinks(files, all, { ...protection, inUse }))];
}

/** The programs that are files in this commit, and what they import from their folders. */
export async function findPrograms(
  files: CommittedFiles,
  all: readonly CommittedFile[],
  programs: readonly string[],
): Promise<readonly string[]> {
  const found = all.filter(({ path }) => programs.includes(path));
  const imported = found.map(async (program) => {
    const read = program.isLink ? undefined : await files.read(program);
    const folder = posix.dirname(program.path);
    const siblings = all.flatMap(({ path }) => (posix.dirname(path) === folder ? [path] : []));
    return read?.ok === true ? importsOf(program.path, read.value, siblings) : [];
  });
  return [...new Set([...found.map(({ path }) => path), ...(await Promise.all(imported)).flat()])];
}

/** If a protected path is a link, or leads through one, its target is protected too. */
async function followLinks(
  files: CommittedFiles,
  all: readonly CommittedFile[],
  protection: Protection,
): Promise<readonly string[]> {
  const links = all.filter(({ isLink }) => isLink);
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
