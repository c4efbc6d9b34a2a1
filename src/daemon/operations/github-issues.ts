import type { Answer } from '../../api/answer.ts';
import type { ResultOf } from '../../api/operations/registry.ts';
import { githubIssues } from '../../api/operations/workflow.ts';
import { apiContext } from '../../effects/merges/github.ts';
import { findGithub, parseRemoteUrl, renderRepository } from '../../github/find-github.ts';
import { openIssueApi } from '../../github/issues.ts';
import { type Call, handlerFor, problemAnswer } from './call.ts';

type Issue = ResultOf<'github_issues'>['issues'][number];

export const githubIssuesHandler = handlerFor(githubIssues, async (call) => {
  const issues: Issue[] = [];
  const wanted = [...new Set(call.input.issues)];
  for (let from = 0; from < wanted.length; from += AT_ONCE) {
    const read = await Promise.all(wanted.slice(from, from + AT_ONCE).map(async (each) => readIssue(each, call)));
    for (const answer of read) {
      if (!answer.ok) return answer;
      issues.push(answer.result);
    }
  }
  return { ok: true, result: { issues } };
});

/** How many run at once, because each is a process. */
const AT_ONCE = 5;

async function readIssue(typed: string, call: Call): Promise<Answer<Issue>> {
  const named = parseIssueRef(typed);
  if (named === undefined) {
    const hint = 'Name the issue as 12, #12, owner/name#12, or by its address.';
    return problemAnswer({ code: 'bad-request', message: `not an issue at GitHub: '${typed}'`, hint });
  }
  const repository = named.repository ?? (await findProjectRepository(call));
  const { project, services, signal = new AbortController().signal } = call;
  const opened = openIssueApi(repository, apiContext({ env: services.env, path: project.path }, signal));
  if (!opened.ok) return problemAnswer(opened.problem);
  const found = await opened.value.read(named.number);
  if (!found.ok) return problemAnswer(found.problem);
  const { isOpen, stateReason: state_reason, ...issue } = found.value;
  const state = isOpen ? 'OPEN' : 'CLOSED';
  return { ok: true, result: { ...issue, state, state_reason, repository: renderRepository(opened.value.repository) } };
}

/** Works even if the project uses no pull requests. Empty if none of its remotes is at GitHub. */
async function findProjectRepository({ project, services }: Call): Promise<string> {
  const { github } = services.rulebook.runbookFor(null);
  const found = await findGithub(project.path, { ...github, pullRequests: true }, services.env);
  return found === undefined || found === 'unknown' ? '' : found.repository;
}

interface IssueRef {
  readonly repository: string | undefined;
  readonly number: number;
}

export function parseIssueRef(typed: string): IssueRef | undefined {
  const [, before = '', number = ''] = REFERENCE.exec(typed.trim()) ?? ADDRESS.exec(typed.trim()) ?? [];
  if (number === '') return undefined;
  if (before === '') return { repository: undefined, number: Number(number) };
  const named = parseRemoteUrl(before);
  if (named !== undefined) return { repository: renderRepository(named), number: Number(number) };
  return before.includes('://') ? undefined : { repository: before, number: Number(number) };
}

const REFERENCE = /^(?:([\w./-]+)?#)?([1-9]\d{0,8})$/;
const ADDRESS = /^(https?:\/\/[^\s/]+\/[^\s/]+\/[^\s/]+)\/issues\/([1-9]\d{0,8})(?:[/?#]\S*)?$/;
