import { openCommittedFiles } from '../../../git/committed-files.ts';
import { findMainBranch } from '../../../git/repository.ts';
import { findCodeFiles, namesCodeFile } from '../../../protocol/code-files/code-files.ts';
import { buildProtection, findProtectedPaths } from '../../../runbook/gates/protected-paths.ts';
import type { CodeFileFacts } from '../checks/code-files.ts';
import type { Place } from '../place.ts';

/** Null without a main branch. */
export async function readCodeFileFacts({ repository, runbook }: Place): Promise<CodeFileFacts | null> {
  if (!repository.ok) return null;
  const { mainTop } = repository.value;
  const main = await findMainBranch(mainTop, runbook?.merge?.into);
  if (!main.ok) return null;
  const tracked = await openCommittedFiles(mainTop, main.value.sha).list('');
  // Most paths name none, and one search for all names is faster than one match for each pattern.
  const paths = tracked.flatMap(({ path }) => (namesCodeFile(path) && findCodeFiles(path) !== undefined ? [path] : []));
  if (runbook === undefined) return { paths, unprotected: [] };
  const changed = paths.map((path) => ({ path }));
  const kept = new Set(findProtectedPaths(changed, buildProtection(runbook, {})));
  return { paths, unprotected: paths.filter((path) => !kept.has(path)) };
}
