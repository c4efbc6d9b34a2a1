import { findGithub } from '../github/find-github.ts';
import type { Runbook } from '../runbook/runbook.ts';
import type { Rules } from '../state/rules.ts';
import { rulesOf } from './follow-runbook.ts';
import type { Log } from './log.ts';

export interface LiveRulesOptions {
  /** The repository. */
  readonly path: string;
  readonly runbook: { readonly good: Runbook | undefined };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

/** The rules of a project as they are now: by its runbook, and by where its repository is at home. */
export class LiveRules {
  /** Always the same object: whoever decides looks at it. */
  readonly rules: Rules;
  readonly #rules: { -readonly [Name in keyof Rules]: Rules[Name] };
  readonly #options: LiveRulesOptions;
  #looks = 0;

  constructor(options: LiveRulesOptions) {
    this.#options = options;
    this.rules = this.#rules = { ...rulesOf(options.runbook.good) };
  }

  /** The runbook has changed: what it does not say any more holds no more. */
  take(runbook: Runbook): void {
    const { pulls } = this.#rules;
    for (const name of Object.keys(this.#rules)) Reflect.deleteProperty(this.#rules, name);
    Object.assign(this.#rules, rulesOf(runbook), pulls === undefined ? {} : { pulls });
  }

  /**
   * Asks git whether there are pull requests, and where. Of two looks at once the newer counts. One that git did not answer changes nothing:
   * a task whose pull request is open must not be merged here because git was busy.
   */
  async lookForGithub(): Promise<void> {
    const { path, runbook, env, log } = this.#options;
    const look = (this.#looks += 1);
    const pulls = await findGithub(path, runbook.good?.github ?? NO_GITHUB, env);
    if (look !== this.#looks) return;
    if (pulls === 'unknown') log.error('git does not say which remotes there are', { path });
    else if (pulls === undefined) delete this.#rules.pulls;
    else this.#rules.pulls = pulls;
  }
}

const NO_GITHUB = { pullRequests: undefined, repository: undefined, remote: undefined, draft: false } as const;
