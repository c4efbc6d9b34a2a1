import type { CommittedFile, CommittedFiles } from '../../git/committed-files.ts';
import { openHashedFiles } from '../../git/hashed-files.ts';
import { findMainBranch } from '../../git/repository.ts';
import type { GitResult } from '../../git/run-git.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { examineRunbook } from '../../runbook/check/check-runbook.ts';
import { collectPrompts, type PromptSource } from '../../runbook/read/prompts.ts';
import { RUNBOOK_LIMITS } from '../../runbook/shape/limits.ts';
import { isRunbookPath, RUNBOOK_PATHS, type ReadRunbook } from '../../runbook/read/read-runbook.ts';
import { openWorkingFiles } from '../../runbook/read/working-files.ts';
import { pinRunbook, type PinnedRunbook } from './pinned-runbook.ts';

type Hashing = Pick<Ledger, 'sha256' | 'secrets'>;

/** The working file of a project with its prompts; undefined if it has mistakes. */
export async function readWorkingRules(
  projectDir: string,
  { checked, subject }: ReadRunbook,
  ledger: Hashing,
): Promise<PinnedRunbook | undefined> {
  if (!checked.ok) return undefined;
  return pinRunbook(subject.value, await collectPrompts(checked.value, openWorkingFiles(projectDir)), ledger);
}

export interface CommittedRules {
  readonly commit: string;
  /** Undefined if the commit has no runbook, or one with mistakes. */
  readonly pinned: PinnedRunbook | undefined;
}

/**
 * The runbook of the main branch; undefined if there is no main branch. Every object is hashed: an agent can overwrite those of the
 * repository, and rules that are compared with forged ones would seem unchanged. If one is damaged, there is no answer.
 */
export async function readCommittedRules(
  path: string,
  { into, ledger }: { readonly into: string | undefined; readonly ledger: Hashing },
): Promise<GitResult<CommittedRules | undefined>> {
  const main = await findMainBranch(path, into);
  if (!main.ok) return { ok: true, value: undefined };
  const { sha: commit } = main.value;
  const files = openHashedFiles(path, commit);
  const found = (await Promise.all(RUNBOOK_PATHS.map(async (each) => files.list(each)))).flat();
  const texts = await Promise.all(
    found
      .filter(({ path: name }) => isRunbookPath(name))
      .sort((a, b) => fileRank(a) - fileRank(b) || (a.path < b.path ? -1 : 1))
      .map(async (file) => ({ path: file.path, text: await readText(files, file) })),
  );
  const readable = texts.flatMap(({ path: name, text }) => (text === null ? [] : [{ path: name, text }]));
  if (files.damage !== undefined) return files.damage;
  const none = { ok: true, value: { commit, pinned: undefined } } as const;
  if (readable.length === 0 || readable.length < texts.length) return none;
  const { checked, subject } = examineRunbook(readable);
  if (!checked.ok) return none;
  const prompts = await collectPrompts(checked.value, committedPrompts(path, files));
  return files.damage ?? { ok: true, value: { commit, pinned: pinRunbook(subject.value, prompts, ledger) } };
}

/** In the order in which the working files are read. */
function fileRank({ path }: CommittedFile): number {
  return path.includes('/') ? 1 : 0;
}

/** A file outside of the repository is the same for every commit. */
function committedPrompts(projectDir: string, files: CommittedFiles): PromptSource {
  return {
    read: async (path) => {
      if (path.startsWith('/') || path.split('/').includes('..')) return openWorkingFiles(projectDir).read(path);
      const file = (await files.list(path)).find((each) => each.path === path);
      return file === undefined ? null : readText(files, file);
    },
    list: async (folder) => (await files.list(folder)).map(({ path }) => path),
  };
}

async function readText(files: CommittedFiles, file: CommittedFile): Promise<string | null> {
  if (file.isLink) return null;
  const read = await files.read(file);
  return read.ok && Buffer.byteLength(read.value) <= RUNBOOK_LIMITS.fileBytes ? read.value : null;
}
