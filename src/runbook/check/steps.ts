import type { StepValue } from '../build/build-pipeline.ts';
import type { RunbookSubject } from './subject.ts';
import { positionIn } from '../read/join-files.ts';

/** Each step has a name of its own, some way leads to it, and some way leads on to the end. */
export function checkSteps(subject: RunbookSubject): void {
  for (const [name, { steps }] of Object.entries(subject.value.pipelines ?? {})) {
    if (checkNames(name, steps, subject)) checkSuccessors(name, steps, subject);
    for (const [index, { on_fail }] of steps.entries()) {
      if (typeof on_fail !== 'object' || on_fail.cooldown === undefined || on_fail.retries !== undefined) continue;
      const path = ['pipelines', name, 'steps', index, 'on_fail', 'cooldown'] as const;
      const message = 'on_fail: cooldown means nothing without retries';
      subject.report(
        'runbook/meaningless-option',
        path,
        message,
        'Add `retries`, or remove it.',
        subject.placeOfName(path),
      );
    }
  }
}

function checkNames(pipeline: string, steps: readonly StepValue[], subject: RunbookSubject): boolean {
  const seen = new Map<string, number>();
  let isUnique = true;
  for (const [index, { name }] of steps.entries()) {
    const path = ['pipelines', pipeline, 'steps', index, 'name'] as const;
    const first = seen.get(name);
    seen.set(name, first ?? index);
    if (first === undefined) continue;
    isUnique = false;
    const { file, line, column } = positionIn(
      subject.files,
      subject.placeOf(['pipelines', pipeline, 'steps', first, 'name']),
    );
    const message = `pipeline ${pipeline} has two steps ${name}: first at ${file}:${line}:${column}`;
    subject.report('runbook/defined-twice', path, message, 'Give one of the two another name.');
  }
  return isUnique;
}

function checkSuccessors(pipeline: string, steps: readonly StepValue[], subject: RunbookSubject): void {
  const ways = stepSuccessors(steps);
  // Where a way leads nowhere, nobody knows what it should have reached. A step that none leads to is reason enough why there is no end.
  if (ways !== undefined && checkReach(pipeline, steps, ways, subject)) checkEnd(pipeline, steps, ways, subject);
}

/** Where each step can lead: done (the step below, where nothing else is said) first, then fail and cancel. The end is behind the last. */
function stepSuccessors(steps: readonly StepValue[]): readonly (readonly number[])[] | undefined {
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

function checkReach(
  pipeline: string,
  steps: readonly StepValue[],
  ways: readonly (readonly number[])[],
  subject: RunbookSubject,
): boolean {
  const reached = follow(0, ways);
  for (const [index, { name }] of steps.entries()) {
    if (reached.has(index)) continue;
    const path = ['pipelines', pipeline, 'steps', index, 'name'] as const;
    const hint = 'Name it in on_done, on_fail or on_cancel of another step, or remove it.';
    subject.report('runbook/unreachable-step', path, `no step of pipeline ${pipeline} leads to ${name}`, hint);
  }
  return steps.every((_, index) => reached.has(index));
}

/** Steps may go round in circles, as long as something leads out of them: otherwise the pipeline could only fail. */
function checkEnd(
  pipeline: string,
  steps: readonly StepValue[],
  ways: readonly (readonly number[])[],
  subject: RunbookSubject,
): void {
  const lost = steps.findIndex((_, index) => !follow(index, ways).has(steps.length));
  if (lost === -1) return;
  const circle = [lost];
  for (let at = ways[lost]?.[0] ?? lost; ; at = ways[at]?.[0] ?? lost) {
    const last = circle.at(-1) ?? lost;
    circle.push(at);
    if (circle.indexOf(at) === circle.length - 1) continue;
    const path = ['pipelines', pipeline, 'steps', last, 'on_done'] as const;
    const names = circle.slice(circle.indexOf(at)).map((index) => steps[index]?.name);
    const message = `pipeline ${pipeline} never comes to its end: ${names.join(' → ')}`;
    subject.report('runbook/endless-steps', path, message, 'Let a step of the circle lead out of it, to the last one.');
    return;
  }
}

/** Every step that can follow, this one included. */
function follow(from: number, ways: readonly (readonly number[])[]): ReadonlySet<number> {
  const reached = new Set<number>();
  const next = [from];
  for (let index = next.pop(); index !== undefined; index = next.pop()) {
    if (reached.has(index)) continue;
    reached.add(index);
    next.push(...(ways[index] ?? []));
  }
  return reached;
}
