import { quote } from '../../protocol/shape/quote.ts';
import type { RunnableValue } from '../shape/runbook-shape.ts';
import type { Path, RunbookSubject } from './subject.ts';

/** Every agent, pipeline and step that something names is there. */
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
  if (known.includes(given)) return;
  const code = isAgent ? 'runbook/unknown-agent' : 'runbook/unknown-pipeline';
  const kind = isAgent ? 'agent' : 'pipeline';
  subject.reportUnknown(code, [...path, kind], `there is no ${kind} ${quote(given)}`, given, known);
}

/** Everything that runs something, with the way to its `run`. */
export function runnablesOf({ value }: RunbookSubject): { readonly run: RunnableValue; readonly path: Path }[] {
  const steps = Object.entries(value.pipelines ?? {}).flatMap(([name, pipeline]) =>
    pipeline.steps.map(({ run }, index) => ({ run, path: ['pipelines', name, 'steps', index, 'run'] })),
  );
  const commands = Object.entries(value.commands ?? {}).map(([name, { run }]) => ({
    run,
    path: ['commands', name, 'run'],
  }));
  const workers = Object.entries(value.workers ?? {}).map(([name, { run }]) => ({
    run,
    path: ['workers', name, 'run'],
  }));
  return [...steps, ...commands, ...workers];
}
