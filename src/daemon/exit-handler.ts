import { redactText } from '../ledger/redact.ts';
import { parseExitSignalIfEnabled } from '../protocol/exit-flag.ts';
import type { ExitSignal } from '../protocol/exit-signal-shape.ts';
import type { ExitAnswer } from '../state/exit-session.ts';
import { checkEvidence } from './check-evidence.ts';
import { answerOf, type Handler } from './handler.ts';
import { order } from './task-handlers.ts';

/** The exit signal: all thirteen checks of the specification, in its order, then the end of the session. */
export const exitHandler: Handler = async (call) => {
  const { input, project, services } = call;
  const parsed = parseExitSignalIfEnabled(input, undefined, services.exitProtocol);
  if (!parsed.ok) {
    const [{ code, message, hint }] = parsed.problems;
    return { ok: false, error: { code, message, hint } };
  }
  const signal = asKept(parsed.value);
  if (signal.evidence_bundle_ref !== undefined) {
    const error = await checkEvidence(project.path, signal.evidence_bundle_ref);
    if (error !== undefined) return { ok: false, error };
  }
  const command = {
    signal,
    eventId: services.newId(),
    at: services.now().toISOString(),
    committed: false,
    violations: [],
  };
  return answerOf(await order<ExitAnswer>(call, { kind: 'exit-session', command }), (answer) => answer);
};

/** As the ledger will have it: what is redacted there must be redacted here, or a repeat of the signal would look like another. */
function asKept(signal: ExitSignal): ExitSignal {
  const { notes, pr_url } = signal;
  return {
    ...signal,
    ...(notes === undefined ? {} : { notes: redactText(notes) }),
    ...(pr_url === undefined ? {} : { pr_url: redactText(pr_url) }),
  };
}
