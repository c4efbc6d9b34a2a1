import type { WorkflowView } from '../../api/operations/workflow.ts';
import { stripInvalidXml } from './prep.ts';
import { runShell, type ShellEnd } from './run-shell.ts';
import type { ExitRefusal, RoleSession } from './session.ts';

type Validated = ShellEnd & { readonly name: string };

/** Runs the project's checks. If they pass, requests the merge and hands over to the closer; if not, to the fixer. */
export async function runValidator(session: RoleSession): Promise<void> {
  const task = await session.call('workflow_get', {});
  const cwd = task.workspace ?? process.cwd();
  const ends: Validated[] = [];
  for (const { name, run, timeoutMs } of task.commands.validate) {
    session.print(`${name}: ${run}`);
    const end = await runShell(run, cwd, { purpose: 'check', timeoutMs });
    session.print(`${name}: ${end.passed ? 'passed' : 'failed'}`);
    ends.push({ name, ...end });
  }
  const failed = ends.filter(({ passed }) => !passed);
  if (failed.length > 0)
    return sendBack(
      session,
      task,
      failed.map(({ name, output }) => ({ type: name, text: output })),
    );
  const refused = await session.sendHandoffAndExit(
    {
      kind: 'handoff',
      from: 'validator-agent',
      to: 'closer-agent',
      ...pullRequest(task),
      validation_summary: summarize(task, ends),
    },
    task,
    'validated',
  );
  if (refused !== undefined) await sendBack(session, task, [{ type: typeOf(refused), text: refused.message }]);
}

/** The fixer gets only refusals that it can fix. Any other one needs a person. */
function typeOf({ code, message }: ExitRefusal): string {
  if (code === 'approval-void') return 'approval';
  if (code === 'writeback-required') return 'writeback';
  throw new Error(`the exit was refused: ${message}`);
}

async function sendBack(
  session: RoleSession,
  task: WorkflowView,
  failures: readonly { readonly type: string; readonly text: string }[],
): Promise<void> {
  const listed = failures.map(({ type, text }) => ({ type, text: stripInvalidXml(text) || 'no output' }));
  await session.requireHandoffAndExit(
    {
      kind: 'handoff',
      from: 'validator-agent',
      to: 'fixer-agent',
      ...pullRequest(task),
      validation_status: 'failed',
      failures: listed,
    },
    task,
    `failed: ${failures.map(({ type }) => type).join(', ')}`,
  );
}

function pullRequest({ addresses: { pr_url, pr_number, issue_number } }: WorkflowView) {
  return { pr_url, pr_number, issue_number };
}

const SUMMARY_PATTERNS = {
  tests: /test|unit|spec/i,
  coverage: /cover/i,
  lint: /lint|format|style/i,
  type_check: /type/i,
  security: /secur|audit|vuln/i,
} as const;

/**
 * Sums up, for each field, the checks whose names match it: those that ran here and those that CI ran on this commit.
 */
function summarize({ checks }: WorkflowView, ends: readonly Validated[]) {
  const reported = checks?.checks ?? [];
  const ran = [...ends, ...reported.map(({ name, outcome }) => ({ name, passed: outcome === 'passed', output: '' }))];
  const word = (pattern: RegExp): string => {
    const fitting = ran.filter(({ name }) => pattern.test(name));
    return fitting.length === 0 ? 'not configured' : fitting.every(({ passed }) => passed) ? 'passed' : 'not passed';
  };
  const { output = '' } = ends.find(({ name }) => SUMMARY_PATTERNS.coverage.test(name)) ?? {};
  const percent = [...output.matchAll(/\b\d{1,3}(?:\.\d+)?\s?%/g)].at(-1)?.[0];
  return {
    tests: word(SUMMARY_PATTERNS.tests),
    coverage: percent ?? word(SUMMARY_PATTERNS.coverage),
    lint: word(SUMMARY_PATTERNS.lint),
    type_check: word(SUMMARY_PATTERNS.type_check),
    security: word(SUMMARY_PATTERNS.security),
  };
}
