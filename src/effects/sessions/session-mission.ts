import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { SESSION_FOLDER } from '../../git/worktree/hide-worktrees.ts';
import type { Mission } from '../../protocol/mission.ts';
import type { AgentPlan } from '../../protocol/run-plan.ts';
import type { SessionLimits } from '../../runbook/runbook.ts';
import { missionIds, type Task } from '../../state/tasks/task.ts';

export const MISSION_FILE = `${SESSION_FOLDER}/mission.yaml`;
export const TASK_FILE = `${SESSION_FOLDER}/task.md`;
export const EPIC_FILE = `${SESSION_FOLDER}/epic.md`;

export interface MissionFacts {
  readonly task: Task;
  readonly role: string | null;
  readonly workspace: string;
  readonly limits: SessionLimits;
  readonly plan: Pick<AgentPlan, 'timeout_ms'>;
}

/** What a session is asked to do. Its paths are relative to the workspace; its constraints are measured at the end. */
export function buildMission({ task, role, workspace, limits, plan }: MissionFacts): Mission {
  const { taskId: task_id, epicId: epic_id, prdId: prd_id } = missionIds(task);
  const { maxFiles: max_files, noGitCommit, noNewDeps } = limits;
  const constraints = {
    ...(max_files === undefined ? {} : { max_files }),
    ...(noGitCommit ? { no_git_commit: true } : {}),
    ...(noNewDeps ? { no_new_deps: true } : {}),
  };
  const isThere = (name: string): boolean => existsSync(join(workspace, name));
  return {
    version: '1',
    task_id,
    epic_id,
    prd_id,
    instruction: role === null ? task.title : `${task.title} (your role: ${role})`,
    context: {
      ...(isThere('DEV.md') ? { dev_md: 'DEV.md' } : {}),
      epic_file: EPIC_FILE,
      task_file: TASK_FILE,
      ...(isThere('TOOLSET.md') ? { toolset: 'TOOLSET.md' } : {}),
    },
    ...(Object.keys(constraints).length === 0 ? {} : { constraints }),
    ...(plan.timeout_ms === undefined ? {} : { timeout: Math.ceil(plan.timeout_ms / 1000) }),
  };
}
