import { CODE_FILES, findCodeFiles } from '../../../protocol/code-files/code-files.ts';
import { defineCheck, type Diagnosis, ok } from '../finding.ts';

export interface CodeFileFacts {
  /** The tracked files of the main branch that run code. */
  readonly paths: readonly string[];
  /** Those of them whose protection `ci.protected` removes. */
  readonly unprotected: readonly string[];
}

export const codeFilesCheck = defineCheck(
  'code-files',
  'The files of the main branch that [run code](security.md#18-files-that-run-code), by kind',
  {
    none: ok('There are none'),
    protected: ok('There are some, and all of them are [protected](runbooks.md#protected-paths)'),
    unprotected: ok('`ci.protected` removes the protection of some, whose changes ask nobody; the first are named'),
  },
);

export function diagnoseCodeFiles({ paths, unprotected }: CodeFileFacts): readonly Diagnosis[] {
  if (paths.length === 0) return [codeFilesCheck.found('none', { detail: 'none' })];
  const kinds = paths.map((path) => findCodeFiles(path)?.kind);
  const counts = CODE_FILES.flatMap(({ kind }) => {
    const count = kinds.filter((each) => each === kind).length;
    return count === 0 ? [] : [`${kind} ${count}`];
  });
  const detail = `${paths.length}: ${counts.join(', ')}`;
  if (unprotected.length === 0) return [codeFilesCheck.found('protected', { detail: `${detail}; all are protected` })];
  const more = unprotected.length > MOST_NAMED ? ` (and ${unprotected.length - MOST_NAMED} more)` : '';
  const named = `${unprotected.slice(0, MOST_NAMED).join(', ')}${more}`;
  return [codeFilesCheck.found('unprotected', { detail: `${detail}; not protected, by ci.protected: ${named}` })];
}

const MOST_NAMED = 3;
