import type { WorkflowView } from '../../api/operations/workflow.ts';
import { runShell } from './run-shell.ts';
import type { RoleSession } from './session.ts';

const STAGES = ['install', 'build', 'smoke'] as const;

/** Prepares the worktree (dependencies, build, smoke test), then hands over to the implementer. */
export async function runPrep(session: RoleSession): Promise<void> {
  const task = await session.call('workflow_get', {});
  const cwd = task.workspace ?? process.cwd();
  const words: Record<(typeof STAGES)[number], string> = { install: 'none', build: 'none', smoke: 'none' };
  for (const stage of STAGES) {
    const command = task.commands[stage];
    if (command === undefined) continue;
    session.print(`${stage}: ${command}`);
    const port = task.port === null ? {} : { PORT: String(task.port) };
    const { passed, output } = await runShell(command, cwd, {
      purpose: stage === 'install' ? 'install' : 'check',
      env: port,
    });
    if (!passed) return fail(session, task, stage, command, output);
    words[stage] = DONE[stage];
  }
  await session.requireHandoffAndExit(
    {
      kind: 'handoff',
      from: 'prep-agent',
      to: 'implementer-agent',
      issue_url: task.addresses.issue_url,
      issue_number: task.addresses.issue_number,
      branch: task.branch ?? 'HEAD',
      workspace_path: cwd,
      workspace_type: task.workspace === null ? 'in-place' : 'worktree',
      ...(task.port === null ? {} : { port: task.port }),
      status: 'ready',
      validation: { dependencies: words.install, build: words.build, dev_server: words.smoke },
    },
    task,
    `the worktree is ready${task.branch === null ? '' : ` on ${task.branch}`}`,
  );
}

const DONE = { install: 'installed', build: 'passing', smoke: 'verified' } as const;

/** An installation needs the network and may succeed on a retry. A build that fails will fail again. */
async function fail(
  session: RoleSession,
  task: WorkflowView,
  stage: (typeof STAGES)[number],
  command: string,
  output: string,
): Promise<void> {
  await session.requireHandoffAndExit(
    {
      kind: 'handoff',
      from: 'prep-agent',
      to: 'orchestrator',
      issue_number: task.addresses.issue_number,
      status: 'failure',
      error: {
        type: ERRORS[stage],
        message: `${stage} failed: ${command}`,
        details: stripInvalidXml(output),
        recoverable: stage === 'install',
        suggested_action: `Run it in a worktree of the main branch: ${command}`,
      },
    },
    task,
    `${stage} failed`,
  );
}

const ERRORS = { install: 'DependencyError', build: 'BuildError', smoke: 'SmokeTestError' } as const;

/** Returns the end of a program's output, without characters that XML cannot hold. */
export function stripInvalidXml(text: string): string {
  return (
    text
      .toWellFormed()
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/\u001B\[[0-9;?]*[A-Za-z]/g, '')
      // oxlint-disable-next-line no-control-regex
      .replaceAll(/[\u0000-\u0008\u000B\u000C\u000D\u000E-\u001F\u007F\uFFFE\uFFFF]/g, '')
      .slice(-3000)
      .trim()
  );
}
