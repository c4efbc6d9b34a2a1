import { RUNBOOK_LIMITS } from '../shape/limits.ts';
import type { RunbookSubject } from './subject.ts';

interface PipelineCall {
  readonly to: string;
  readonly step: number;
}

/** No pipeline runs itself, however many others are between. */
export function checkNesting(subject: RunbookSubject): void {
  const ways = new Map(
    Object.entries(subject.value.pipelines ?? {}).map(([name, { steps }]) => [name, pipelineCalls(steps)]),
  );
  const done = new Set<string>();
  const visit = (name: string, trail: readonly string[]): void => {
    if (done.has(name)) return;
    for (const { to, step } of ways.get(name) ?? []) {
      const circle = [...trail, name];
      const start = circle.indexOf(to);
      if (start !== -1) {
        const path = ['pipelines', name, 'steps', step, 'run', 'pipeline'] as const;
        const message = `pipelines nest each other without end: ${[...circle.slice(start), to].join(' → ')}`;
        subject.report(
          'runbook/endless-nesting',
          path,
          message,
          'Break the circle: a step that goes back is `on_done`.',
        );
      } else if (circle.length < RUNBOOK_LIMITS.nesting) {
        visit(to, circle);
      } else {
        const path = ['pipelines', name, 'steps', step, 'run', 'pipeline'] as const;
        const message = `pipelines nest deeper than ${RUNBOOK_LIMITS.nesting}: ${[...circle, to].join(' → ')}`;
        subject.report('runbook/endless-nesting', path, message, 'Make it flatter.');
      }
    }
    done.add(name);
  };
  for (const name of ways.keys()) visit(name, []);
}

function pipelineCalls(steps: readonly { readonly run: unknown }[]): PipelineCall[] {
  return steps.flatMap(({ run }, step) =>
    typeof run === 'object' && run !== null && 'pipeline' in run && typeof run.pipeline === 'string'
      ? [{ to: run.pipeline, step }]
      : [],
  );
}
