import type { ApiError } from '../../api/answer.ts';
import { constraintsOf } from '../../effects/sessions/session-files.ts';
import { findGithub, findGithubRepository } from '../../github/find-github.ts';
import type { Entry } from '../../ledger/format/entry.ts';
import type { Ledger } from '../../ledger/writer/ledger.ts';
import { fieldOf } from '../../protocol/shape/read-unknown.ts';
import type { WorkerPlan } from '../../protocol/run-plan.ts';
import type { SandboxKind } from '../../protocol/sandbox.ts';
import { commandNetworkOf, withDefaults } from '../../runbook/access.ts';
import { buildRunbook } from '../../runbook/build/build-runbook.ts';
import { compareRules, hasLoosening, type RuleDifference } from '../../runbook/gates/compare-rules.ts';
import { type GateFields, gateFieldsOf } from '../../runbook/gates/gate-fields.ts';
import { NO_FILES, type RuleFiles } from '../../runbook/gates/rule-files.ts';
import { withLibrary } from '../../runbook/library.ts';
import { readPersonal } from '../../runbook/personal/read-personal.ts';
import { workerPlans } from '../../runbook/plan.ts';
import type { CiCheck, Runbook, RunbookProblem } from '../../runbook/runbook.ts';
import { findDevcontainer } from '../../sandbox/container/devcontainer.ts';
import { resolveAuto } from '../../sandbox/survey.ts';
import { hasSessions } from '../../state/adopt-runbook.ts';
import { findAdoption, type Rules, runbooksInUse } from '../../state/rules.ts';
import type { State } from '../../state/state.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { CheckPlan } from '../../state/workflow/workflow-event.ts';
import type { Log } from '../log.ts';
import { findPinned, type PinnedRunbook } from './pinned-runbook.ts';
import { findReviewObstacle, NO_CHECKS, startsWorkflows } from './start-obstacles.ts';

interface RulebookOptions {
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
}

export class Rulebook {
  /** Changed in place, because the command loop holds this object. */
  readonly rules: Rules;
  readonly #adopted = new Map<string, Rules>();
  readonly #pinned = new Map<string, PinnedRunbook>();
  readonly #options: RulebookOptions;
  #state: Pick<State, 'adopted' | 'tasks' | 'agents'> = { adopted: new Map(), tasks: new Map(), agents: new Map() };
  #followed: Runbook | undefined;
  /** What the mode `auto` gives without an image, as far as it is known. */
  #auto: SandboxKind = 'none';
  #pulls: Rules['pulls'];
  #repository: string | undefined;
  #looks = 0;

  constructor(options: RulebookOptions) {
    this.#options = options;
    this.rules = this.#withPersonal({ ...rulesFromRunbook(undefined), adopted: this.#adopted });
  }

  /**
   * Follows the gates of the working file before the first adoption, without the access that it asks for. An edit that
   * loosens the gates is ignored while a session is live, because the session may have made it.
   */
  follow(working: Runbook): void {
    const mayBeOfSession = this.inForce === undefined && this.#state.tasks.size > 0 && this.hasSessions;
    if (mayBeOfSession && this.loosensFollowed(working)) return;
    this.#followed = working;
    const { adopted } = this.rules;
    for (const name of Object.keys(this.rules)) Reflect.deleteProperty(this.rules, name);
    Object.assign(this.rules, rulesFromRunbook(withoutAccess(working)), { adopted }, this.#ofPulls());
  }

  loosensFollowed(runbook: Runbook): boolean {
    const followed = this.#followed;
    if (followed === undefined || followed === runbook) return false;
    return hasLoosening(compareRules(gateFieldsOf(followed), gateFieldsOf(runbook), this.#auto));
  }

  get hasSessions(): boolean {
    return hasSessions(this.#state);
  }

  /** Loads the runbooks that the state refers to. Returns the hash of one that the store has lost. */
  async load(ledger: Ledger, state: State): Promise<string | undefined> {
    this.#state = state;
    this.#auto = await resolveAuto(this.#options.env, false);
    const asked = [...state.decisions.values()].flatMap(({ adopts, result }) =>
      adopts === null || result !== null ? [] : [adopts.sha256],
    );
    for (const sha256 of new Set([...runbooksInUse(state), ...asked])) {
      const pinned = await findPinned(sha256, ledger);
      if (pinned === undefined) return sha256;
      this.add(pinned);
    }
    return undefined;
  }

  /**
   * Called before entries of other hosts are folded. The runbooks that they adopt or ask about must be loaded first.
   */
  async loadAdopted(entries: readonly Entry[], ledger: Pick<Ledger, 'store' | 'sha256'>): Promise<void> {
    for (const entry of entries) {
      const sha256 = entry.type === 'RunbookAdopted' ? entry.data['sha256'] : fieldOf(entry.data['adopts'], 'sha256');
      if (typeof sha256 !== 'string' || this.#pinned.has(sha256)) continue;
      const pinned = await findPinned(sha256, ledger);
      if (pinned === undefined) throw new Error(`the store has no runbook ${sha256}, which entry ${entry.seq} names`);
      this.add(pinned);
    }
  }

  /** Must be called before an entry names the runbook. */
  add(pinned: PinnedRunbook): void {
    if (this.#pinned.has(pinned.sha256)) return;
    const workers = pinned.holdsCredential ? [] : sortedWorkers(withLibrary(pinned.runbook));
    this.#pinned.set(pinned.sha256, pinned);
    const rules = { ...rulesFromRunbook(pinned.runbook), workers, adopted: this.#adopted, ...this.#ofPulls() };
    this.#adopted.set(pinned.sha256, this.#withPersonal(rules));
  }

  get inForce(): PinnedRunbook | undefined {
    return this.#pinned.get(findAdoption(this.#state)?.sha256 ?? '');
  }

  pinnedFor(task: Pick<Task, 'flow'> | null): PinnedRunbook | undefined {
    const own = task?.flow.runbook ?? null;
    const pinned = own === null ? this.inForce : this.#pinned.get(own);
    if (pinned === undefined || pinned.hasAllFiles) return pinned;
    // A workflow from before an upgrade of Baton keeps its rules; the same rules were adopted again with their files.
    const again = [...this.#pinned.values()].find(({ hasAllFiles, former }) => hasAllFiles && former === own);
    return again === undefined ? pinned : { ...pinned, files: again.files };
  }

  /** The only door to the rules by which something starts: the adopted runbook, or the defaults before the first one. */
  runbookFor(task: Pick<Task, 'flow'> | null): Runbook {
    return this.#withDefaults(this.pinnedFor(task)?.runbook ?? NO_RUNBOOK);
  }

  /** Compares a proposal with the rules in force, or with the defaults before the first adoption. */
  async compare({ runbook, files }: Proposed): Promise<readonly RuleDifference[]> {
    const { inForce } = this;
    const hasImage = namesImage(runbook) || findDevcontainer(files.devcontainer) !== undefined;
    const auto = await resolveAuto(this.#options.env, hasImage);
    const before = this.#fieldsOf(
      inForce === undefined
        ? { runbook: NO_RUNBOOK, files: NO_FILES }
        : { ...inForce, files: inForce.hasAllFiles ? inForce.files : completeFiles(inForce.files, files) },
    );
    return compareRules(before, this.#fieldsOf({ runbook, files }), auto, inForce === undefined ? 'first' : 'next');
  }

  /** With the person's own defaults, which decide about the sandbox of what the runbook leaves open. */
  #fieldsOf({ runbook, files }: Proposed): GateFields {
    return gateFieldsOf(this.#withDefaults(runbook), files);
  }

  #withDefaults(runbook: Runbook): Runbook {
    return withDefaults(runbook, readPersonal(this.#options.env, this.#options.path).value.defaults);
  }

  /**
   * Of overlapping calls the last one counts. If git does not answer, nothing changes, because open pull requests must
   * not be merged locally.
   */
  async detectGithub(): Promise<void> {
    const { path, env, log } = this.#options;
    const look = (this.#looks += 1);
    const { github } = this.runbookFor(null);
    const pulls = await findGithub(path, github, env);
    const repository = await findGithubRepository(path, github, env);
    if (look !== this.#looks) return;
    if (pulls === 'unknown') {
      log.error('git does not say which remotes there are', { path });
      return;
    }
    this.#pulls = pulls;
    this.#repository = repository;
    for (const [sha256, { pulls: _, repository: _old, ...rules }] of this.#adopted)
      this.#adopted.set(sha256, this.#withPersonal({ ...rules, ...this.#ofPulls() }));
    const own: { pulls?: Rules['pulls']; repository?: string } = this.rules;
    delete own.pulls;
    delete own.repository;
    Object.assign(own, this.#ofPulls());
  }

  /** The person's own setting is no part of a runbook. It is read when it is needed, since the person may change it. */
  #withPersonal(rules: Rules): Rules {
    const get = (): Rules['unseparated'] =>
      readPersonal(this.#options.env, this.#options.path).value.review.unseparated;
    return Object.defineProperty(rules, 'unseparated', { get });
  }

  #ofPulls(): Pick<Rules, 'pulls' | 'repository'> {
    return {
      ...(this.#pulls === undefined ? {} : { pulls: this.#pulls }),
      ...(this.#repository === undefined ? {} : { repository: this.#repository }),
    };
  }
}

type Proposed = Pick<PinnedRunbook, 'runbook' | 'files'>;

function namesImage({ sandbox, agents }: Runbook): boolean {
  return [sandbox, ...[...agents.values()].map((agent) => agent.sandbox)].some((plan) => plan?.image !== undefined);
}

export const NO_RUNBOOK = buildRunbook({});

/** What nobody has adopted gets no access, and lets no author approve. */
function withoutAccess(runbook: Runbook): Runbook {
  const { ci } = runbook;
  const required = ci.required.map((check) => ({ ...check, envPass: [], network: 'none' as const }));
  return { ...runbook, ci: { ...ci, required }, envPass: [], network: {}, sameAgentMayReview: false };
}

export function rulesFromRunbook(runbook: Runbook | undefined): Rules {
  if (runbook === undefined) return { ciGate: false, mergeGate: false };
  const { ci, merge, limits, sameAgentMayReview, prices, envPass } = runbook;
  const checks = ci.required.map(({ timeoutMs, envPass: own = [], network, ...check }) => ({
    ...check,
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
    ...(envPass.length + own.length === 0 ? {} : { env_pass: [...envPass, ...own] }),
    ...checkNetwork(runbook, network),
  }));
  return {
    ciGate: checks.length > 0,
    checks,
    mergeGate: merge !== undefined,
    ...(merge === undefined ? {} : { merge: { method: merge.method, into: merge.into ?? null } }),
    maxAgents: limits.agents,
    leaveMs: limits.leaveMs,
    maxBlocks: limits.blocks,
    maxResumes: limits.resumes,
    reviewRounds: limits.reviewRounds,
    constraints: constraintsOf(limits),
    tasks: limits.tasks,
    sameAgentMayReview,
    stallMs: limits.stallMs,
    budgets: {
      ...(limits.taskBudget === undefined ? {} : { task: limits.taskBudget }),
      ...(limits.dayBudget === undefined ? {} : { day: limits.dayBudget }),
    },
    prices,
    ...obstaclesOf(runbook),
  };
}

/** Recorded with the request, so that a workflow's checks keep it. */
function checkNetwork(runbook: Runbook, own: CiCheck['network']): Pick<CheckPlan, 'network'> {
  const { policy } = commandNetworkOf(runbook, 'checks', own);
  return policy === 'none' || policy === 'model' ? {} : { network: policy };
}

/** Only for a runbook whose workers start workflows. */
function obstaclesOf(runbook: Runbook): Pick<Rules, 'unchecked' | 'unreviewable'> {
  if (!startsWorkflows(runbook)) return {};
  const unreviewable = findReviewObstacle(runbook);
  return {
    ...(runbook.ci.isSet ? {} : { unchecked: NO_CHECKS }),
    ...(unreviewable === undefined ? {} : { unreviewable }),
  };
}

export function sortedWorkers(runbook: Runbook): WorkerPlan[] {
  return workerPlans(runbook).toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export type RunbookProblems = readonly [RunbookProblem, ...RunbookProblem[]];

/** Combines all problems, so that a person can correct them together. The hint is that of the first one. */
export function runbookError(problems: RunbookProblems): ApiError {
  return {
    code: 'bad-runbook',
    message: problems.map(renderRunbookProblem).join('\n'),
    hint: `${problems[0].hint} Check the runbook: baton runbook check`,
    problems,
  };
}

export function renderRunbookProblem({ file, line, column, message }: RunbookProblem): string {
  return `${renderPlace(file, line, column)}${message}`;
}

function renderPlace(file: string, line: number | null, column: number | null): string {
  return line === null ? `${file}: ` : `${file}:${line}:${column ?? 1}: `;
}

/** What an earlier version did not record counts as unchanged, because an upgrade of Baton asks nobody. */
function completeFiles(recorded: RuleFiles, proposed: RuleFiles): RuleFiles {
  return { ...proposed, prompts: { ...proposed.prompts, ...recorded.prompts } };
}
