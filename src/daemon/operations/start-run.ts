import type { Answer, ApiError } from '../../api/answer.ts';
import type { InputOf, ResultOf } from '../../api/operations/registry.ts';
import * as operations from '../../api/operations/runs.ts';
import type { RunPreview } from '../../api/operations/runs.ts';
import { findMainBranch } from '../../git/repository.ts';
import { findGithub } from '../../github/find-github.ts';
import { canonicalJson, type JsonObject } from '../../ledger/format/canonical-json.ts';
import { mayHoldCredential, redactJson } from '../../ledger/redact.ts';
import type { Plan } from '../../protocol/run-plan.ts';
import { accepted, type Parsed } from '../../protocol/shape/problem.ts';
import { isIssue } from '../../runbook/library.ts';
import { planAgentRun, type PlannedRun, planRun } from '../../runbook/plan.ts';
import { type CheckedRunbook, ISSUE_WORKFLOW, type Runbook } from '../../runbook/runbook.ts';
import { actorOf } from '../../state/caller.ts';
import { type Command, decide } from '../../state/decide.ts';
import { pipelineOfShell } from '../../state/runs/steer-pipeline.ts';
import type { StartWorkflow } from '../../state/workflow/start-workflow.ts';
import type { Project } from '../project/project.ts';
import type { PinnedRunbook } from '../rules/pinned-runbook.ts';
import { adoptedView } from '../rules/render-differences.ts';
import { runbookError } from '../rules/rulebook.ts';
import { findReviewObstacle } from '../rules/start-obstacles.ts';
import { withWorkers } from '../rules/workers.ts';
import { answerFor, type Call, handlerFor, inputErrorOf, refusalOf, submitCommand } from './call.ts';
import { checkImport } from './import-tasks.ts';
import { planSandboxes } from './plan-sandboxes.ts';
import { configureLibrary, describeIssue, isDeclined, planIssue, previewRun, requireChecksAnswer } from './plan-run.ts';

export const RUN_HANDLERS = {
  run_start: handlerFor(operations.runStart, async (call) => {
    const issue = findIssue(call);
    if (issue !== undefined) return startIssue(call, issue);
    if (call.input.import !== undefined) return { ok: false, error: IMPORT_WITHOUT_TASKS };
    if (call.input.description !== undefined) return { ok: false, error: DESCRIPTION_WITHOUT_TASK };
    const proposed = planNamed(call, call.services.runbook.read().checked);
    if (!proposed.ok) return proposed;
    const adopted = await adoptWorking(call);
    if (!adopted.ok) return adopted;
    // The file may have changed since: what was adopted runs.
    const planned = planNamed(call, { ok: true, value: adopted.result.runbook });
    if (!planned.ok) return planned;
    const { name, plan: what, vars } = planned.result;
    const command = startCommandOf(call.services.newId(), name, what, vars);
    const kind = command.kind === 'start-agent' ? 'agent' : 'pipeline';
    const { rules } = adopted.result;
    return answerFor(await submitCommand(call, command), ({ id }) => ({ kind, id, ...rules }));
  }),

  run_plan: handlerFor(operations.runPlan, async (call) => {
    const issue = findIssue(call);
    if (issue !== undefined) return previewIssue(call, issue);
    const { checked } = call.services.runbook.read();
    const planned = planNamed(call, checked);
    if (!planned.ok) return planned;
    const { name, plan: what, vars } = planned.result;
    const { newId } = call.services;
    const command = startCommandOf(newId(), name, what, vars);
    const settled = await call.project.commandLoop.submit({
      actor: 'system:reader',
      decide: (view) => previewRun(view, [command], newId),
    });
    const { rulebook, adviseSandbox } = call.services;
    const access = checked.ok ? checked.value : rulebook.runbookFor(null);
    const sandboxes = await planSandboxes(access, what, adviseSandbox);
    return answerFor(settled, ({ entries, effects }) => ({ name, vars, plan: what, sandboxes, entries, effects }));
  }),
};

function findIssue({ input, services }: Call<RunInput>): Runbook | undefined {
  const { checked } = services.runbook.read();
  return checked.ok && input.kind === undefined && isIssue(checked.value, input.name) ? checked.value : undefined;
}

async function startIssue(call: Call<RunInput>, runbook: Runbook): Promise<Answer<ResultOf<'run_start'>>> {
  const planned = planIssue(runbook, call.input);
  if (!planned.ok) return planned;
  const obstacle = await findStartObstacle(runbook, call.project);
  if (obstacle !== undefined) return { ok: false, error: obstacle };
  const imports = await addImport(call, planned.result.command);
  if (!imports.ok) return imports;
  const wanted = imports.result;
  // Checked before a person is asked or a runbook is adopted.
  const takable = 'tasks' in wanted ? await checkTasks(call, wanted) : undefined;
  if (takable?.ok === false) return takable;
  const unanswered = await requireChecksAnswer(call, runbook);
  if (unanswered !== undefined) return unanswered;
  const adopted = await adoptWorking(call);
  if (!adopted.ok) return adopted;
  const { pinned, rules } = adopted.result;
  const pin = pinned === undefined ? {} : { runbook: pinned.sha256 };
  const command = { ...wanted, ...pin };
  const settled = await submitCommand(call, { kind: 'start-workflow', command }, (started, view) =>
    pinned === undefined ? started : withWorkers(started, pinned, view),
  );
  return answerFor(settled, ({ id, ids = [id] }) => ({ kind: 'workflow', id, ids, ...rules }));
}

/** Puts the working file in force, so that what starts is what was adopted. A person agrees first if it loosens. */
async function adoptWorking({ project, caller, input, services }: Call<RunInput>): Promise<Answer<AdoptedForRun>> {
  const isFirst = services.rulebook.inForce === undefined;
  const adopted = await project.adoptions?.adoptWorking(actorOf(caller), input.accept_rules);
  if (adopted?.ok === false) return adopted;
  if (adopted === undefined)
    return { ok: true, result: { pinned: undefined, runbook: services.rulebook.runbookFor(null), rules: {} } };
  const { pinned, differences } = adopted;
  // The first rules replace none.
  const isNews = !isFirst && differences.some(({ effect }) => effect !== 'changes');
  const rules = isNews ? { rules: adoptedView(adopted) } : {};
  return { ok: true, result: { pinned, runbook: pinned.runbook, rules } };
}

interface AdoptedForRun {
  readonly pinned: PinnedRunbook | undefined;
  readonly runbook: Runbook;
  readonly rules: { readonly rules?: ReturnType<typeof adoptedView> };
}

async function checkTasks(call: Call<RunInput>, command: StartWorkflow): Promise<Answer<null>> {
  const start: Command = { kind: 'start-workflow', command };
  const read = await call.project.commandLoop.read(({ state, rules, here }) =>
    decide(state, start, call.caller, rules, here),
  );
  if (!read.ok) return refusalOf(read);
  return read.answer.ok ? { ok: true, result: null } : { ok: false, error: read.answer.refusal };
}

/** Creates the tasks of `import` in the commit that starts their workflows. */
async function addImport(call: Call<RunInput>, command: StartWorkflow): Promise<Answer<StartWorkflow>> {
  const { import: given } = call.input;
  if (given === undefined) return { ok: true, result: command };
  if (!('tasks' in command)) return { ok: false, error: IMPORT_WITHOUT_TASKS };
  const imports = await checkImport(call, given);
  return imports.ok ? { ok: true, result: { ...command, imports: imports.result } } : imports;
}

const IMPORT_WITHOUT_TASKS: ApiError = {
  code: 'runbook/usage',
  message: 'only the built-in workflow imports tasks; it takes them by their ids',
  hint: 'Name the tasks that become workflows: baton run issue --task ID',
};

const DESCRIPTION_WITHOUT_TASK: ApiError = {
  code: 'runbook/usage',
  message: 'only the task of the built-in workflow has a description',
  hint: 'Leave the description out, or start the workflow `issue`.',
};

async function previewIssue(call: Call<RunInput>, runbook: Runbook): Promise<Answer<RunPreview>> {
  const { input, project, services } = call;
  const planned = planIssue(runbook, input);
  if (!planned.ok) return planned;
  const obstacle = await findStartObstacle(runbook, project);
  if (obstacle !== undefined) return { ok: false, error: obstacle };
  const { vars } = planned.result;
  const imports = await addImport(call, planned.result.command);
  if (!imports.ok) return imports;
  const command = imports.result;
  const commands: Command[] = [configureLibrary(runbook), { kind: 'start-workflow', command }];
  const settled = await project.commandLoop.submit({
    actor: 'system:reader',
    decide: (view) => previewRun(view, commands, services.newId),
  });
  // Uses the current runbook, which the project's rules follow only later.
  const found = await findGithub(project.path, runbook.github, services.env);
  const pulls = found === 'unknown' ? project.rules.pulls : found;
  const declined = await isDeclined(call);
  if (!declined.ok) return declined;
  const plan = describeIssue(runbook, command.mode, {
    env: services.env,
    isDeclined: declined.result,
    ...(pulls === undefined ? {} : { pulls }),
  });
  const sandboxes = await planSandboxes(runbook, plan, services.adviseSandbox);
  const name = ISSUE_WORKFLOW;
  return answerFor(settled, ({ entries, effects }) => ({ name, vars, plan, sandboxes, entries, effects }));
}

type RunInput = InputOf<'run_start'>;

function planNamed(
  { input: { name, args = [], kind }, project }: Call<RunInput>,
  checked: CheckedRunbook,
): Answer<PlannedRun> {
  if (!checked.ok) return { ok: false, error: runbookError(checked.problems) };
  const { agents, commands, pipelines } = checked.value;
  const { secrets } = project.ledger;
  const isAgent = kind === 'agent' || (agents.has(name) && !commands.has(name) && !pipelines.has(name));
  if (!isAgent) return checkPlan(planRun(checked.value, name, args), secrets);
  if (args.length > 0) return { ok: false, error: NO_ARGUMENTS };
  const agent = planAgentRun(checked.value, name);
  return checkPlan(
    agent.ok ? accepted({ plan: { kind: 'agent', agent: agent.value }, vars: {}, name }) : agent,
    secrets,
  );
}

const NO_ARGUMENTS: ApiError = {
  code: 'runbook/usage',
  message: 'an agent takes no arguments',
  hint: 'Define a command with arguments in the runbook that runs the agent.',
};

function checkPlan(planned: Parsed<PlannedRun>, secrets: readonly string[]): Answer<PlannedRun> {
  if (!planned.ok) return { ok: false, error: inputErrorOf(planned) };
  const { plan: what, vars } = planned.value;
  return holdsCredential({ what, vars }, secrets)
    ? { ok: false, error: CREDENTIAL_IN_PLAN }
    : { ok: true, result: planned.value };
}

export const CREDENTIAL_IN_PLAN: ApiError = {
  code: 'credential-in-plan',
  message: 'the run contains what looks like a password or a token, and the ledger would keep it forever',
  hint: 'Put the secret into the environment of the daemon, and write ${env.NAME} in its place.',
};

/** Runs a shell command as a pipeline of one step, so that it is shown and controlled like any other. */
function startCommandOf(id: string, name: string, what: Plan, vars: PlannedRun['vars']): StartCommand {
  switch (what.kind) {
    case 'agent':
      return { kind: 'start-agent', command: { id, plan: what.agent, vars } };
    case 'shell': {
      const only = pipelineOfShell(name, what.command, Object.keys(vars));
      return { kind: 'start-pipeline', command: { id, name, plan: only, vars } };
    }
    case 'pipeline':
      return { kind: 'start-pipeline', command: { id, name: what.pipeline, plan: what, vars } };
  }
}

type StartCommand = Extract<Command, { kind: 'start-agent' | 'start-pipeline' }>;

/** Returns why a workflow could not be completed in the current setup. */
async function findStartObstacle(
  runbook: Runbook,
  { path, own }: Pick<Project, 'path' | 'own'>,
): Promise<ApiError | undefined> {
  const main = await findMainBranch(path, runbook.merge?.into);
  if (!main.ok) {
    const { code, message, hint } = main.problem;
    return { code, message: `there is nothing to merge into: ${message}`, hint };
  }
  const uncopied = await own.findRefusal(main.value.sha, COPY_MS);
  if (uncopied !== undefined) {
    const { code, message, hint } = uncopied;
    return { code, message: `nothing could be checked or merged: ${message}`, hint };
  }
  return findReviewObstacle(runbook);
}

/** Well below a client's timeout. */
const COPY_MS = 20_000;

/**
 * Whether the ledger would redact part of the plan. Such a plan is refused: without the secret it does something else.
 */
export function holdsCredential(value: object, secrets: readonly string[]): boolean {
  const text = canonicalJson(value);
  if (!text.ok || !mayHoldCredential(text.value, secrets)) return false;
  const parsed = { value: JSON.parse(text.value) } as JsonObject; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const redacted = canonicalJson(redactJson(parsed, secrets)['value']);
  return redacted.ok && redacted.value !== text.value;
}
