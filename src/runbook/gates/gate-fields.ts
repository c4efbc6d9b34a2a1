import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import type { AgentPlan, BudgetPlan, PipelinePlan, Requirement } from '../../protocol/run-plan.ts';
import { withLibrary } from '../library.ts';
import type { CiCheck, Runbook, WorkerDefinition } from '../runbook.ts';
import { findWorkerReach } from './worker-agents.ts';

/** A value as it is compared and shown: plain JSON, with the names of objects sorted. */
export type GateValue =
  | null
  | boolean
  | number
  | string
  | readonly GateValue[]
  | { readonly [name: string]: GateValue };

/** The text of each prompt file by its path; null if it could not be read. */
export type Prompts = Readonly<Record<string, string | null>>;

/** The fields of a runbook that decide what work must pass, by dotted name. A limit that is not set is null. */
export type GateFields = ReadonlyMap<string, GateValue>;

/**
 * Extracts the gate fields. Defaults and Baton's own agents count: a field that is left out and one that is written with its default
 * value are the same, and an agent that takes the place of a built-in one is a difference.
 */
export function gateFieldsOf(runbook: Runbook, prompts: Prompts = {}): GateFields {
  const { ci, merge, workflow, sameAgentMayReview, mode, workflowCommands, limits, prices, github } = runbook;
  // Whether the list is set decides nothing about gates: an empty list and none let the same work pass.
  const { required, isSet: _, ...otherCi } = ci;
  const { agents, pipelines, judging } = findWorkerReach(runbook);
  const { taskBudget, dayBudget, stallMs, ...plainLimits } = limits;
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
    ...checkFields('workflow.validate', workflowCommands.validate),
    ...plainFields('limits', plainLimits),
    ...plainFields('limits.stall', stallMs),
    ...budgetFields('limits.task_budget', taskBudget),
    ...budgetFields('limits.day_budget', dayBudget),
    ...prices.map((price) => [`prices.${price.model}`, plain(price)] as const),
    ...plainFields('github', github),
    ...[...withLibrary(runbook).workers.values()].flatMap(workerFields),
    ...[...agents.values()].flatMap((agent) => agentFields(agent, judging.has(`agent ${agent.name}`), prompts)),
    ...[...pipelines.values()].flatMap((pipeline) => pipelineFields(pipeline, judging)),
    ...projectFields(runbook),
  ]);
}

type Field = readonly [string, GateValue];

/** Checks run one after the other in one checkout, so that their order counts too. */
function checkFields(section: string, checks: readonly CiCheck[]): Field[] {
  return [
    [section, checks.map(({ name }) => name)],
    ...checks.flatMap(({ name, timeoutMs, ...check }): Field[] => [
      [`${section}.${quoted(name)}`, plain(check)],
      [`${section}.${quoted(name)}.timeout`, timeoutMs ?? null],
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

function workerFields({ name, concurrency, ...worker }: WorkerDefinition): Field[] {
  return [
    [`workers.${quoted(name)}`, plain(worker)],
    [`workers.${quoted(name)}.concurrency`, concurrency],
  ];
}

/** What an agent owes if its definition does not say. */
const OWED: readonly Requirement[] = ['exit', 'result'];

function agentFields(agent: AgentPlan, isJudging: boolean, prompts: Prompts): Field[] {
  const { name, requires = OWED, budget, timeout_ms = null, max_concurrency = null, ...rest } = agent;
  const { prompt, prompt_file, ...program } = rest;
  const section = `agents.${quoted(name)}`;
  const guarded = Object.entries(program).filter(([field]) => isJudging || GUARDED.has(field));
  return [
    [`${section}.requires`, [...new Set(requires)].sort()],
    ...budgetFields(`${section}.budget`, budget),
    [`${section}.timeout_ms`, timeout_ms],
    [`${section}.max_concurrency`, max_concurrency],
    ...guarded.map(([field, value]): Field => [`${section}.${field}`, plain(value)]),
    ...(isJudging ? [promptField(section, prompt, prompt_file, prompts)] : []),
  ];
}

/** Fields of every agent that decide what it can reach. */
const GUARDED: ReadonlySet<string> = new Set(['env', 'env_pass', 'sandbox', 'network', 'role']);

function promptField(section: string, prompt: string | undefined, file: string | undefined, prompts: Prompts): Field {
  if (file === undefined) return [`${section}.prompt`, prompt === undefined ? null : digest(prompt)];
  // A path with templates stands for every file that it can become.
  const texts = Object.entries(prompts).filter(([path]) => promptPattern(file).test(path));
  const digests = texts.map(([path, text]) => [path, text === null ? 'missing' : digest(text)] as const);
  return [`${section}.prompt`, plain({ prompt_file: file, ...Object.fromEntries(digests) })];
}

/** The name under which a prompt file is kept: `./a.md` and `a.md` are one file. */
export function promptKey(promptFile: string): string {
  return posix.normalize(promptFile);
}

/** Matches the paths that a prompt_file can become when its templates are filled in. */
export function promptPattern(promptFile: string): RegExp {
  const parts = promptKey(promptFile)
    .split(/\$\{[^}]*\}/)
    .map((part) => RegExp.escape(part));
  return new RegExp(`^${parts.join('.*')}$`, 's');
}

function pipelineFields({ name, budget, ...pipeline }: PipelinePlan, judging: ReadonlySet<string>): Field[] {
  const section = `pipelines.${quoted(name)}`;
  const own = judging.has(`pipeline ${name}`) ? [[section, plain(pipeline)] as const] : [];
  return [...budgetFields(`${section}.budget`, budget), ...own];
}

/** Sections of the whole project that decide what sessions and checks can reach. */
const PROJECT_FIELDS = ['sandbox', 'network', 'env', 'envPass', 'git'] as const;

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

/** A name with a dot in it is quoted, as in TOML, so that it cannot be taken for a field of another. */
function quoted(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name);
}

function snakeCase(name: string): string {
  return name.replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function plain(value: unknown): GateValue {
  if (value === undefined || value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'number' || typeof value === 'string') return value;
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return plain(Object.fromEntries(value));
  if (typeof value !== 'object') return null;
  const entries = Object.entries(value).filter(([, each]: [string, unknown]) => each !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, each]) => [name, plain(each)]));
}
