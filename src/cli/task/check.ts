import type { TaskCheck } from '../../api/operations/task-work.ts';
import { MOST_CHECK_MS } from '../../protocol/handoff/judge.ts';
import { EXIT } from '../command.ts';
import { operationCommand } from '../operation-command.ts';
import { printable, printableLines } from '../text.ts';

export const taskCheckCommand = operationCommand({
  examples: ['baton task check', 'baton task check test'],
  args: [{ name: 'CHECK', about: 'Only this check', optional: true }],
  operation: 'task_check',
  input: ({ args }) => ({ value: { wait_ms: MOST_CHECK_MS, ...(args.length === 0 ? {} : { names: args }) } }),
  exitCode: ({ checks, not_run: notRun }) =>
    notRun.length === 0 && checks.every(({ passed }) => passed) ? EXIT.ok : EXIT.failed,
  show: renderTaskCheck,
});

function renderTaskCheck({ head, checks, not_run: notRun }: TaskCheck): string {
  const lines = checks.flatMap(({ name, passed, exit_code, timed_out, duration_ms, output }) => {
    const how = passed ? 'passed' : timed_out ? 'timed out' : `failed with ${exit_code ?? 'a signal'}`;
    const heading = `${printable(name)}: ${how}, ${(duration_ms / 1000).toFixed(1)} s`;
    return passed || output === null ? [heading] : [heading, printableLines(output.trimEnd())];
  });
  const left = notRun.length === 0 ? [] : [`Not run: ${notRun.map(printable).join(', ')}`];
  return [`Checks of ${head}`, ...lines, ...left].map((line) => `${line}\n`).join('');
}
