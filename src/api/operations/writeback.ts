import { exitSignalShape } from '../../protocol/exit-signal-shape.ts';
import { resultShape } from '../../protocol/result.ts';
import { taskId } from '../../protocol/shape/shared-fields.ts';
import type { ObjectShape } from '../../protocol/shape/shape.ts';
import { thoughtRecordShape } from '../../protocol/thought-record.ts';
import { operation } from './operation.ts';

const HOLDER = ['operator', 'session'] as const;

const recordShape = {
  kind: 'object',
  about: thoughtRecordShape.about,
  fields: {
    ...thoughtRecordShape.fields,
    epoch: {
      kind: 'number',
      min: 1,
      whole: true,
      optional: true,
      about: 'Only for an operator who records for the holder of a claim: its epoch.',
    },
  },
} as const satisfies ObjectShape;

export const thoughtRecord = operation({
  name: 'thought_record',
  about:
    'Record what you did: branch, full commit SHA, tests, a summary of three to five sentences, blockers. No task is done without it. Commit and push first; then call this; then task_update with status done. With status todo it reinstates a task whose work was lost or reverted.',
  access: HOLDER,
  kind: 'write',
  shape: recordShape,
});

export const taskComplete = operation({
  name: 'task_complete',
  about:
    'Record what you did and complete the task, in one call: both happen, or neither. Same fields as thought_record.',
  access: HOLDER,
  kind: 'write',
  shape: recordShape,
});

export const thoughtList = operation({
  name: 'thought_list',
  about: 'The thought records of a task, newest first.',
  access: ['operator', 'worker', 'session'],
  kind: 'read',
  tool: false,
  shape: { kind: 'object', fields: { task_id: taskId } },
});

export const exitSignal = operation({
  name: 'exit_signal',
  about:
    'End your session: say which phase you completed (the one that task_get shows), or that you are blocked or failed. Your claim ends with it, and the task moves on. Send it last, after result, thought record and handoff. Do not poll for CI afterwards; the next agent takes over.',
  access: ['session'],
  kind: 'write',
  shape: exitSignalShape,
});

export const resultSubmit = operation({
  name: 'result_submit',
  about:
    'Hand in the result of your mission, where you have one (mission_get): how it ended, which files you changed, and a log of at least two lines. Send it before the exit signal.',
  access: ['session'],
  kind: 'write',
  shape: resultShape,
});

export const handoffSend = operation({
  name: 'handoff_send',
  about:
    'Pass your work on to the next role with an XML handoff. You need a role, given when the task was claimed. It waits until your exit signal says completed, and is dropped otherwise.',
  access: HOLDER,
  kind: 'write',
  shape: {
    kind: 'object',
    fields: {
      handoff: { kind: 'text', notEmpty: true, about: 'The <handoff> element, as XML.' },
      task_id: { ...taskId, optional: true, about: 'For operators: the task; a session has its own.' },
    },
  },
});

export const auditSessionStart = operation({
  name: 'audit_session_start',
  about:
    'Begin proof-grade work: work whose record is checked and sealed. Then work, audit_verify_chain, thought_record, merkle_finalize, merkle_root. Only needed where you are asked for it. Gives back the id of the audit session; until you have called thought_record, merkle_finalize is refused.',
  access: HOLDER,
  kind: 'write',
  shape: { kind: 'object', fields: { task_id: { ...taskId, optional: true } } },
});

export const auditVerifyChain = operation({
  name: 'audit_verify_chain',
  about:
    'Check the whole ledger: chain, hashes, signatures, tree. Gives back its size and root, or the first bad entry.',
  access: ['operator', 'worker', 'session'],
  kind: 'write',
  shape: {
    kind: 'object',
    fields: { audit_id: { kind: 'text', optional: true, about: 'The audit session it is part of.' } },
  },
});

const nothing = { kind: 'object', fields: {} } as const;

export const merkleFinalize = operation({
  name: 'merkle_finalize',
  about:
    'Seal the ledger: sign its Merkle root, for good. Does nothing where nothing is new. Record your thoughts first.',
  access: HOLDER,
  kind: 'write',
  shape: nothing,
});

export const merkleRoot = operation({
  name: 'merkle_root',
  about: 'The root, size and checkpoint of the last seal.',
  access: ['operator', 'worker', 'session'],
  kind: 'read',
  shape: nothing,
});

export const ledgerHead = operation({
  name: 'ledger_head',
  about: 'The size of the ledger and the hash of its last entry.',
  access: ['operator', 'worker', 'session'],
  kind: 'read',
  tool: false,
  shape: nothing,
});

export const reconcile = operation({
  name: 'reconcile',
  about: 'Compare the tasks with git and with running processes, and say what does not fit.',
  access: ['operator'],
  kind: 'write',
  tool: false,
  shape: {
    kind: 'object',
    fields: { apply: { kind: 'flag', optional: true, about: 'Do what is safe to do, and ask people about the rest.' } },
  },
});
