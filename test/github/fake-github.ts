import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';

export interface FakePull {
  readonly number: number;
  readonly branch: string;
  readonly base: string;
  title: string;
  body: string;
  draft: boolean;
  state: 'open' | 'closed';
  merge_commit_sha: string | null;
  merged_by: string | null;
  /** The head at the end of the pull request; null while it is open, because the repository then has it. */
  head: string | null;
  readonly comments: string[];
}

export interface FakeIssue {
  readonly number: number;
  readonly title: string;
  readonly body: string;
  state: 'open' | 'closed';
  state_reason: string | null;
  readonly labels: readonly string[];
  readonly comments: string[];
}

export interface FakeRun {
  readonly kind: 'check_runs' | 'workflow_runs';
  readonly name: string;
  readonly head_sha: string;
  readonly status: 'queued' | 'in_progress' | 'completed';
  readonly conclusion: string | null;
}

export interface Said {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

type Answer = readonly [number, unknown];
/** What GitHub does instead of answering; undefined if it answers. */
export type Fault = (said: Said) => Answer | 'hang up' | undefined;

const TOKEN = 'fake-token';
const ADA = ['-c', 'user.name=GitHub', '-c', 'user.email=noreply@example.org'];

/**
 * A fake GitHub with one repository: the endpoints that Baton uses, with a bare repository of real commits behind them.
 */
export class FakeGithub {
  readonly bare: string;
  readonly pulls: FakePull[] = [];
  readonly issues: FakeIssue[] = [];
  readonly runs: FakeRun[] = [];
  readonly said: Said[] = [];
  fault: Fault = () => undefined;
  /** Called after a request was carried out; true drops the response. */
  afterwards: (said: Said) => boolean = () => false;
  /** Called right before a merge. */
  beforeMerge: () => void = () => undefined;
  readonly #server: Server;

  constructor(bare: string) {
    this.bare = bare;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async listen(socket: string): Promise<void> {
    this.#server.listen(socket);
    await once(this.#server, 'listening');
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    if (this.#server.listening) await new Promise((resolve) => this.#server.close(resolve));
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-C', this.bare, ...ADA, ...args], { encoding: 'utf8' }).trim();
  }

  /** How often a request was received, as `METHOD path`. */
  count(what: RegExp): number {
    return this.said.filter(({ method, path }) => what.test(`${method} ${path}`)).length;
  }

  /** Creates an issue as a GitHub user. */
  write(number: number, title: string, more: Partial<Pick<FakeIssue, 'body' | 'state' | 'labels'>> = {}): FakeIssue {
    const issue: FakeIssue = {
      number,
      title,
      body: '',
      state: 'open',
      state_reason: null,
      labels: [],
      comments: [],
      ...more,
    };
    this.issues.push(issue);
    return issue;
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = Buffer.concat(await request.toArray()).toString('utf8');
    const path = (request.url ?? '').replace(/^\/api\/(?:v3\/)?/, '/');
    const said: Said = { method: request.method ?? '', path, body: text === '' ? {} : JSON.parse(text) };
    const isKnown = request.headers.authorization?.endsWith(` ${TOKEN}`) === true;
    const answer = isKnown
      ? (this.fault(said) ?? this.#answer(said))
      : ([401, { message: 'Bad credentials' }] as const);
    this.said.push(said);
    if (answer === 'hang up' || this.afterwards(said)) {
      request.socket.destroy();
      return;
    }
    response.writeHead(answer[0], { 'Content-Type': 'application/json; charset=utf-8', 'X-GitHub-Request-Id': '1' });
    response.end(JSON.stringify(answer[1]));
  }

  #answer({ method, path, body }: Said): Answer {
    const url = new URL(path, 'http://fake');
    if (url.pathname === '/graphql') return this.#markReady(body);
    const [, , owner, name, ...rest] = url.pathname.split('/');
    if (owner !== 'owner' || name !== 'sample') return [404, { message: 'Not Found' }];
    const [kind, id, verb] = rest;
    if (kind === 'commits' && verb === 'check-runs') return this.#list('check_runs', id ?? '');
    if (kind === 'actions') return this.#list('workflow_runs', url.searchParams.get('head_sha') ?? '');
    if (kind === 'pulls' && id === undefined)
      return method === 'POST' ? this.#open(body) : this.#find(url.searchParams);
    const pull = this.pulls.find(({ number }) => String(number) === id);
    const issue = this.issues.find(({ number }) => String(number) === id);
    const talked = kind === 'issues' ? (pull ?? issue) : pull;
    if (talked === undefined) return [404, { message: 'Not Found' }];
    if (kind === 'issues' && verb === 'comments' && method === 'GET') {
      const [size, page] = ['per_page', 'page'].map((each) => Number(url.searchParams.get(each)));
      const from = ((page ?? 1) - 1) * (size ?? 30);
      return [200, talked.comments.slice(from, from + (size ?? 30)).map((text) => ({ body: text }))];
    }
    if (kind === 'issues' && verb === 'comments') {
      talked.comments.push(String(body['body']));
      return [201, { id: talked.comments.length }];
    }
    if (kind === 'issues')
      return issue === undefined ? [200, this.#pullAsIssue(pull)] : this.#issue(issue, method, body);
    if (pull === undefined) return [404, { message: 'Not Found' }];
    if (method === 'PATCH') return this.#change(pull, body);
    return method === 'PUT' && verb === 'merge' ? this.#merge(pull, body) : [200, this.#view(pull)];
  }

  #issue(issue: FakeIssue, method: string, { state, state_reason }: Said['body']): Answer {
    if (method === 'PATCH' && (state === 'open' || state === 'closed'))
      Object.assign(issue, { state, state_reason: state === 'closed' ? String(state_reason) : null });
    const { comments: _, labels, ...shown } = issue;
    const html_url = `https://github.com/owner/sample/issues/${issue.number}`;
    return [200, { ...shown, html_url, labels: labels.map((name) => ({ name })) }];
  }

  /** A pull request as an issue, because GitHub lists it as one too. */
  #pullAsIssue(pull: FakePull | undefined): object {
    const html_url = `https://github.com/owner/sample/pull/${pull?.number}`;
    return { number: pull?.number, title: pull?.title, state: pull?.state, html_url, pull_request: { html_url } };
  }

  #open({ title, head, base, body, draft }: Said['body']): Answer {
    const branch = String(head).split(':').at(-1) ?? '';
    const fails = (message: string): Answer => [422, { message: 'Validation Failed', errors: [{ message }] }];
    if (this.#sha(branch) === null) return fails('head is invalid');
    if (this.pulls.some((pull) => pull.branch === branch && pull.state === 'open'))
      return fails(`A pull request already exists for owner:${branch}.`);
    if (this.git('rev-list', '--count', `${String(base)}..${branch}`) === '0')
      return fails(`No commits between ${String(base)} and ${branch}`);
    const pull: FakePull = {
      number: this.pulls.length + 41,
      branch,
      base: String(base),
      title: String(title),
      body: String(body),
      draft: draft === true,
      state: 'open',
      merge_commit_sha: null,
      merged_by: null,
      head: null,
      comments: [],
    };
    this.pulls.push(pull);
    return [201, this.#view(pull)];
  }

  #find(query: URLSearchParams): Answer {
    const branch = query.get('head')?.split(':').at(-1);
    const found = this.pulls.filter(
      (pull) => pull.state === 'open' && pull.branch === branch && pull.base === query.get('base'),
    );
    return [200, found.map((pull) => this.#view(pull))];
  }

  #change(pull: FakePull, { body, state }: Said['body']): Answer {
    if (typeof body === 'string') pull.body = body;
    if (state === 'closed') this.closeByHand(pull);
    if (state === 'open') Object.assign(pull, { state, head: null });
    return [200, this.#view(pull)];
  }

  closeByHand(pull: FakePull): void {
    Object.assign(pull, { state: 'closed', head: this.#sha(pull.branch) });
  }

  #merge(pull: FakePull, { sha, merge_method: method, commit_title, commit_message }: Said['body']): Answer {
    this.beforeMerge();
    if (pull.state !== 'open') return [405, { message: 'Pull Request is not mergeable' }];
    if (pull.draft) return [405, { message: 'Pull Request is still a draft' }];
    const head = this.#sha(pull.branch);
    if (head !== sha) return [409, { message: 'Head branch was modified. Review and try the merge again.' }];
    const made = this.mergeByHand(pull, String(method), `${String(commit_title)}\n\n${String(commit_message)}\n`, null);
    if (made === null) return [405, { message: 'Pull Request is not mergeable' }];
    return [200, { sha: made, merged: true, message: 'Pull Request successfully merged' }];
  }

  /** Merges like GitHub's button; null if there is a conflict. */
  mergeByHand(
    pull: FakePull,
    method = 'squash',
    message = `${pull.title} (#${pull.number})`,
    by: string | null = 'octocat',
  ): string | null {
    const [head, onto] = [this.#sha(pull.branch) ?? '', this.#sha(pull.base) ?? ''];
    let tree: string;
    try {
      tree = this.git('merge-tree', '--write-tree', onto, head).split('\n')[0] ?? '';
    } catch {
      return null;
    }
    const parents = method === 'merge' ? [onto, head] : [onto];
    const made = this.git('commit-tree', ...parents.flatMap((each) => ['-p', each]), '-m', message, tree);
    this.git('update-ref', `refs/heads/${pull.base}`, made, onto);
    Object.assign(pull, { state: 'closed', head, merge_commit_sha: made, merged_by: by });
    return made;
  }

  /** Pushes to a branch at GitHub as another user. */
  pushByHand(branch: string, file: string, text: string): string {
    const before = this.#sha(branch) ?? '';
    const blob = execFileSync('git', ['-C', this.bare, 'hash-object', '-w', '--stdin'], {
      input: text,
      encoding: 'utf8',
    }).trim();
    const entries = this.git('ls-tree', before)
      .split('\n')
      .filter((line) => !line.endsWith(`\t${file}`));
    const input = `${[...entries, `100644 blob ${blob}\t${file}`].join('\n')}\n`;
    const tree = execFileSync('git', ['-C', this.bare, 'mktree'], { input, encoding: 'utf8' }).trim();
    const sha = this.git('commit-tree', '-p', before, '-m', 'by hand', tree);
    this.git('update-ref', `refs/heads/${branch}`, sha, before);
    return sha;
  }

  #markReady({ query, variables }: Said['body']): Answer {
    const { id }: { id?: unknown } = Object(variables);
    const pull = this.pulls.find(({ number }) => id === `PR_${number}`);
    if (pull === undefined || !String(query).includes('markPullRequestReadyForReview'))
      return [200, { errors: [{ message: 'Could not resolve to a node' }] }];
    pull.draft = false;
    return [200, { data: { markPullRequestReadyForReview: { pullRequest: { isDraft: false } } } }];
  }

  #list(kind: FakeRun['kind'], sha: string): Answer {
    const found = this.runs.flatMap((run, id) =>
      run.kind === kind && run.head_sha === sha
        ? [{ ...run, id, html_url: `https://github.com/owner/sample/runs/${id}` }]
        : [],
    );
    return [200, { total_count: found.length, [kind]: found }];
  }

  #view(pull: FakePull) {
    const { number, title, body, draft, state, merge_commit_sha, merged_by, branch, base } = pull;
    return {
      number,
      title,
      body,
      draft,
      state,
      node_id: `PR_${number}`,
      html_url: `https://github.com/owner/sample/pull/${number}`,
      merged: merge_commit_sha !== null,
      // For an open pull request, GitHub names a trial merge here.
      merge_commit_sha: merge_commit_sha ?? 'f'.repeat(40),
      merged_by: merged_by === null ? null : { login: merged_by },
      head: { ref: branch, sha: pull.head ?? this.#sha(branch) ?? '0'.repeat(40) },
      base: { ref: base, sha: this.#sha(base) },
    };
  }

  #sha(branch: string): string | null {
    try {
      return this.git('rev-parse', '--verify', '--quiet', `refs/heads/${branch}`);
    } catch {
      return null;
    }
  }
}
