import { DEFAULT_BRANCH } from '../../protocol/branch-name.ts';
import { MAX_BLOCKS } from '../../protocol/decide-stop.ts';
import { EDGES, ROLES } from '../../protocol/handoff/edges.ts';
import { extendWorkflow, type Workflow } from '../../protocol/handoff/extend-workflow.ts';
import { PHASES } from '../../protocol/phase.ts';
import type { Parsed } from '../../protocol/shape/problem.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { type CommandArgs, parseArgsDefinition } from '../command-args.ts';
import {
  type CiCheck,
  type CommandDefinition,
  NOTIFICATION_KINDS,
  type Runbook,
  type RunLimits,
  type WorkerDefinition,
  type WorkflowCommands,
  type WorkspaceSettings,
} from '../runbook.ts';
import { parseDuration } from '../shape/fields.ts';
import { buildBudget, buildPrices, type limitsShape } from '../shape/limits-shape.ts';
import type { RunbookValue } from '../shape/runbook-shape.ts';
import { buildGithub } from '../shape/section-shapes.ts';
import { buildAgent } from './build-agent.ts';
import { buildPipeline, buildRunnable } from './build-pipeline.ts';

/** Builds the runbook from a checked value: resolves names, converts times to milliseconds, fills defaults. */
export function buildRunbook(value: RunbookValue): Runbook {
  return {
    exitProtocol: value.exit_protocol,
    store: value.store,
    envPass: value.env_pass ?? [],
    agents: definitions(value.agents, buildAgent),
    pipelines: definitions(value.pipelines, buildPipeline),
    commands: definitions(value.commands, buildCommand),
    workers: definitions(value.workers, buildWorker),
    ci: {
      required: (value.ci?.required ?? []).map(buildCheck),
      isSet: value.ci?.required !== undefined,
      protected: value.ci?.protected ?? [],
    },
    merge: value.merge && { method: value.merge.method ?? 'squash', into: value.merge.into },
    git: { filters: value.git?.filters ?? [] },
    github: buildGithub(value.github ?? {}),
    workflow: workflowIn(value),
    sameAgentMayReview: value.roles?.reviewer?.same_agent ?? false,
    mode: value.workflow?.mode ?? 'autonomous',
    workflowCommands: buildCommands(value.workflow ?? {}),
    notify: {
      desktop: value.notify?.desktop ?? true,
      terminal: value.notify?.terminal ?? true,
      webhook: value.notify?.webhook,
      on: value.notify?.on ?? NOTIFICATION_KINDS,
    },
    workspace: buildWorkspace(value.workspace ?? {}),
    limits: buildLimits(value.limits ?? {}),
    prices: buildPrices(value.prices ?? {}),
  };
}

function definitions<V, D>(
  section: { readonly [name: string]: V } | undefined,
  build: (name: string, value: V) => D,
): ReadonlyMap<string, D> {
  return new Map(Object.entries(section ?? {}).map(([name, value]) => [name, build(name, value)]));
}

type Definition<S extends 'commands' | 'workers'> = NonNullable<RunbookValue[S]>[string];

function buildCommand(name: string, { args = '', run }: Definition<'commands'>): CommandDefinition {
  return { name, args: requireArgs(args), run: buildRunnable(run) };
}

function requireArgs(text: string): CommandArgs {
  const args = parseArgsDefinition(text);
  if ('what' in args) throw new Error(`a checked runbook has arguments that cannot be read: ${args.what}`);
  return args;
}

function buildWorker(name: string, { run, concurrency = 1, ...selects }: Definition<'workers'>): WorkerDefinition {
  return { name, ...selects, concurrency, run: buildRunnable(run) };
}

type CheckValue = NonNullable<NonNullable<RunbookValue['ci']>['required']>[number];

function buildCheck({ name, run, timeout, env_pass }: CheckValue): CiCheck {
  return {
    name,
    ...(run === undefined ? {} : { run }),
    ...(timeout === undefined ? {} : { timeoutMs: parseDuration(timeout) }),
    ...(env_pass === undefined ? {} : { envPass: env_pass }),
  };
}

function buildCommands(workflow: NonNullable<RunbookValue['workflow']>): WorkflowCommands {
  const { install, build, smoke, validate = [] } = workflow;
  const commands = Object.fromEntries(Object.entries({ install, build, smoke }).filter(([, run]) => run !== undefined));
  return { ...commands, validate: validate.map((check) => ({ ...buildCheck(check), run: check.run })) };
}

const BUILT_IN: Workflow = { roles: ROLES, edges: EDGES };

export function parseDeclaredWorkflow({ roles }: Pick<RunbookValue, 'roles'>): Parsed<Workflow> {
  const { add, edges, without } = roles ?? {};
  return extendWorkflow(BUILT_IN, { roles: add, edges, without });
}

function workflowIn(value: RunbookValue): Workflow {
  const extended = parseDeclaredWorkflow(value);
  if (!extended.ok) throw new Error(`a checked runbook has roles that do not fit: ${extended.problems[0].message}`);
  return extended.value;
}

type LimitsValue = ValueOf<typeof limitsShape>;

export const DEFAULT_LIMITS: RunLimits = {
  claimExpiryMs: 15 * 60_000,
  renewalMs: 30_000,
  idleMs: undefined,
  silenceMs: 10 * 60_000,
  toolMs: 60 * 60_000,
  leaveMs: 60_000,
  agents: 50,
  blocks: MAX_BLOCKS,
  resumes: 5,
  reviewRounds: 3,
  killAfterMs: 10_000,
  logBytes: 10 * 1024 * 1024,
  maxFiles: undefined,
  noGitCommit: false,
  noNewDeps: false,
  stallMs: {},
  taskBudget: undefined,
  dayBudget: undefined,
};

function buildLimits(value: LimitsValue): RunLimits {
  const ms = (text: string | undefined, otherwise: number): number =>
    text === undefined ? otherwise : parseDuration(text);
  return {
    claimExpiryMs: ms(value.claim_expiry, DEFAULT_LIMITS.claimExpiryMs),
    renewalMs: ms(value.renewal, DEFAULT_LIMITS.renewalMs),
    idleMs: value.idle === undefined ? undefined : parseDuration(value.idle),
    silenceMs: ms(value.silence, DEFAULT_LIMITS.silenceMs),
    toolMs: ms(value.tool, DEFAULT_LIMITS.toolMs),
    leaveMs: ms(value.leave, DEFAULT_LIMITS.leaveMs),
    agents: value.agents ?? DEFAULT_LIMITS.agents,
    blocks: value.blocks ?? DEFAULT_LIMITS.blocks,
    resumes: value.resumes ?? DEFAULT_LIMITS.resumes,
    reviewRounds: value.review_rounds ?? DEFAULT_LIMITS.reviewRounds,
    killAfterMs: ms(value.kill_after, DEFAULT_LIMITS.killAfterMs),
    logBytes: value.log_bytes ?? DEFAULT_LIMITS.logBytes,
    maxFiles: value.max_files,
    noGitCommit: value.no_git_commit ?? false,
    noNewDeps: value.no_new_deps ?? false,
    stallMs: stallOf(value.stall),
    taskBudget: value.task_budget && buildBudget(value.task_budget),
    dayBudget: value.day_budget && buildBudget(value.day_budget),
  };
}

/** A single duration applies to every phase with expected work. */
function stallOf(stall: LimitsValue['stall']): RunLimits['stallMs'] {
  const given = PHASES.map((phase) => [phase, typeof stall === 'string' ? stall : stall?.[phase]] as const);
  const active =
    typeof stall === 'string' ? given.filter(([phase]) => phase !== 'COMPLETED' && phase !== 'BLOCKED') : given;
  return Object.fromEntries(
    active.flatMap(([phase, text]) => (text === undefined ? [] : [[phase, parseDuration(text)]])),
  );
}

function buildWorkspace({
  branch = DEFAULT_BRANCH,
  copy = [],
  link = [],
  setup,
  setup_timeout,
}: NonNullable<RunbookValue['workspace']>): WorkspaceSettings {
  return {
    branch,
    copy,
    link,
    setup,
    setupTimeoutMs: setup_timeout === undefined ? 10 * 60_000 : parseDuration(setup_timeout),
  };
}
