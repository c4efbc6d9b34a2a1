import { createHash } from 'node:crypto';
import type { AgentPlan, BudgetPlan, PipelinePlan, Requirement } from '../../protocol/run-plan.ts';
import { withLibrary } from '../library.ts';
import { scriptOf } from '../plan.ts';
import type { CiCheck, CommandDefinition, Runbook, WorkerDefinition } from '../runbook.ts';
import { agentAccess, projectAccess } from './access-fields.ts';
import { type GateValue, plain } from './gate-value.ts';
import { filePattern, NO_FILES, type RuleFiles, type Texts } from './rule-files.ts';

/** The fields of a runbook, by dotted name, as far as a change of them matters. An unset limit is null. */
export type GateFields = ReadonlyMap<string, GateValue>;

/** Extracts the fields. An omitted field equals its default; replacing a built-in agent is a difference. */
export function gateFieldsOf(runbook: Runbook, files: RuleFiles = NO_FILES): GateFields {
  const { ci, merge, workflow, sameAgentMayReview, mode, workflowCommands, limits, prices, github } = runbook;
  // An empty list and a missing list let the same work pass.
  const { required, isSet: _, ...otherCi } = ci;
  const { agents, pipelines, judging } = findWorkerReach(runbook);
  const { taskBudget, dayBudget, stallMs, tasks, ...plainLimits } = limits;
  const { validate, ...commands } = workflowCommands;
  return new Map<string, GateValue>([
    ...checkFields('ci.required', required),
    ...plainFields('ci', otherCi),
    ['merge.required', merge !== undefined],
    ['merge.method', merge?.method ?? 'squash'],
    ['merge.into', merge?.into ?? null],
    ...workflow.roles.map(({ name, ...role }) => [`roles.${name}`, plain(role)] as const),
    ...workflow.edges.map((edge) => [`roles.edges.${edge.from}.${edge.to ?? 'end'}`, plain(edge)] as const),
    ['roles.reviewer.same_agent', sameAgentMayReview],
    ['workflow.mode', mode],
    ...checkFields('workflow.validate', validate),
    ...plainFields('workflow', commands),
    ...plainFields('limits', plainLimits),
    ...plainFields('limits.stall', stallMs),
    ...plainFields('limits.tasks', tasks),
    ...budgetFields('limits.task_budget', taskBudget),
    ...budgetFields('limits.day_budget', dayBudget),
    ...prices.map((price) => [`prices.${price.model}`, plain(price)] as const),
    ...plainFields('github', github),
    ...[...withLibrary(runbook).workers.values()].flatMap(workerFields),
    ...[...new Map([...agents, ...runbook.agents]).values()].flatMap((agent) =>
      agentFields(agent, runbook, judging.has(`agent ${agent.name}`), files.prompts),
    ),
    ...[...new Map([...pipelines, ...runbook.pipelines]).values()].flatMap((pipeline) =>
      pipelineFields(pipeline, judging),
    ),
    ...[...runbook.commands.values()].flatMap(commandFields),
    ...plainFields('notify', runbook.notify),
    ...plainFields('workspace', runbook.workspace),
    ...projectAccess(runbook),
    ...devcontainerField(files.devcontainer),
    ...projectFields(runbook),
  ]);
}

type Field = readonly [string, GateValue];

/** Checks run one after another in one checkout, so their order counts. */
function checkFields(section: string, checks: readonly CiCheck[]): Field[] {
  return [
    [section, checks.map(({ name }) => name)],
    ...checks.flatMap(({ name, timeoutMs, network, envPass = [], ...check }): Field[] => [
      [`${section}.${quoted(name)}`, plain(check)],
      ...(envPass.length === 0 ? [] : [[`${section}.${quoted(name)}.env_pass`, plain(envPass)] as const]),
      [`${section}.${quoted(name)}.timeout`, timeoutMs ?? null],
      ...(network === undefined ? [] : [[`${section}.${quoted(name)}.network`, plain(network)] as const]),
    ]),
  ];
}

function plainFields(section: string, values: object): Field[] {
  return Object.entries(values).map(([name, value]) => [`${section}.${snakeCase(name)}`, plain(value)]);
}

function budgetFields(section: string, budget: BudgetPlan | undefined): Field[] {
  return [
    [`${section}.tokens`, budget?.tokens ?? null],
    [`${section}.cost_millicents`, budget?.cost_millicents ?? null],
    [`${section}.time_ms`, budget?.time_ms ?? null],
  ];
}

function workerFields({ name, concurrency, ...definition }: WorkerDefinition): Field[] {
  // Labels select the host, and do not affect what work must pass.
  const { labels: _, ...worker } = definition;
  return [
    [`workers.${quoted(name)}`, plain(worker)],
    [`workers.${quoted(name)}.concurrency`, concurrency],
    ...shellField(`workers.${quoted(name)}`, worker.run.kind === 'shell' ? [worker.run.command] : []),
  ];
}

const OWED: readonly Requirement[] = ['exit', 'result'];

function agentFields(agent: AgentPlan, runbook: Runbook, isJudging: boolean, texts: Texts): Field[] {
  const { name, requires = OWED, budget, timeout_ms = null, max_concurrency = null, ...rest } = agent;
  const { prompt, prompt_file, sandbox: _, network: __, ...program } = rest;
  const section = `agents.${quoted(name)}`;
  return [
    [`${section}.requires`, [...new Set(requires)].sort()],
    ...budgetFields(`${section}.budget`, budget),
    [`${section}.timeout_ms`, timeout_ms],
    [`${section}.max_concurrency`, max_concurrency],
    ...Object.entries(program).map(([field, value]): Field => [`${section}.${field}`, plain(value)]),
    ...agentAccess(section, agent, runbook),
    promptField(section, prompt, prompt_file, texts),
    ...scriptField(section, scriptOf(agent.run), texts),
    ...(isJudging ? [[`${section}.judges`, true] as const] : []),
  ];
}

function promptField(section: string, prompt: string | undefined, file: string | undefined, texts: Texts): Field {
  if (file === undefined) return [`${section}.prompt`, prompt === undefined ? null : digest(prompt)];
  return [`${section}.prompt`, plain({ prompt_file: file, ...digestsOf(file, texts) })];
}

function scriptField(section: string, file: string | undefined, texts: Texts): Field[] {
  return file === undefined ? [] : [[`${section}.script`, plain(digestsOf(file, texts))]];
}

/** A path with templates covers every file that it can become. */
function digestsOf(file: string, texts: Texts): Readonly<Record<string, string>> {
  return digestAll(Object.entries(texts).filter(([path]) => filePattern(file).test(path)));
}

function digestAll(texts: readonly (readonly [string, string | null])[]): Readonly<Record<string, string>> {
  return Object.fromEntries(texts.map(([path, text]) => [path, text === null ? 'missing' : digest(text)]));
}

function devcontainerField(texts: Texts): Field[] {
  const all = Object.entries(texts);
  return all.length === 0 ? [] : [[DEVCONTAINER, plain(digestAll(all))]];
}

/** It decides about a session only in the mode `container`. */
export const DEVCONTAINER = 'sandbox.devcontainer';

function pipelineFields({ name, budget, ...pipeline }: PipelinePlan, judging: ReadonlySet<string>): Field[] {
  const section = `pipelines.${quoted(name)}`;
  const commands = pipeline.steps.flatMap(({ run }) => (run.kind === 'shell' ? [run.command] : []));
  return [
    ...budgetFields(`${section}.budget`, budget),
    [section, plain(pipeline)],
    ...shellField(section, commands),
    ...(judging.has(`pipeline ${name}`) ? [[`${section}.judges`, true] as const] : []),
  ];
}

function commandFields({ name, args, run }: CommandDefinition): Field[] {
  const section = `commands.${quoted(name)}`;
  return [
    [section, plain({ args: args.text, run })],
    ...shellField(section, run.kind === 'shell' ? [run.command] : []),
  ];
}

/** Shell commands of pipelines, commands and workers run outside of every sandbox. */
function shellField(section: string, commands: readonly string[]): Field[] {
  return commands.length === 0 ? [] : [[`${section}.shell`, commands]];
}

/** Other fields of the project. Its store is chosen before there are rules. */
const PROJECT_FIELDS = ['envPass', 'git', 'exitProtocol', 'project'] as const;

function projectFields(runbook: Runbook): Field[] {
  const sections: Readonly<Record<string, unknown>> = { ...runbook };
  return PROJECT_FIELDS.flatMap((name): Field[] => {
    const value = sections[name];
    return value === undefined ? [] : [[snakeCase(name), plain(value)]];
  });
}

function digest(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}

/** Quotes a name with a dot, as in TOML, to distinguish it from a nested field. */
function quoted(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export interface WorkerReach {
  readonly agents: ReadonlyMap<string, AgentPlan>;
  readonly pipelines: ReadonlyMap<string, PipelinePlan>;
  /** Agents and pipelines that can have a judging role. */
  readonly judging: ReadonlySet<string>;
}

/** Roles that create or close work. Every other role, including added ones, judges it. */
const WORKING_ROLES: ReadonlySet<string> = new Set(['issue-manager', 'prep', 'implementer', 'fixer', 'closer']);

export function isJudgingRole(role: string): boolean {
  return !WORKING_ROLES.has(role);
}

export function findWorkerReach(runbook: Runbook): WorkerReach {
  const all = withLibrary(runbook);
  const agents = new Map<string, AgentPlan>();
  const pipelines = new Map<string, PipelinePlan>();
  const judging = new Set<string>();
  for (const worker of all.workers.values()) {
    const mayJudge = worker.roles === undefined ? worker.workflow !== false : worker.roles.some(isJudgingRole);
    for (const { kind, name } of reachOf(all, worker)) {
      const agent = kind === 'agent' ? all.agents.get(name) : undefined;
      const pipeline = kind === 'pipeline' ? all.pipelines.get(name) : undefined;
      if (agent !== undefined) agents.set(name, agent);
      if (pipeline !== undefined) pipelines.set(name, pipeline);
      if (mayJudge && (agent?.role === undefined || isJudgingRole(agent.role))) judging.add(`${kind} ${name}`);
    }
  }
  return { agents, pipelines, judging };
}

interface Named {
  readonly kind: 'agent' | 'pipeline';
  readonly name: string;
}

function reachOf({ pipelines }: Runbook, { run }: WorkerDefinition): readonly Named[] {
  if (run.kind === 'shell' || run.kind === 'workflow') return [];
  if (run.kind === 'agent') return [{ kind: 'agent', name: run.agent }];
  const found = new Map<string, Named>();
  const next = [run.pipeline];
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (found.has(`pipeline ${name}`)) continue;
    found.set(`pipeline ${name}`, { kind: 'pipeline', name });
    for (const step of pipelines.get(name)?.steps ?? []) {
      if (step.run.kind === 'agent') found.set(`agent ${step.run.agent}`, { kind: 'agent', name: step.run.agent });
      if (step.run.kind === 'pipeline') next.push(step.run.pipeline);
    }
  }
  return [...found.values()];
}
