import {
  type AgentPlan,
  findAcpPresetName,
  MODEL_CLIENT_NAMES,
  HANDLER_NAMES,
  type HandlerPlan,
  type PipelinePlan,
  type Plan,
  type WorkerPlan,
} from '../protocol/run-plan.ts';
import { accepted, didYouMean, type Parsed, problem, type Problem, quote, refused } from '../protocol/shape/problem.ts';
import { renderTemplate, slotsOf } from '../protocol/text/render-template.ts';
import { parseTemplate } from '../protocol/text/template.ts';
import { utf8Length } from '../protocol/text/text-format.ts';
import type { Path } from './check/subject.ts';
import { argumentNames, NO_ARGS, pipelineArgs } from './command-args.ts';
import { parseCommandArgs } from './parse-command-args.ts';
import { type CommandDefinition, ISSUE_WORKFLOW, type Runbook, type Runnable, type WorkerRun } from './runbook.ts';
import { RUNBOOK_LIMITS } from './shape/fields.ts';

export interface PlannedRun {
  readonly plan: Plan;
  readonly vars: Readonly<Record<string, string>>;
  readonly name: string;
}

/** Plans `baton run NAME …`: a command, else a pipeline with its variables as options, else an agent. */
export function planRun(runbook: Runbook, name: string, argv: readonly string[]): Parsed<PlannedRun> {
  const command = runbook.commands.get(name);
  if (command !== undefined) return planOfCommand(runbook, command, argv);
  const pipeline = runbook.pipelines.get(name);
  if (pipeline === undefined)
    return runbook.agents.has(name) ? planOfAgent(runbook, name, argv) : refused(unknownName(runbook, name));
  const given = parseCommandArgs({ name, args: pipelineArgs(pipeline) }, argv);
  if (!given.ok) return given;
  return withinSizeLimit({ plan: planPipeline(runbook, name), vars: withDefaults(pipeline, given.value), name });
}

export function planAgentRun(runbook: Runbook, name: string): Parsed<AgentPlan> {
  const agent = runbook.agents.get(name);
  if (agent === undefined) {
    const known = [...runbook.agents.keys()];
    const hint = didYouMean(name, known) ?? `There are: ${known.join(', ') || 'no agents'}.`;
    return refused(problem('runbook/unknown-agent', `there is no agent ${quote(name)}`, hint));
  }
  const [variable] = requiredVariables(agent);
  if (variable === undefined) return accepted(agent);
  const message = `agent ${name} needs \${var.${variable}}, which a run on its own does not have`;
  return refused(
    problem(
      'runbook/missing-variable',
      message,
      'Run the agent through a pipeline or a command that sets the variable.',
    ),
  );
}

/** Every worker with its plan. In a checked runbook all fit into an entry. */
export function workerPlans(runbook: Runbook): WorkerPlan[] {
  return [...runbook.workers.values()].map(({ run, ...worker }) => ({
    ...worker,
    plan: planOfWorker(runbook, worker.name, run),
  }));
}

function planOfAgent(runbook: Runbook, name: string, argv: readonly string[]): Parsed<PlannedRun> {
  const given = parseCommandArgs({ name, args: NO_ARGS }, argv);
  if (!given.ok) return given;
  const agent = planAgentRun(runbook, name);
  return agent.ok ? withinSizeLimit({ plan: { kind: 'agent', agent: agent.value }, vars: {}, name }) : agent;
}

function planOfCommand(runbook: Runbook, command: CommandDefinition, argv: readonly string[]): Parsed<PlannedRun> {
  const { name, run } = command;
  const given = parseCommandArgs(command, argv);
  if (!given.ok) return given;
  if (run.kind !== 'pipeline') return withinSizeLimit({ plan: plainPlan(runbook, run), vars: given.value, name });
  const rendered: Record<string, string> = {};
  for (const [variable, text] of Object.entries(run.vars)) {
    const value = renderTemplate(text, { vars: given.value }, { quote: 'none' });
    if (!value.ok) return value;
    rendered[variable] = value.value;
  }
  const pipeline = runbook.pipelines.get(run.pipeline);
  const vars = withDefaults(pipeline, { ...passedOn(pipeline, command, given.value), ...rendered });
  return withinSizeLimit({ plan: planPipeline(runbook, run.pipeline), vars, name: run.pipeline });
}

/** Arguments that have the name of a pipeline's variable, which are passed on automatically. */
function passedOn(
  pipeline: PipelinePlan | undefined,
  { args }: CommandDefinition,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const shared = argumentNames(args).filter((name) => Object.hasOwn(pipeline?.vars ?? {}, name));
  // An omitted argument does not override the pipeline's default.
  const passed = shared.filter((name) => (given[name] ?? '') !== '' || pipeline?.vars[name] === null);
  return Object.fromEntries(passed.map((name) => [name, given[name] ?? '']));
}

function withDefaults(
  pipeline: PipelinePlan | undefined,
  given: Readonly<Record<string, string>>,
): Record<string, string> {
  const all = Object.entries(pipeline?.vars ?? {}).map(([name, value]) => [name, given[name] || value || ''] as const);
  return Object.fromEntries(all);
}

/** The plan of a command or worker; also used by the size check. */
export function plainPlan(runbook: Runbook, run: Runnable): Plan {
  if (run.kind === 'shell') return run;
  if (run.kind === 'pipeline') return planPipeline(runbook, run.pipeline);
  return { kind: 'agent', agent: known(runbook.agents, run.agent) };
}

/** The plan of a worker. A step of an outer pipeline sets the pipeline's variables from the task. */
function planOfWorker(runbook: Runbook, name: string, run: WorkerRun): WorkerPlan['plan'] {
  if (run.kind === 'workflow') return { ...run, mode: run.mode ?? runbook.mode };
  if (run.kind !== 'pipeline' || Object.keys(run.vars).length === 0) return plainPlan(runbook, run);
  const inner = planPipeline(runbook, run.pipeline);
  // Names in a runbook cannot contain a colon, so this name is unused.
  const outer = `worker:${name}`;
  const wrapper: PipelinePlan = { name: outer, vars: {}, steps: [{ name: run.pipeline, run }] };
  return { ...inner, pipeline: outer, pipelines: { ...inner.pipelines, [outer]: wrapper } };
}

export function planPipeline(runbook: Runbook, name: string): Extract<Plan, { kind: 'pipeline' }> {
  const pipelines = new Map<string, PipelinePlan>();
  const agents = new Map<string, AgentPlan>();
  const next = [name];
  for (let reached = next.pop(); reached !== undefined; reached = next.pop()) {
    if (pipelines.has(reached)) continue;
    const pipeline = known(runbook.pipelines, reached);
    pipelines.set(reached, pipeline);
    for (const { run } of pipeline.steps) {
      if (run.kind === 'agent') agents.set(run.agent, known(runbook.agents, run.agent));
      if (run.kind === 'pipeline') next.push(run.pipeline);
    }
  }
  const definitions = { pipelines: Object.fromEntries(pipelines), agents: Object.fromEntries(agents) };
  return { kind: 'pipeline', pipeline: name, ...definitions };
}

function known<T>(definitions: ReadonlyMap<string, T>, name: string): T {
  const found = definitions.get(name);
  if (found === undefined) throw new Error(`a checked runbook names ${name}, which it does not have`);
  return found;
}

function withinSizeLimit(planned: PlannedRun): Parsed<PlannedRun> {
  const tooLarge = sizeProblem(planned.plan, planned.vars, planned.name);
  return tooLarge === undefined ? accepted(planned) : refused(tooLarge);
}

/**
 * Returns a problem if the plan is too large. Compact JSON is as long as canonical JSON, since only the order of keys
 * differs.
 */
export function sizeProblem(plan: Plan, vars: Readonly<Record<string, string>>, name: string): Problem | undefined {
  const bytes = utf8Length(JSON.stringify({ plan, vars, name }));
  if (bytes <= RUNBOOK_LIMITS.planBytes) return undefined;
  const message = `the plan of ${name} is too large to be recorded: ${bytes} bytes > ${RUNBOOK_LIMITS.planBytes} bytes maximum`;
  return problem('runbook/plan-too-large', message, PROMPTS_IN_FILES);
}

export const PROMPTS_IN_FILES = 'Move long prompts into files and name them in `prompt_file`.';

function unknownName(runbook: Runbook, name: string): Problem {
  const names = [...runbook.commands.keys(), ...runbook.pipelines.keys(), ...runbook.agents.keys(), ISSUE_WORKFLOW];
  const hint = didYouMean(name, names) ?? 'List the names: baton runbook list';
  return problem('runbook/unknown-name', `there is no command, pipeline or agent ${quote(name)}`, hint);
}

export interface TemplateText {
  readonly text: string;
  readonly path: Path;
  readonly isShell: boolean;
  /** The filled text is recorded in the ledger, so it must not contain values of the environment. */
  readonly isRecorded: boolean;
}

/** `scripted FILE` names a file, so it is not a shell command. */
const BUILT_IN = /^(?:scripted(?:\s.*)?|builtin:.*)$/s;

/** The file of `scripted FILE`, with or without an option before it; undefined for other agents. */
export function scriptOf(run: string): string | undefined {
  return /^scripted\s+(?:--command-hook\s+)?(?!--)(\S.*?)\s*$/s.exec(run)?.[1];
}

/** Reports whether `run` is a shell command, and not a client or built-in role. */
export function isShellAgent({ run }: Pick<AgentPlan, 'run'>): boolean {
  return !MODEL_CLIENT_NAMES.includes(run) && findAcpPresetName(run) === undefined && !BUILT_IN.test(run);
}

/** Every text of an agent that may contain templates, with its path in the agent's definition. */
export function templateTextsOf(agent: AgentPlan): TemplateText[] {
  const { run, prompt, prompt_file, cwd, model, env = {} } = agent;
  const plain = Object.entries({ prompt, prompt_file, cwd, model }).map(([field, text]) =>
    templateTextAt(text, [field]),
  );
  return [
    templateTextAt(run, ['run'], { isShell: isShellAgent(agent) }),
    ...plain,
    ...Object.entries(env).map(([name, text]) => templateTextAt(text, ['env', name])),
    ...handlersOfPlan(agent).flatMap(({ handler, path }) => [
      templateTextAt(handler.message, [...path, 'message'], { isRecorded: true }),
      templateTextAt(handler.run, [...path, 'run'], { isShell: true }),
    ]),
  ].filter((text) => text !== undefined);
}

export function templateTextAt(
  text: string | undefined,
  path: Path,
  { isShell = false, isRecorded = false }: { isShell?: boolean; isRecorded?: boolean } = {},
): TemplateText | undefined {
  return text === undefined ? undefined : { text, path, isShell, isRecorded };
}

type PlacedHandler = { readonly handler: HandlerPlan; readonly path: Path };

function handlersOfPlan(agent: AgentPlan): PlacedHandler[] {
  return HANDLER_NAMES.flatMap((name): PlacedHandler[] => {
    if (name !== 'on_error') return agent[name] === undefined ? [] : [{ handler: agent[name], path: [name] }];
    return Object.entries(agent.on_error ?? {}).map(([kind, handler]) => ({ handler, path: [name, kind] }));
  });
}

function requiredVariables(agent: AgentPlan): string[] {
  const slots = templateTextsOf(agent).flatMap(({ text }) => slotsOf(parseTemplate(text)));
  return slots.flatMap(({ name, fallback }) => (name.of === 'var' && fallback === null ? [name.name] : []));
}
