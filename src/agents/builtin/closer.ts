import type { RoleSession } from './session.ts';

/** Clears away what the work leaves behind, and ends the workflow with what was measured on its way. */
export async function runCloser(session: RoleSession): Promise<void> {
  const facts = await session.readTask();
  // The worktree goes; whoever stands in it would stand nowhere.
  process.chdir('/');
  const closed = (await session.call('workflow_close', {})) as Closed; // oxlint-disable-line typescript/no-unsafe-type-assertion
  for (const action of closed.actions) session.print(action);
  await session.requireHandoffAndExit(
    {
      kind: 'workflow-complete',
      issue_number: facts.issue_number,
      issue_url: facts.issue_url,
      pr_number: facts.pr_number,
      pr_url: facts.pr_url,
      status: 'completed',
      cycle_time: renderDuration(closed.cycle_ms),
      summary: facts.title,
      metrics: {
        review_iterations: closed.review_iterations,
        total_commits: closed.commits,
        tests_added: closed.tests_added,
        coverage: 'not measured',
      },
      actions_taken: closed.actions,
    },
    facts,
    'closed',
  );
}

interface Closed {
  readonly cycle_ms: number;
  readonly review_iterations: number;
  readonly commits: number;
  readonly tests_added: number;
  readonly actions: readonly string[];
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** The two largest units: `2 days 4 hours`. */
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
