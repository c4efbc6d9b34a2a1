import { fieldOf } from '../protocol/shape/read-unknown.ts';
import { type ApiContext, type ApiRequest, callApi, githubFailure, type GithubResult } from './call-api.ts';
import { type GithubRepository, parseRepository } from './find-github.ts';
import { findTextField, IssueApi, numberIn, unexpectedAnswer } from './issues.ts';

export interface GithubPull {
  readonly number: number;
  readonly url: string;
  readonly isOpen: boolean;
  readonly isMerged: boolean;
  readonly isDraft: boolean;
  readonly head: string;
  readonly base: string;
  readonly body: string;
  /** The merge commit; null until the pull request is merged. */
  readonly mergeSha: string | null;
  readonly mergedBy: string | null;
  readonly nodeId: string;
}

export interface NewGithubPull {
  readonly branch: string;
  /** The owner of the branch; differs from the repository's owner for a fork. */
  readonly owner: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
  readonly isDraft: boolean;
}

export interface PullMergeRequest {
  /** The reviewed commit: GitHub merges exactly this one. */
  readonly head: string;
  readonly method: 'squash' | 'merge' | 'rebase';
  readonly title: string;
  readonly message: string;
}

export class PullRequestApi {
  readonly repository: GithubRepository;
  readonly #context: ApiContext;

  constructor(repository: GithubRepository, context: ApiContext) {
    this.repository = repository;
    this.#context = context;
  }

  async read(number: number): Promise<GithubResult<GithubPull>> {
    return readPull(await this.#call('GET', `pulls/${number}`));
  }

  /** The open pull request of a branch; there is at most one per base. */
  async findOpen(
    pull: Pick<NewGithubPull, 'branch' | 'owner' | 'base'>,
  ): Promise<GithubResult<GithubPull | undefined>> {
    const { branch, owner, base } = pull;
    const query = new URLSearchParams({ state: 'open', head: `${owner}:${branch}`, base, per_page: '10' });
    const listed = await this.#call('GET', `pulls?${query.toString()}`);
    if (!listed.ok) return listed;
    const [first] = Array.isArray(listed.value) ? (listed.value as unknown[]) : [];
    // GitHub omits some fields in lists.
    const number = first === undefined ? undefined : numberIn(first);
    return number === undefined ? { ok: true, value: undefined } : this.read(number);
  }

  async open({ branch, owner, base, title, body, isDraft }: NewGithubPull): Promise<GithubResult<GithubPull>> {
    const head = owner === this.repository.owner ? branch : `${owner}:${branch}`;
    const opened = await this.#call('POST', 'pulls', { title, head, base, body, draft: isDraft });
    // Some plans have no drafts. Opens an ordinary pull request instead.
    if (!opened.ok && isDraft && /draft/i.test(opened.problem.message))
      return this.open({ branch, owner, base, title, body, isDraft: false });
    return readPull(opened);
  }

  async change(
    number: number,
    what: { readonly body?: string; readonly state?: 'open' | 'closed' },
  ): Promise<GithubResult<GithubPull>> {
    return readPull(await this.#call('PATCH', `pulls/${number}`, what));
  }

  async comment(number: number, body: string): Promise<GithubResult<unknown>> {
    return this.#call('POST', `issues/${number}/comments`, { body });
  }

  /**
   * Adds a comment unless one with this mark exists. GitHub keeps the comments of a pull request as those of an issue.
   */
  async commentOnce(number: number, body: string, mark: string): Promise<GithubResult<unknown>> {
    return new IssueApi(this.repository, this.#context).commentOnce(number, body, mark);
  }

  /** Uses GraphQL, because REST cannot mark a draft as ready. */
  async markReady({ nodeId: id }: GithubPull): Promise<GithubResult<unknown>> {
    const query =
      'mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }';
    const request = { method: 'POST', path: 'graphql', body: { query, variables: { id } } } as const;
    return callApi({ host: this.repository.host, ...request }, this.#context);
  }

  /** Returns the commit on the base branch. GitHub refuses with status 409 if the head has changed. */
  async merge(number: number, { head, method, title, message }: PullMergeRequest): Promise<GithubResult<string>> {
    const words = method === 'rebase' ? {} : { commit_title: title, commit_message: message };
    const merged = await this.#call('PUT', `pulls/${number}/merge`, { sha: head, merge_method: method, ...words });
    if (!merged.ok) return merged;
    const sha = findTextField(merged.value, 'sha');
    return sha === null ? unexpectedAnswer() : { ok: true, value: sha };
  }

  async #call(method: ApiRequest['method'], path: string, body?: ApiRequest['body']): Promise<GithubResult<unknown>> {
    const { host, owner, name } = this.repository;
    const request = { host, method, path: `repos/${owner}/${name}/${path}`, ...(body === undefined ? {} : { body }) };
    return callApi(request, this.#context);
  }
}

export function openPullRequestApi(repository: string, context: ApiContext): GithubResult<PullRequestApi> {
  const parsed = parseRepository(repository);
  if (parsed !== undefined) return { ok: true, value: new PullRequestApi(parsed, context) };
  const message = 'pull requests are requested, but no remote of this repository is on GitHub';
  return githubFailure(
    'github/no-repository',
    message,
    'Name the repository in baton.toml: [github] repository = "owner/name"',
  );
}

function readPull(answer: GithubResult<unknown>): GithubResult<GithubPull> {
  if (!answer.ok) return answer;
  const { value } = answer;
  const number = numberIn(value);
  const [head, base] = [findTextField(fieldOf(value, 'head'), 'sha'), findTextField(fieldOf(value, 'base'), 'ref')];
  if (number === undefined || head === null || base === null) return unexpectedAnswer();
  const isMerged = fieldOf(value, 'merged') === true;
  return {
    ok: true,
    value: {
      number,
      url: findTextField(value, 'html_url') ?? '',
      isOpen: fieldOf(value, 'state') === 'open',
      isMerged,
      isDraft: fieldOf(value, 'draft') === true,
      head,
      base,
      body: findTextField(value, 'body') ?? '',
      // Before the merge, this field names a test merge.
      mergeSha: isMerged ? findTextField(value, 'merge_commit_sha') : null,
      mergedBy: findTextField(fieldOf(value, 'merged_by'), 'login'),
      nodeId: findTextField(value, 'node_id') ?? '',
    },
  };
}
