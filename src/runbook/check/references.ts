import { didYouMean, quote } from '../../protocol/shape/problem.ts';
import { BUILT_IN_WORKERS, isBuiltInAgent } from '../build/build-agent.ts';
import { buildVariables } from '../build/build-pipeline.ts';
import { parseDeclaredWorkflow } from '../build/build-runbook.ts';
import { buildLimits } from '../shape/limits-shape.ts';
import { argumentNames, parseArgsDefinition } from '../command-args.ts';
import type { RunnableValue, WorkerRunValue } from '../shape/runbook-shape.ts';
import type { Path, RunbookSubject } from './subject.ts';

export function checkReferences(subject: RunbookSubject): void {
  for (const { run, path } of runnablesOf(subject)) checkRunnable(run, path, subject);
  for (const [name, { steps }] of Object.entries(subject.value.pipelines ?? {})) {
    const known = steps.map((step) => step.name);
    for (const [index, { on_done, on_fail, on_cancel }] of steps.entries()) {
      const path = ['pipelines', name, 'steps', index] as const;
      const check = (given: string | undefined, ...field: string[]): void => {
        if (given === undefined || known.includes(given)) return;
        const message = `pipeline ${name} has no step ${quote(given)}`;
        subject.reportUnknown('runbook/unknown-step', [...path, ...field], message, given, known);
      };
      check(on_done, 'on_done');
      check(typeof on_fail === 'object' ? on_fail.step : on_fail, 'on_fail', 'step');
      check(on_cancel, 'on_cancel');
    }
  }
}

function checkRunnable(run: RunnableValue, path: Path, subject: RunbookSubject): void {
  if (typeof run === 'string') return;
  const isAgent = 'agent' in run;
  const given = isAgent ? run.agent : run.pipeline;
  const known = subject.names(isAgent ? 'agents' : 'pipelines');
  if (known.includes(given) || (isAgent && isBuiltInAgent(given))) return;
  const code = isAgent ? 'runbook/unknown-agent' : 'runbook/unknown-pipeline';
  const kind = isAgent ? 'agent' : 'pipeline';
  subject.reportUnknown(code, [...path, kind], `there is no ${kind} ${quote(given)}`, given, known);
}

/** What the runbook can run, except workers that start workflows, since those run nothing themselves. */
export function runnablesOf({ value }: RunbookSubject): { readonly run: RunnableValue; readonly path: Path }[] {
  const steps = Object.entries(value.pipelines ?? {}).flatMap(([name, pipeline]) =>
    pipeline.steps.map(({ run }, index) => ({ run, path: ['pipelines', name, 'steps', index, 'run'] })),
  );
  const others = (['commands', 'workers'] as const).flatMap((section) =>
    Object.entries(value[section] ?? {}).flatMap(([name, { run }]) =>
      run === undefined || isWorkflowRun(run) ? [] : [{ run, path: [section, name, 'run'] }],
    ),
  );
  return [...steps, ...others];
}

export function isWorkflowRun(run: WorkerRunValue): run is Exclude<WorkerRunValue, RunnableValue> {
  return typeof run === 'object' && 'workflow' in run;
}

/**
 * Requires what a worker runs, unless it changes a built-in worker. Refuses options that a worker which makes workflows
 * ignores: it takes only tasks in no workflow, before review.
 */
export function checkWorkers(subject: RunbookSubject): void {
  for (const [name, { run, workflow, phases = [] }] of Object.entries(subject.value.workers ?? {})) {
    if (run === undefined) {
      if (!BUILT_IN_WORKERS.has(name)) reportNoRun(name, subject);
      continue;
    }
    if (!isWorkflowRun(run)) continue;
    if (workflow === true) {
      const message = `worker ${name} makes workflows, but takes only tasks of workflows`;
      const hint = 'Remove `workflow`: this worker takes tasks that are in no workflow.';
      subject.reportName('runbook/meaningless-option', ['workers', name, 'workflow'], message, hint);
    }
    for (const [index, phase] of phases.entries()) {
      if (phase === 'DRAFT' || phase === 'IMPLEMENTATION') continue;
      const message = `worker ${name} makes workflows, and a workflow does not begin in ${phase}`;
      const hint = 'A workflow begins in DRAFT or IMPLEMENTATION.';
      subject.report('runbook/meaningless-option', ['workers', name, 'phases', index], message, hint);
    }
  }
}

function reportNoRun(name: string, subject: RunbookSubject): void {
  const message = `Missing required field: workers.${name}.run`;
  const others = `Only the built-in workers may leave it out: ${[...BUILT_IN_WORKERS.keys()].join(', ')}.`;
  const hint = didYouMean(name, [...BUILT_IN_WORKERS.keys()]) ?? others;
  subject.reportName('missing-field', ['workers', name], message, hint);
}

/** Requires that `roles` fits the built-in workflow, and that every named role exists. */
export function checkRoles(subject: RunbookSubject): void {
  const workflow = parseDeclaredWorkflow(subject.value);
  if (!workflow.ok) {
    for (const { code, path, message, hint } of workflow.problems) {
      subject.report(code, declaredPath(path), message.replace(`${path}: `, ''), hint);
    }
    return;
  }
  const { roles } = workflow.value;
  const known = roles.map(({ name }) => name);
  const check = (given: string, path: Path): void => {
    if (known.includes(given)) return;
    const meant = roles.find(({ agent }) => agent === given)?.name;
    const hint = meant === undefined ? didYouMean(given, known) : `The role is called \`${meant}\`.`;
    const others = `There are: ${known.join(', ')}; more can be declared in \`roles\`.`;
    subject.report('runbook/unknown-role', path, `there is no role ${quote(given)}`, hint ?? others);
  };
  for (const [name, { role }] of Object.entries(subject.value.agents ?? {})) {
    if (role !== undefined) check(role, ['agents', name, 'role']);
  }
  for (const [name, { roles: wanted = [] }] of Object.entries(subject.value.workers ?? {})) {
    for (const [index, role] of wanted.entries()) check(role, ['workers', name, 'roles', index]);
  }
}

/** Maps a path: a declaration has the new roles in `roles`, a runbook in `roles.add`. */
function declaredPath(path: string): Path {
  const parts = [...path.matchAll(/\[(\d+)\]|[^.[\]]+/g)].map(([word, index]) =>
    index === undefined ? word : Number(index),
  );
  return ['roles', ...(parts[0] === 'roles' ? ['add', ...parts.slice(1)] : parts)];
}

/** Requires lists without repeated names, and a `renewal` that fits `claim_expiry`. */
export function checkLists(subject: RunbookSubject): void {
  const { ci, limits, pipelines = {} } = subject.value;
  const names = (ci?.required ?? []).map(({ name }) => name);
  reportRepeated(names, (index) => ['ci', 'required', index, 'name'], 'check', subject);
  for (const [name, { vars }] of Object.entries(pipelines)) {
    if (Array.isArray(vars)) reportRepeated(vars, (index) => ['pipelines', name, 'vars', index], 'variable', subject);
  }
  const { claimExpiryMs, renewalMs } = buildLimits(limits ?? {});
  if (renewalMs * 2 <= claimExpiryMs) return;
  const path = ['limits', limits?.renewal === undefined ? 'claim_expiry' : 'renewal'] as const;
  const message = 'a claim must live for at least two renewals';
  subject.report('invalid-value', path, message, 'Make `claim_expiry` longer, or `renewal` shorter.');
}

function reportRepeated(
  names: readonly unknown[],
  path: (index: number) => readonly (string | number)[],
  noun: string,
  subject: RunbookSubject,
): void {
  const seen = new Set<unknown>();
  for (const [index, name] of names.entries()) {
    if (seen.has(name))
      subject.report('runbook/defined-twice', path(index), `${noun} twice: ${String(name)}`, 'Keep one.');
    seen.add(name);
  }
}

/** Requires that callers of a pipeline set all required variables and no unknown ones. */
export function checkVariables(subject: RunbookSubject): void {
  for (const { run, path } of runnablesOf(subject)) {
    if (typeof run === 'string' || !('pipeline' in run)) continue;
    const pipelines = subject.value.pipelines ?? {};
    const pipeline = Object.hasOwn(pipelines, run.pipeline) ? pipelines[run.pipeline] : undefined;
    if (pipeline === undefined) continue;
    const declared = buildVariables(pipeline.vars);
    const known = Object.keys(declared);
    const given = Object.keys(run.vars ?? {});
    for (const name of given.filter((each) => !known.includes(each))) {
      const message = `pipeline ${run.pipeline} has no variable ${quote(name)}`;
      subject.reportUnknown('runbook/unknown-variable', [...path, 'vars', name], message, name, known);
    }
    const passed = new Set([...given, ...argumentsOf(path, subject)]);
    for (const name of known.filter((each) => declared[each] === null && !passed.has(each))) {
      const message = `pipeline ${run.pipeline} needs the variable ${name}`;
      const hint = `Give it: { pipeline = "${run.pipeline}", vars = { ${name} = "…" } }.`;
      subject.report('runbook/missing-variable', [...path, 'pipeline'], message, hint);
    }
  }
}

/** The arguments of a command, which are passed to variables of the same name. */
function argumentsOf([section, name]: Path, { value }: RunbookSubject): string[] {
  if (section !== 'commands') return [];
  const args = parseArgsDefinition(value.commands?.[String(name)]?.args ?? '');
  return 'what' in args ? [] : argumentNames(args);
}
