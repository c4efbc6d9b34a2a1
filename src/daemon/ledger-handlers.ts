import * as operations from '../api/writeback-operations.ts';
import { toHex } from '../ledger/hex.ts';
import { nodeVerifier } from '../ledger/node-crypto.ts';
import { findLastSeal, sealLedger, type Seal } from '../ledger/seal.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { actorOf } from '../state/caller.ts';
import { answerOf, handle, type Handler } from './handler.ts';
import { order } from './task-handlers.ts';

export const LEDGER_HANDLERS: Readonly<Record<string, Handler>> = {
  audit_session_start: handle(operations.auditSessionStart, async (call) => {
    const command = { auditId: call.services.newId(), taskId: call.input.task_id ?? null };
    const settled = await order<{ auditId: string }>(call, { kind: 'start-audit', command });
    return answerOf(settled, ({ auditId }) => ({ audit_id: auditId }));
  }),

  audit_verify_chain: handle(operations.auditVerifyChain, async (call) => {
    const { project, input } = call;
    await project.keeper.idle();
    const verified = await verifyLedger(project.ledger.store, { project: project.id, verifier: nodeVerifier });
    if (!verified.ok) {
      const [{ problem }] = verified.findings;
      return { ok: false, error: { code: 'not-verified', message: problem.message, hint: problem.hint } };
    }
    const result = { size: verified.size, root: toHex(verified.root) };
    if (input.audit_id === undefined) return { ok: true, result };
    const settled = await order(call, { kind: 'verify-audit', command: { auditId: input.audit_id, ...result } });
    return answerOf(settled, () => result);
  }),

  merkle_finalize: handle(operations.merkleFinalize, async (call) => {
    const allowed = await order<null>(call, { kind: 'seal', command: null });
    if (!allowed.ok) return answerOf(allowed, () => null);
    const sealed = await sealLedger(call.project.ledger, actorOf(call.caller));
    if (sealed.ok) return { ok: true, result: { ...show(sealed.seal), is_new: sealed.isNew } };
    const { code, message, hint } = sealed.problem;
    return { ok: false, error: { code, message, hint } };
  }),

  merkle_root: handle(operations.merkleRoot, async ({ project }) => {
    const seal = await findLastSeal(project.ledger.store, project.ledger.head.size);
    if (seal !== undefined) return { ok: true, result: show(seal) };
    return {
      ok: false,
      error: { code: 'no-seal', message: 'nothing has been sealed yet', hint: 'Call merkle_finalize.' },
    };
  }),

  ledger_head: handle(operations.ledgerHead, async ({ project }) => {
    await project.keeper.idle();
    const { size, hash } = project.ledger.head;
    return { ok: true, result: { size, hash: toHex(hash) } };
  }),
};

function show({ seq, at, size, root, checkpoint }: Seal) {
  return { seq, at, size, root, checkpoint };
}
