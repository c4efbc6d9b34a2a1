import type { ApiError } from '../../api/answer.ts';
import type { Operation } from '../../api/operations/operation.ts';
import * as operations from '../../api/operations/writeback.ts';
import { toHex } from '../../ledger/format/bytes.ts';
import { parseEntry } from '../../ledger/format/entry.ts';
import { verifyLedger } from '../../ledger/verify/verify-ledger.ts';
import { nodeVerifier } from '../../ledger/writer/keys.ts';
import { findLastSeal, type Seal, sealLedger } from '../../ledger/writer/seal.ts';
import { parseResult } from '../../protocol/result.ts';
import type { ThoughtRecord } from '../../protocol/thought-record.ts';
import { actorOf } from '../../state/caller.ts';
import type { AnswerOf, CommandOf } from '../../state/decide.ts';
import { refusal } from '../../state/outcome.ts';
import { mayReadEntry } from '../../state/read-access.ts';
import { toRecordedEvent } from '../../state/recorded-event.ts';
import { refuseUnknownTask } from '../../state/tasks/create-task.ts';
import { refreshFindings } from './reconcile.ts';
import {
  answerFor,
  type Call,
  handlerFor,
  type OperationHandler,
  problemAnswer,
  reads,
  refusalOf,
  submitCommand,
  submits,
  unchanged,
} from './call.ts';

export const WRITEBACK_HANDLERS = {
  thought_record: records(operations.thoughtRecord, ({ recordId }, task_id) => ({
    record_id: recordId,
    task_id,
  })),
  task_complete: records(operations.taskComplete, (_, task_id) => ({ task_id, status: 'done' as const })),

  thought_list: reads(operations.thoughtList, ({ state }, { input }) => {
    const task = state.tasks.get(input.task_id);
    if (task === undefined) return refuseUnknownTask(input.task_id);
    return unchanged({ records: task.records.toReversed(), latest: task.latestRecord });
  }),

  /** Kept with the claim until the session ends. */
  result_submit: submits(
    { ...operations.resultSubmit, parse: parseResult },
    (result) => ({ result }),
    (_, { status }) => ({ status }),
  ),
};

type RecordInput = ThoughtRecord & { readonly epoch?: number };

function records<R, K extends 'record-thought' | 'complete-task'>(
  operation: Operation<string, RecordInput, R, K>,
  show: (answer: AnswerOf<K>, taskId: string) => NoInfer<R>,
): OperationHandler<R> {
  return handlerFor(operation, async (call) => {
    const error = await checkCommit(call);
    if (error !== undefined) return { ok: false, error };
    const { epoch, ...record } = call.input;
    if (mayNeedFinding(call)) await refreshFindings(call.project);
    const command = { recordId: call.services.newId(), record, ...(epoch === undefined ? {} : { epoch }) };
    const settled = await submitCommand(call, { kind: operation.command, command } as CommandOf<K>); // oxlint-disable-line typescript/no-unsafe-type-assertion
    if (!settled.ok && 'problem' in settled) return { ok: false, error: WRITEBACK_FAILED };
    return answerFor(settled, (answer) => show(answer, record.task_id));
  });
}

/** Whether the call reinstates a task and comes from neither an operator nor the holder of its claim. */
function mayNeedFinding({ input, caller }: Call<RecordInput>): boolean {
  if (input.status !== 'todo' || caller.kind === 'operator') return false;
  return caller.kind !== 'session' || caller.taskId !== input.task_id;
}

const WRITEBACK_FAILED: ApiError = {
  code: 'writeback-failed',
  message: 'Writeback failed: unable to insert thought_record. Retry with fresh DB connection or escalate.',
  hint: 'The task stays in progress. Send the record again; nothing of it was stored.',
};

/** A record of a commit that cannot be found later would prove nothing. */
async function checkCommit({ input, project, services }: Call<RecordInput>): Promise<ApiError | undefined> {
  const problem = await services.git.keepCommit(project.own, input.commit_sha);
  if (problem === undefined) return undefined;
  const { code, hint } = problem;
  const isAbout = problem.message.startsWith(`commit ${input.commit_sha.toLowerCase()} is missing`);
  // The name is valid: part of the commit is missing or changed, or git does not answer.
  if (!isAbout && code !== 'git/no-commit' && code !== 'git/bad-name') return { code, message: problem.message, hint };
  const message = `commit ${input.commit_sha} is not in the repository`;
  return { code: 'no-such-commit', message, hint: 'Commit first, and send the full SHA: git rev-parse HEAD' };
}

export const LEDGER_HANDLERS = {
  audit_session_start: submits(
    operations.auditSessionStart,
    ({ task_id = null }, { services }) => ({ auditId: services.newId(), taskId: task_id }),
    ({ auditId }) => ({ audit_id: auditId }),
  ),

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
    const allowed = await submitCommand(call, { kind: 'seal', command: null });
    if (!allowed.ok) return refusalOf(allowed);
    const sealed = await sealLedger(call.project.ledger, actorOf(call.caller));
    if (sealed.ok) return { ok: true, result: { ...sealView(sealed.seal), is_new: sealed.isNew } };
    return problemAnswer(sealed.problem);
  }),

  merkle_root: handlerFor(operations.merkleRoot, async ({ project }) => {
    const seal = await findLastSeal(project.ledger.store, project.ledger.head.size);
    if (seal !== undefined) return { ok: true, result: sealView(seal) };
    return {
      ok: false,
      error: { code: 'no-seal', message: 'the ledger was never sealed', hint: 'Call merkle_finalize.' },
    };
  }),

  entry_get: handlerFor(operations.entryGet, async ({ project, caller, input: { seq } }) => {
    await project.commandLoop.whenIdle();
    for await (const [stored] of project.ledger.store.entries({ from: seq, to: seq })) {
      const entry = stored === undefined ? undefined : parseEntry(stored.bytes);
      if (entry?.ok !== true) break;
      const recorded = toRecordedEvent(entry.value);
      const read = await project.commandLoop.read(
        ({ state }) => recorded === undefined || mayReadEntry(state, caller, recorded),
      );
      if (!read.ok) return refusalOf(read);
      if (!read.answer) return refusalOf(refusal('wrong-task', `entry ${seq} is a question to people`, NOT_YOURS));
      const { at, actor, type, cause, data } = entry.value;
      return { ok: true, result: { seq, at, actor, type, cause, data } };
    }
    const hint = `The newest entry is ${project.ledger.head.size}.`;
    return { ok: false, error: { code: 'no-such-entry', message: `there is no entry ${seq}`, hint } };
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

const NOT_YOURS = 'A session reads the questions about its own task only: call task_brief.';
