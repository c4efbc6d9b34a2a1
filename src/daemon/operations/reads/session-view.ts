import { type SessionAccountView, sessionViewRead } from '../../../api/operations/task-view.ts';
import { renderSandbox } from '../../../protocol/sandbox.ts';
import { refusal } from '../../../state/outcome.ts';
import { listClaimedFacts } from '../../../state/packet/claimed-facts.ts';
import { describeSaid } from '../../../state/packet/describe-said.ts';
import { listAccounts, type SessionAccount } from '../../../state/packet/session-account.ts';
import { refuseUnknownTask } from '../../../state/tasks/create-task.ts';
import { handlerFor, refusalOf } from '../call.ts';
import { readTaskHistory } from './task-history.ts';

/** Reads the ledger, because the state keeps only what decisions need. */
export const sessionViewHandler = handlerFor(sessionViewRead, async ({ project, input: { task_id, epoch } }) => {
  await project.commandLoop.whenIdle();
  const agentIds = project.read(({ tasks, agents }) =>
    tasks.has(task_id)
      ? [...agents.values()].filter(({ task }) => task?.task_id === task_id && task.epoch === epoch).map(({ id }) => id)
      : undefined,
  );
  if (agentIds === undefined) return refusalOf(refuseUnknownTask(task_id));
  const history = await readTaskHistory(project.ledger, {
    taskId: task_id,
    agentIds,
    isFirst: ({ type, data }) => type === 'TaskClaimed' && data.task_id === task_id && data.epoch === epoch,
  });
  const account = listAccounts(history).find((each) => each.epoch === epoch);
  if (account !== undefined) return { ok: true, result: accountView(task_id, account) };
  const message = `task ${task_id} has had no claim ${epoch}`;
  return refusalOf(refusal('no-such-session', message, `See its claims: baton task show ${task_id}`));
});

function accountView(task_id: string, account: SessionAccount): SessionAccountView {
  const { epoch, sessionId: session_id, holder, principal, role, agentIds: agent_ids, end, measured } = account;
  return {
    task_id,
    epoch,
    session_id,
    holder,
    principal,
    role,
    agent_ids,
    started_at: account.startedAt,
    ended_at: end?.at ?? null,
    how: end?.how ?? null,
    reason: end?.reason ?? null,
    asked: { mission: account.mission, prompt: account.prompt },
    said: account.said.flatMap((recorded) => {
      const described = describeSaid(recorded);
      return described === undefined ? [] : [{ ...described, entry: recorded.seq, at: recorded.at }];
    }),
    measured: measured && measuredView(measured),
    claims: listClaimedFacts(account),
    messages: account.messages.map(({ seq, isDelivered, ...message }) => ({
      ...message,
      entry: seq,
      delivered: isDelivered,
    })),
    blocks: account.blocks.map(({ seq, at, owed }) => ({ entry: seq, at, owed })),
    checks: account.checks.map(({ name, outcome, exit_code, output, sandbox }) => ({
      name,
      outcome,
      exit_code,
      output: outcome === 'passed' ? null : output,
      sandbox: sandbox === undefined ? null : renderSandbox(sandbox),
    })),
  };
}

function measuredView(measured: NonNullable<SessionAccount['measured']>): SessionAccountView['measured'] {
  const { base, head, commits, file_count, files, new_dependencies, violations } = measured;
  return { base, head, commits, file_count, files, new_dependencies, violations };
}
