import { parseExitSignalIfEnabled } from '../protocol/exit-flag.ts';
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
  const signal = parsed.value;
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
