import { join } from 'node:path';
import type { EffectContext } from '../../src/effects/context.ts';
import { KeyedMutex } from '../../src/effects/locks.ts';
import { watchChecks } from '../../src/effects/merges/checks.ts';
import type { GithubContext } from '../../src/effects/merges/github.ts';
import { closeGithubIssue } from '../../src/effects/merges/github-issues.ts';
import { mergePull } from '../../src/effects/merges/merge-pull.ts';
import { closePull, publishPull } from '../../src/effects/merges/pulls.ts';
import { OwnRepositoryImporter } from '../../src/git/own/transfer-commits.ts';
import { Scratch } from '../../src/git/scratch.cases.ts';
import type { Caller } from '../../src/state/caller.ts';
import type { Command } from '../../src/state/decide.ts';
import { event, type Event } from '../../src/state/event.ts';
import { createStory } from '../../src/state/given.cases.ts';
import { create, operator, system } from '../../src/state/say.cases.ts';
import { FakeGithub, type FakePull } from './fake-github.ts';
import { GhFolder } from './gh-folder.ts';

const RULES = { ciGate: true, mergeGate: true };
const BRANCH = 'feature/a';

/** A task with one branch, and the effects on it: real git, a real state, the fake GitHub. */
export class PublishedBranch {
  readonly scratch = new Scratch();
  readonly repo: string = this.scratch.repository('repo');
  readonly gh = new GhFolder(this.scratch.folder);
  readonly github: FakeGithub;
  readonly #story = createStory(RULES);
  readonly state = this.#story.state;
  readonly told: Command[] = [];
  env: Record<string, string> = this.gh.env;
  readonly #places = new KeyedMutex();
  readonly #own = new OwnRepositoryImporter({ stateDir: this.scratch.folder, projectId: 'p', path: this.repo });
  #requests = 0;

  constructor() {
    const bare = join(this.scratch.folder, 'remote.git');
    this.scratch.commit(this.repo, { a: '1\n' }, 'base');
    this.git('init', '--quiet', '--bare', '--initial-branch=main', bare);
    this.git('remote', 'add', 'origin', bare);
    this.git('push', '--quiet', 'origin', 'main');
    this.git('switch', '--quiet', '--create', BRANCH);
    this.github = new FakeGithub(bare);
    this.say(create('A'), operator);
  }

  async begin(): Promise<this> {
    await this.github.listen(this.gh.socket);
    return this;
  }

  async end(): Promise<void> {
    await this.github.close();
    this.scratch.remove();
  }

  git(...args: string[]): string {
    return this.scratch.git(this.repo, ...args);
  }

  commit(text: string): string {
    return this.scratch.commit(this.repo, { a: text }, text.trim());
  }

  get pull(): FakePull {
    const [only, ...others] = this.github.pulls;
    if (only === undefined || others.length > 0) throw new Error(`${this.github.pulls.length} pull requests`);
    return only;
  }

  say(command: Command, caller: Caller = system): void {
    this.#story.say(command, caller);
  }

  #record(recorded: Event): void {
    this.#story.record([recorded], 'system:test');
  }

  /** Requests that GitHub has the branch's current head. */
  request(draft = false, body = '<!-- baton -->\n\nwords\n\n<!-- /baton -->'): void {
    this.#requests += 1;
    const head = this.git('rev-parse', BRANCH);
    const place = { repository: 'owner/sample', remote: 'origin', branch: BRANCH, head, into: 'main' };
    const about = { pull_id: `x${this.#requests}`, task_id: 'A', title: 'A: do it', body, draft };
    this.#record(event('PullRequestRequested', { ...place, ...about }));
  }

  /** Runs the owed effects and returns their outcome; it is recorded only if `isRecorded`. */
  async publish(isRecorded = true): Promise<Command | undefined> {
    const effect = [...this.state.effects.values()].find(({ type }) => type === 'PullRequestRequested');
    if (effect?.type !== 'PullRequestRequested') throw new Error('nothing is owed');
    const [command] = await publishPull(effect.data, this.#world(), new AbortController().signal);
    if (command !== undefined && isRecorded) this.say(command);
    return command;
  }

  async requestAndPublish(draft = false): Promise<Command | undefined> {
    this.request(draft);
    return this.publish();
  }

  async close(): Promise<Command | undefined> {
    const { repository, number } = { repository: 'owner/sample', number: this.pull.number };
    this.#record(
      event('PullRequestCloseRequested', {
        pull_id: 'c1',
        task_id: 'A',
        repository,
        number,
        comment: 'cancelled: enough',
      }),
    );
    const effect = this.state.effects.get('close:c1');
    if (effect?.type !== 'PullRequestCloseRequested') throw new Error('nothing is owed');
    const [command] = await closePull(effect.data, this.#world(), new AbortController().signal);
    if (command !== undefined) this.say(command);
    return command;
  }

  /** Closes the issue of a closed workflow. If the outcome is not recorded, another daemon would repeat it. */
  async closeIssue(number: number, isRecorded = true): Promise<Command | undefined> {
    const about = {
      task_id: 'A',
      repository: 'owner/sample',
      number,
      comment: 'A is done.',
      mark: '<!-- baton: A -->',
    };
    if (!this.state.effects.has('issue:i1'))
      this.#record(event('GithubIssueCloseRequested', { close_id: 'i1', ...about }));
    const effect = this.state.effects.get('issue:i1');
    if (effect?.type !== 'GithubIssueCloseRequested') throw new Error('nothing is owed');
    const [command] = await closeGithubIssue(effect.data, this.#world(), new AbortController().signal);
    if (command !== undefined && isRecorded) this.say(command);
    return command;
  }

  /** Requests the merge of the branch's current head, without Baton's own checks. */
  async merge(method: 'squash' | 'merge' | 'rebase' = 'squash') {
    const head = this.git('rev-parse', BRANCH);
    const pull = { repository: 'owner/sample', remote: 'origin' };
    const words = { message: 'task: A — do it\n\nBaton-Task: A\n', into: 'main', branch: BRANCH, checks: [], method };
    const request = { merge_id: 'm1', task_id: 'A', head, pull, handoff: null, ...words } as const;
    // A merge without checks uses no other part of the daemon.
    const world = { ...this.#world(), stateDir: this.scratch.folder } as EffectContext; // oxlint-disable-line typescript/no-unsafe-type-assertion
    return mergePull(request, world, new AbortController().signal);
  }

  async watch(...watch: string[]): Promise<void> {
    const head = this.git('rev-parse', BRANCH);
    const published = { pull_id: 'x1', task_id: 'A', number: 7, url: '', how: 'opened', head, watch } as const;
    await watchChecks(published, this.#world(), new AbortController().signal);
  }

  /** Requests GitHub's checks of the branch's current head. */
  requestChecks(...names: string[]): void {
    const head = this.git('rev-parse', BRANCH);
    this.#record(
      event('ChecksRequested', { checks_id: 'k1', task_id: 'A', head, checks: names.map((name) => ({ name })) }),
    );
  }

  #world(): GithubContext {
    return {
      path: this.repo,
      ownRepository: this.#own,
      env: this.env,
      placeMutex: this.#places,
      readState: async (look) => look(this.state),
      submit: async (command) => {
        this.told.push(command);
        this.say(command);
        return {};
      },
      log: { info: () => undefined, error: () => undefined },
    };
  }
}
