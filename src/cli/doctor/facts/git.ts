import { readAuthorEnvironment } from '../../../git/config.ts';
import { findMainBranch } from '../../../git/repository.ts';
import { gitText } from '../../../git/run-git.ts';
import type { GitFacts } from '../checks/git.ts';
import type { Place } from '../place.ts';

export async function readGitFacts(place: Place): Promise<GitFacts> {
  const { folder, isNamed, repository, runbook, env } = place;
  const printed = await gitText(['--version'], { cwd: '/', timeoutMs: GIT_MS });
  const common = { folder, isNamed };
  if (!printed.ok) return { ...common, version: null, trouble: printed.problem, repository: null };
  const version = /\d+\.\d+(?:\.\d+)*/.exec(printed.value)?.[0] ?? printed.value;
  if (!repository.ok) return { ...common, version, trouble: repository.problem, repository: null };
  const { top, gitDir, mainTop } = repository.value;
  const main = await findMainBranch(mainTop, runbook?.merge?.into);
  const { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email } = await readAuthorEnvironment(mainTop, env);
  return {
    ...common,
    version,
    trouble: null,
    repository: {
      top,
      isBare: top === gitDir,
      identity: name === undefined || email === undefined ? null : `${name} <${email}>`,
      main: main.ok ? main.value : null,
      mainTrouble: main.ok ? null : main.problem,
    },
  };
}

const GIT_MS = 5000;
