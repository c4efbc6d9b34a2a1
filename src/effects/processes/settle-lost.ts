import { existsSync, mkdirSync } from 'node:fs';
import { writeFileAtomically } from '../../api/files.ts';
import { syncPrivateGit } from '../../git/private/sync.ts';
import type { Exit } from '../../protocol/agent-report.ts';
import { containerName, endContainer } from '../../sandbox/container/end-container.ts';
import { endLostUser } from '../../sandbox/user/open-as-user.ts';
import { type Launch, requireLaunch, sandboxId } from '../../supervisor/contract.ts';
import {
  findProcessesByArguments,
  killProcess,
  killRemains,
  readExit,
  readRunning,
  type SupervisedFiles,
} from './supervised.ts';

export interface LostRun {
  readonly files: SupervisedFiles;
  readonly start: number;
  readonly mark: { readonly name: string; readonly value: string };
}

export function agentMark(agentId: string): LostRun['mark'] {
  return { name: 'BATON_AGENT_ID', value: agentId };
}

export function commandMark(commandId: string): LostRun['mark'] {
  return { name: 'BATON_COMMAND_ID', value: commandId };
}

/** Ends the rest of a run whose supervisor is lost, and writes its exit file unless the supervisor wrote one. */
export async function endLostRun({ files, start, mark }: LostRun): Promise<Exit> {
  const before = readExit(files, start);
  if (before !== undefined) return before;
  const running = readRunning(files, start);
  const supervisors = running === undefined ? findProcessesByArguments(files.folder, String(start)) : [];
  for (const pid of supervisors) killProcess(pid);
  const leaders = running === undefined ? [] : [running.supervisor, running.process];
  const isGone = await killRemains({ mark, leaders, isSettled: () => readExit(files, start) !== undefined });
  const reported = readExit(files, start);
  if (reported !== undefined) return reported;
  await endSandbox(files.launch(start), mark);
  const output = isGone ? null : 'some of its processes could not be ended';
  const exit: Exit = { start, code: null, signal: 'SIGKILL', timed_out: false, blocks_used: false, output };
  mkdirSync(files.folder, { recursive: true, mode: 0o700 });
  if (!existsSync(files.exit(start))) writeFileAtomically(files.exit(start), `${JSON.stringify(exit)}\n`);
  return exit;
}

/**
 * Ends the container, and copies the session's last commits to the repository, if the supervisor was killed before it
 * could. The container survives only if its guard was killed too.
 */
async function endSandbox(launchPath: string, mark: LostRun['mark']): Promise<void> {
  const launch = findLaunch(launchPath);
  if (launch?.sandbox === undefined) return;
  const { container, git } = launch.sandbox;
  if (container !== null) await endContainer(container.engine, containerName(sandboxId(launch)));
  await endLostUser(launch.sandbox, sandboxId(launch), `${mark.name}=${mark.value}`);
  // If that fails, the commits stay in the private folder, where the next session of the worktree finds them.
  if (git !== null) await syncPrivateGit(git);
}

function findLaunch(path: string): Launch | undefined {
  try {
    return requireLaunch(path);
  } catch {
    return undefined;
  }
}
