import type { StepValue } from '../build-pipeline.ts';
import type { Subject } from '../subject.ts';
import { placeIn } from '../join-files.ts';

/** Each step has a name of its own, and some way leads to it. */
export function checkSteps(subject: Subject): void {
  for (const [name, { steps }] of Object.entries(subject.value.pipelines ?? {})) {
    if (checkNames(name, steps, subject)) checkReach(name, steps, subject);
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

function checkNames(pipeline: string, steps: readonly StepValue[], subject: Subject): boolean {
  const seen = new Map<string, number>();
  let isUnique = true;
  for (const [index, { name }] of steps.entries()) {
    const path = ['pipelines', pipeline, 'steps', index, 'name'] as const;
    const first = seen.get(name);
    seen.set(name, first ?? index);
    if (first === undefined) continue;
    isUnique = false;
    const { file, line, column } = placeIn(
      subject.files,
      subject.placeOf(['pipelines', pipeline, 'steps', first, 'name']),
    );
    const message = `pipeline ${pipeline} has two steps ${name}: first at ${file}:${line}:${column}`;
    subject.report('runbook/defined-twice', path, message, 'Give one of the two another name.');
  }
  return isUnique;
}

/**
 * From the first step along every way: done (the step below, where nothing else is said), fail, cancel. Where a way leads nowhere, nobody
 * knows what it should have reached.
 */
function checkReach(pipeline: string, steps: readonly StepValue[], subject: Subject): void {
  const indexes = new Map(steps.map(({ name }, index) => [name, index]));
  const reached = new Set<number>();
  const next: number[] = [0];
  for (let index = next.pop(); index !== undefined; index = next.pop()) {
    const step = steps[index];
    if (step === undefined || reached.has(index)) continue;
    reached.add(index);
    const { on_done, on_fail, on_cancel } = step;
    if (on_done === undefined) next.push(index + 1);
    for (const name of [on_done, typeof on_fail === 'object' ? on_fail.step : on_fail, on_cancel]) {
      const target = name === undefined ? undefined : indexes.get(name);
      if (name !== undefined && target === undefined) return;
      if (target !== undefined) next.push(target);
    }
  }
  for (const [index, { name }] of steps.entries()) {
    if (reached.has(index)) continue;
    const path = ['pipelines', pipeline, 'steps', index, 'name'] as const;
    const hint = 'Name it in on_done, on_fail or on_cancel of another step, or remove it.';
    subject.report('runbook/unreachable-step', path, `no step of pipeline ${pipeline} leads to ${name}`, hint);
  }
}
