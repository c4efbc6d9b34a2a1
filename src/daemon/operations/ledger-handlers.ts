import * as operations from '../../api/operations/writeback.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { nodeVerifier } from '../../ledger/writer/node-crypto.ts';
import { findLastSeal, sealLedger, type Seal } from '../../ledger/writer/seal.ts';
import { verifyLedger } from '../../ledger/verify/verify-ledger.ts';
import { actorOf } from '../../state/caller.ts';
import { answerFor, handlerFor, type OperationHandler } from './handler.ts';
import { submitCommand } from './tasks.ts';

export const LEDGER_HANDLERS: Readonly<Record<string, OperationHandler>> = {
  audit_session_start: handlerFor(operations.auditSessionStart, async (call) => {
    const command = { auditId: call.services.newId(), taskId: call.input.task_id ?? null };
    const settled = await submitCommand<{ auditId: string }>(call, { kind: 'start-audit', command });
    return answerFor(settled, ({ auditId }) => ({ audit_id: auditId }));
  }),

  audit_verify_chain: handlerFor(operations.auditVerifyChain, async (call) => {
    const { project, input } = call;
    await project.commandLoop.whenIdle();
    const verified = await verifyLedger(project.ledger.store, { project: project.id, verifier: nodeVerifier });
    if (!verified.ok) {
      const [{ problem }] = verified.findings;
      return { ok: false, error: { code: 'not-verified', message: problem.message, hint: problem.hint } };
    }
    const result = { size: verified.size, root: toHex(verified.root) };
    if (input.audit_id === undefined) return { ok: true, result };
    const settled = await submitCommand(call, {
      kind: 'verify-audit',
      command: { auditId: input.audit_id, ...result },
    });
    return answerFor(settled, () => result);
  }),

  merkle_finalize: handlerFor(operations.merkleFinalize, async (call) => {
    const allowed = await submitCommand<null>(call, { kind: 'seal', command: null });
    if (!allowed.ok) return answerFor(allowed, () => null);
    const sealed = await sealLedger(call.project.ledger, actorOf(call.caller));
    if (sealed.ok) return { ok: true, result: { ...sealView(sealed.seal), is_new: sealed.isNew } };
    const { code, message, hint } = sealed.problem;
    return { ok: false, error: { code, message, hint } };
  }),

  merkle_root: handlerFor(operations.merkleRoot, async ({ project }) => {
    const seal = await findLastSeal(project.ledger.store, project.ledger.head.size);
    if (seal !== undefined) return { ok: true, result: sealView(seal) };
    return {
      ok: false,
      error: { code: 'no-seal', message: 'nothing has been sealed yet', hint: 'Call merkle_finalize.' },
    };
  }),

  ledger_head: handlerFor(operations.ledgerHead, async ({ project }) => {
    await project.commandLoop.whenIdle();
    const { size, hash } = project.ledger.head;
    return { ok: true, result: { size, hash: toHex(hash) } };
  }),
};

function sealView({ seq, at, size, root, checkpoint }: Seal) {
  return { seq, at, size, root, checkpoint };
}
