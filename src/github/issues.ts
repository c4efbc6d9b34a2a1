import { fieldOf, findText } from '../protocol/shape/read-unknown.ts';
import { type ApiContext, type ApiRequest, callApi, githubFailure, type GithubResult } from './call-api.ts';
import { type GithubRepository, parseRepository, renderRepository } from './find-github.ts';

export interface GithubIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  readonly isOpen: boolean;
  /** As GitHub names it: `completed`, `not_planned`; null while the issue is open. */
  readonly stateReason: string | null;
  readonly labels: readonly string[];
  readonly url: string;
}

export class IssueApi {
  readonly repository: GithubRepository;
  readonly #context: ApiContext;

  constructor(repository: GithubRepository, context: ApiContext) {
    this.repository = repository;
    this.#context = context;
  }

  async read(number: number): Promise<GithubResult<GithubIssue>> {
    const answer = await this.#call('GET', `issues/${number}`);
    if (!answer.ok && answer.status === 404) {
      const name = `${renderRepository(this.repository)}#${number}`;
      const hint = `Check the number, and the access: gh issue view ${number} --repo ${renderRepository(this.repository)}`;
      return githubFailure('github/no-such-issue', `there is no issue ${name}`, hint, { status: 404 });
    }
    return answer.ok ? readIssue(answer.value) : answer;
  }

  /** Sends the reason too, so that GitHub shows the issue as completed. */
  async close(number: number): Promise<GithubResult<unknown>> {
    return this.#call('PATCH', `issues/${number}`, { state: 'closed', state_reason: 'completed' });
  }

  /** Adds a comment unless one with this mark exists, because a restarted daemon may repeat the call. */
  async commentOnce(number: number, body: string, mark: string): Promise<GithubResult<unknown>> {
    for (let page = 1; page <= MOST_PAGES; page += 1) {
      const listed = await this.#call('GET', `issues/${number}/comments?per_page=${PAGE}&page=${page}`);
      if (!listed.ok) return listed;
      const comments: readonly unknown[] = Array.isArray(listed.value) ? listed.value : [];
      if (comments.some((each) => findTextField(each, 'body')?.includes(mark) === true))
        return { ok: true, value: null };
      if (comments.length < PAGE) break;
    }
    return this.#call('POST', `issues/${number}/comments`, { body });
  }

  async #call(method: ApiRequest['method'], path: string, body?: ApiRequest['body']): Promise<GithubResult<unknown>> {
    const { host, owner, name } = this.repository;
    const request = { host, method, path: `repos/${owner}/${name}/${path}`, ...(body === undefined ? {} : { body }) };
    return callApi(request, this.#context);
  }
}

/** Comments are listed in pages, oldest first. */
const PAGE = 100;
const MOST_PAGES = 30;

export function openIssueApi(repository: string, context: ApiContext): GithubResult<IssueApi> {
  const parsed = parseRepository(repository);
  if (parsed !== undefined) return { ok: true, value: new IssueApi(parsed, context) };
  const message = `not a repository at GitHub: '${repository}'`;
  return githubFailure(
    'github/no-repository',
    message,
    'Name the repository in baton.toml: [github] repository = "owner/name"',
  );
}

/** GitHub lists pull requests as issues, too. */
function readIssue(value: unknown): GithubResult<GithubIssue> {
  const number = numberIn(value);
  const [title, url] = [findTextField(value, 'title'), findTextField(value, 'html_url')];
  if (number === undefined || title === null || url === null) return unexpectedAnswer();
  if (fieldOf(value, 'pull_request') !== undefined) {
    const message = `#${number} is a pull request, not an issue: ${url}`;
    return githubFailure('github/no-such-issue', message, 'Name the number of an issue: gh issue list');
  }
  const labels = fieldOf(value, 'labels');
  return {
    ok: true,
    value: {
      number,
      title,
      url,
      body: findTextField(value, 'body') ?? '',
      isOpen: fieldOf(value, 'state') === 'open',
      stateReason: findTextField(value, 'state_reason'),
      // A label is a name or an object.
      labels: (Array.isArray(labels) ? (labels as unknown[]) : []).flatMap(
        (label) => findText(label) ?? findTextField(label, 'name') ?? [],
      ),
    },
  };
}

export function unexpectedAnswer(): GithubResult<never> {
  return githubFailure('github/odd-answer', 'GitHub sent an unexpected response', 'Update gh, and try again.');
}

export function numberIn(value: unknown): number | undefined {
  const number = fieldOf(value, 'number');
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
}

export function findTextField(value: unknown, name: string): string | null {
  return findText(fieldOf(value, name)) ?? null;
}
