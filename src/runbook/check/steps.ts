import type { Plan } from '../../protocol/run-plan.ts';
import { utf8Length } from '../../protocol/text/text-format.ts';
import type { StepValue } from '../build/build-pipeline.ts';
import { parseArgsDefinition } from '../command-args.ts';
import { planPipeline, plainPlan, PROMPTS_IN_FILES, sizeProblem, workerPlans } from '../plan.ts';
import { positionIn } from '../read/join-files.ts';
import type { Runbook } from '../runbook.ts';
import { RUNBOOK_LIMITS } from '../shape/fields.ts';
import type { Path, RunbookSubject } from './subject.ts';

/** Requires that step names are unique, every step is reachable, and the end is reachable from every step. */
export function checkSteps(subject: RunbookSubject): void {
  for (const [name, { steps }] of Object.entries(subject.value.pipelines ?? {})) {
    const ways = checkNames(name, steps, subject) ? stepSuccessors(steps) : undefined;
    // Checks the end only if all steps are reachable, because an unreachable step may be the cause.
    if (ways !== undefined && checkReach(name, steps, ways, subject)) checkEnd(name, steps, ways, subject);
    for (const [index, { on_fail }] of steps.entries()) {
      if (typeof on_fail !== 'object' || on_fail.cooldown === undefined || on_fail.retries !== undefined) continue;
      const path = ['pipelines', name, 'steps', index, 'on_fail', 'cooldown'] as const;
      const message = 'on_fail: cooldown has no effect without retries';
      subject.reportName('runbook/meaningless-option', path, message, 'Add `retries`, or remove it.');
    }
  }
}

function checkNames(pipeline: string, steps: readonly StepValue[], subject: RunbookSubject): boolean {
  const names = steps.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    const first = names.indexOf(name);
    if (first === index) continue;
    const place = subject.placeOf(['pipelines', pipeline, 'steps', first, 'name']);
    const { file, line, column } = positionIn(subject.files, place);
    const message = `pipeline ${pipeline} has two steps ${name}: first at ${file}:${line}:${column}`;
    const path = ['pipelines', pipeline, 'steps', index, 'name'];
    subject.report('runbook/defined-twice', path, message, 'Give one of the two another name.');
  }
  return new Set(names).size === names.length;
}

type Ways = readonly (readonly number[])[];

/**
 * The successors of each step: on_done (default: the next step), then on_fail and on_cancel. The end is the index after
 * the last step. Undefined if a name is unknown.
 */
function stepSuccessors(steps: readonly StepValue[]): Ways | undefined {
  const indexes = new Map(steps.map(({ name }, index) => [name, index]));
  const ways: number[][] = [];
  for (const [index, { on_done, on_fail, on_cancel }] of steps.entries()) {
    const named = [on_done, typeof on_fail === 'object' ? on_fail.step : on_fail, on_cancel];
    const targets = named.filter((name) => name !== undefined).map((name) => indexes.get(name));
    if (targets.includes(undefined)) return undefined;
    const known = targets.filter((target) => target !== undefined);
    ways.push(on_done === undefined ? [index + 1, ...known] : known);
  }
  return ways;
}

function checkReach(pipeline: string, steps: readonly StepValue[], ways: Ways, subject: RunbookSubject): boolean {
  const reached = follow(0, ways);
  for (const [index, { name }] of steps.entries()) {
    if (reached.has(index)) continue;
    const path = ['pipelines', pipeline, 'steps', index, 'name'] as const;
    const hint = 'Name it in on_done, on_fail or on_cancel of another step, or remove it.';
    subject.report('runbook/unreachable-step', path, `no step of pipeline ${pipeline} leads to ${name}`, hint);
  }
  return steps.every((_, index) => reached.has(index));
}

/** Requires an exit from every loop of steps. */
function checkEnd(pipeline: string, steps: readonly StepValue[], ways: Ways, subject: RunbookSubject): void {
  const lost = steps.findIndex((_, index) => !follow(index, ways).has(steps.length));
  if (lost === -1) return;
  const circle = [lost];
  for (let at = ways[lost]?.[0] ?? lost; ; at = ways[at]?.[0] ?? lost) {
    const last = circle.at(-1) ?? lost;
    circle.push(at);
    if (circle.indexOf(at) === circle.length - 1) continue;
    const path = ['pipelines', pipeline, 'steps', last, 'on_done'] as const;
    const names = circle.slice(circle.indexOf(at)).map((index) => steps[index]?.name);
    const message = `pipeline ${pipeline} never ends: ${names.join(' → ')}`;
    subject.report('runbook/endless-steps', path, message, 'Let a step of the loop lead out of it, to the last one.');
    return;
  }
}

function follow(from: number, ways: Ways): ReadonlySet<number> {
  const reached = new Set<number>();
  const next = [from];
  for (let index = next.pop(); index !== undefined; index = next.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    next.push(...(ways[index] ?? []));
  }
  return reached;
}

export function checkNesting(subject: RunbookSubject): void {
  const pipelines = new Map(Object.entries(subject.value.pipelines ?? {}));
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    if (done.has(name)) return;
    for (const [step, { run }] of pipelines.get(name)?.steps.entries() ?? []) {
      if (typeof run === 'string' || !('pipeline' in run)) continue;
      const circle = [...trail, name];
      const start = circle.indexOf(run.pipeline);
      const report = (what: string, from: number, hint: string): void => {
        const message = `pipelines ${what}: ${[...circle.slice(from), run.pipeline].join(' → ')}`;
        subject.report('runbook/endless-nesting', ['pipelines', name, 'steps', step, 'run', 'pipeline'], message, hint);
      };
      if (start !== -1)
        report('run each other endlessly', start, 'Break the loop: use `on_done` to go back to a step.');
      else if (circle.length < RUNBOOK_LIMITS.nesting) visit(run.pipeline, circle);
      else report(`nest deeper than ${RUNBOOK_LIMITS.nesting}`, 0, 'Make it flatter.');
    }
    done.add(name);
  };
  for (const name of pipelines.keys()) visit(name, []);
}

export function checkCommands(subject: RunbookSubject): void {
  for (const [name, { args }] of Object.entries(subject.value.commands ?? {})) {
    const read = parseArgsDefinition(args ?? '');
    if ('what' in read) subject.report('runbook/invalid-args', ['commands', name, 'args'], read.what, read.hint);
  }
}

/** Requires that every plan fits into a ledger entry. Values of variables are checked at the start of a run. */
export function checkPlans(runbook: Runbook, subject: RunbookSubject): void {
  const check = (plan: Plan, path: Path, name: string): void => {
    const found = sizeProblem(plan, {}, name);
    if (found !== undefined) subject.reportName(found.code, path, found.message, found.hint);
  };
  for (const [name, agent] of runbook.agents) check({ kind: 'agent', agent }, ['agents', name], name);
  for (const name of runbook.pipelines.keys()) check(planPipeline(runbook, name), ['pipelines', name], name);
  for (const [name, { run }] of runbook.commands) {
    if (run.kind === 'shell') check(plainPlan(runbook, run), ['commands', name], name);
  }
  // One entry records all workers.
  const bytes = utf8Length(JSON.stringify(workerPlans(runbook)));
  if (bytes > RUNBOOK_LIMITS.planBytes) {
    const message = `the plans of all workers are too large to be recorded: ${bytes} bytes > ${RUNBOOK_LIMITS.planBytes} bytes maximum`;
    subject.reportName('runbook/plan-too-large', ['workers'], message, PROMPTS_IN_FILES);
  }
}
