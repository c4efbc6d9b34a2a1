import { DEFAULT_BRANCH } from '../../protocol/branch-name.ts';
import { EDGES, ROLES } from '../../protocol/handoff/edges.ts';
import { extendWorkflow, type Workflow } from '../../protocol/handoff/extend-workflow.ts';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import type { Parsed } from '../../protocol/shape/problem.ts';
import { type CommandArgs, parseArgsDefinition } from '../command-args.ts';
import {
  type CiCheck,
  type CommandDefinition,
  NOTIFICATION_KINDS,
  type Runbook,
  type WorkerDefinition,
  type WorkerRun,
  type WorkflowCommands,
  type WorkspaceSettings,
} from '../runbook.ts';
import { buildNetwork, buildSandbox } from '../shape/access-shape.ts';
import { parseDuration } from '../shape/fields.ts';
import { buildLimits, buildPrices } from '../shape/limits-shape.ts';
import type { RunbookValue, WorkerRunValue } from '../shape/runbook-shape.ts';
import { buildGithub } from '../shape/section-shapes.ts';
import { BUILT_IN_WORKERS, buildAgent, isBuiltInAgent } from './build-agent.ts';
import { buildPipeline, buildRunnable } from './build-pipeline.ts';

/** Builds the runbook from a checked value: resolves names, converts times to milliseconds, fills defaults. */
export function buildRunbook(value: RunbookValue): Runbook {
  const pipelines = definitions(value.pipelines, buildPipeline);
  const commands = definitions(value.commands, buildCommand);
  const workers = definitions(value.workers, buildWorker);
  const steps = [...pipelines.values()].flatMap((pipeline) => pipeline.steps);
  const runs = [...steps, ...commands.values(), ...workers.values()].map(({ run }) => run);
  return {
    exitProtocol: value.exit_protocol,
    project: value.project,
    store: value.store,
    envPass: value.env_pass ?? [],
    sandbox: buildSandbox(value.sandbox ?? {}),
    network: buildNetwork(value.network ?? {}),
    secrets: new Map(Object.entries(value.secrets ?? {})),
    agents: new Map([...builtInAgentsOf(runs), ...definitions(value.agents, buildAgent)]),
    pipelines,
    commands,
    workers,
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

/** Built-in agents that the runbook runs. Its own definition of the same name takes precedence. */
function builtInAgentsOf(runs: readonly { readonly kind: string; readonly agent?: string }[]): [string, AgentPlan][] {
  const names = runs.flatMap(({ kind, agent }) => (kind === 'agent' && agent !== undefined ? [agent] : []));
  return [...new Set(names)].filter(isBuiltInAgent).map((name) => [name, buildAgent(name, {})]);
}

/** A built-in worker keeps every field that the runbook does not set; one that sets `run` replaces it. */
function buildWorker(name: string, { run, ...own }: Definition<'workers'>): WorkerDefinition {
  if (run !== undefined) return { name, concurrency: 1, ...own, run: buildWorkerRun(run) };
  const builtIn = BUILT_IN_WORKERS.get(name);
  if (builtIn === undefined) throw new Error(`a checked runbook has a worker without a run: ${name}`);
  return { ...builtIn, ...own };
}

function buildWorkerRun(run: WorkerRunValue): WorkerRun {
  return typeof run === 'object' && 'workflow' in run ? { kind: 'workflow', ...run } : buildRunnable(run);
}

type CheckValue = NonNullable<NonNullable<RunbookValue['ci']>['required']>[number];

function buildCheck({ timeout, env_pass, ...check }: CheckValue): CiCheck {
  return {
    ...check,
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

function buildWorkspace(value: NonNullable<RunbookValue['workspace']>): WorkspaceSettings {
  const { branch = DEFAULT_BRANCH, copy = [], link = [], setup, setup_timeout = '10m' } = value;
  return { branch, copy, link, setup, setupTimeoutMs: parseDuration(setup_timeout) };
}
