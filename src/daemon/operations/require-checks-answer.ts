import type { Answer, ApiError } from '../../api/answer.ts';
import { describeChecks } from '../../runbook/describe-checks.ts';
import type { Runbook } from '../../runbook/runbook.ts';
import { actorOf } from '../../state/caller.ts';
import { findChecksDeclined } from '../../state/workflow/decline-checks.ts';
import type { Call } from './call.ts';
import { answerFor } from './handler.ts';
import { submitCommand } from './tasks.ts';

/**
 * A workflow ends with a merge, so it starts only if it is decided what is checked before that: by `ci.required`, which may be empty, or by
 * the recorded answer of an operator. Returns the refusal; undefined if it may start.
 */
export async function requireChecksAnswer(
  call: Call<{ readonly accept_no_checks?: boolean }>,
  runbook: Runbook,
): Promise<Extract<Answer, { ok: false }> | undefined> {
  if (runbook.ci.isSet) return undefined;
  const declined = await isDeclined(call);
  if (!declined.ok) return declined;
  if (declined.result) return undefined;
  if (call.input.accept_no_checks !== true) return { ok: false, error: NO_CHECKS };
  const command = { by: actorOf(call.caller) };
  // It is a command of its own: it must not use up the key of the run.
  const { key: _, ...keyless } = call;
  const recorded = answerFor(await submitCommand(keyless, { kind: 'decline-checks', command }), () => null);
  return recorded.ok ? undefined : recorded;
}

/** Whether an operator answered that nothing is checked. */
export async function isDeclined({ project }: Pick<Call, 'project'>): Promise<Answer<boolean>> {
  return answerFor(await project.commandLoop.read(({ state }) => findChecksDeclined(state) !== undefined), (is) => is);
}

const NO_CHECKS: ApiError = {
  code: 'no-checks',
  message: describeChecks('unanswered'),
  hint: 'List the checks as [[ci.required]] in baton.toml, or write ci.required = [] there to merge without any.',
};
