import type { RoleSession } from './session.ts';

/** Removes the worktree and the branch of a merged task, and ends the workflow with its figures. */
export async function runCloser(session: RoleSession): Promise<void> {
  const task = await session.call('workflow_get', {});
  const { issue_number, issue_url, pr_number, pr_url } = task.addresses;
  // The worktree is removed, so this process must not be in it.
  process.chdir('/');
  const closed = await session.call('workflow_close', {});
  for (const action of closed.actions) session.print(action);
  await session.requireHandoffAndExit(
    {
      kind: 'workflow-complete',
      issue_number,
      issue_url,
      pr_number,
      pr_url,
      status: 'completed',
      cycle_time: renderDuration(closed.cycle_ms),
      summary: task.title,
      metrics: {
        review_iterations: closed.review_iterations,
        total_commits: closed.commits,
        tests_added: closed.tests_added,
        coverage: 'not measured',
      },
      actions_taken: closed.actions,
    },
    task,
    'closed',
  );
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** Renders the two largest units: `2 days 4 hours`. */
export function renderDuration(ms: number): string {
  const first = UNITS.findIndex(([, size]) => ms >= size);
  if (first === -1) return 'less than a second';
  let rest = ms;
  const parts = UNITS.slice(first, first + 2).map(([name, size]) => {
    const count = Math.floor(rest / size);
    rest -= count * size;
    return count === 0 ? '' : `${count} ${name}${count === 1 ? '' : 's'}`;
  });
  return parts.filter((part) => part !== '').join(' ');
}
