import { canMatchCalls } from '../../agents/capabilities/clients.ts';
import { isBuiltInRole, isJudging, type Judge } from '../../protocol/handoff/judge.ts';
import { type AgentRun, isAttached } from '../../state/runs/agent-run.ts';
import type { Task } from '../../state/tasks/task.ts';
import type { SessionSettings } from '../context.ts';

/**
 * Whether the calls of a judging session can be matched with the output of its client. Undefined if the session does not
 * judge, or is a built-in role, which is trusted and needs no record.
 */
export function judgeClient(
  run: AgentRun,
  { phase, claim }: Pick<Task, 'phase' | 'claim'>,
  { workflow }: Pick<SessionSettings, 'workflow'>,
): Pick<Judge, 'stream'> | undefined {
  if (isBuiltInRole(run.plan) || !isJudging({ phase, role: claim?.role ?? null }, workflow)) return undefined;
  // In a person's terminal the client prints no stream.
  return { stream: canMatchCalls(run.plan.run) && !isAttached(run) };
}
