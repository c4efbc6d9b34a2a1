import { exitSignalShape } from '../../protocol/exit-signal/exit-signal-shape.ts';
import { resultShape } from '../../protocol/result.ts';
import { taskId } from '../../protocol/shape/shared-fields.ts';
import { PHASES } from '../../protocol/phase.ts';
import { FORM_KINDS } from '../../protocol/placeholder.ts';
import { thoughtRecordShape } from '../../protocol/thought-record.ts';
import { operation } from './operation.ts';
import {
  choice,
  flag,
  list,
  nothing,
  nullable,
  object,
  optional,
  text,
  typed,
  whole,
} from '../../protocol/shape/build-shape.ts';

const record = {
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
} as const;

export const thoughtRecord = operation({
  name: 'thought_record',
  about:
    'Record what you did: no task is done without it. Commit and push first; afterwards task_update with done, or exit_signal. With status todo it reinstates a completed task whose commit was reverted or is gone.',
  command: 'record-thought',
  input: record,
  unlistedFields: ['epoch'],
  result: object({ record_id: text, task_id: text }),
});

export const taskComplete = operation({
  name: 'task_complete',
  about:
    'Record what you did and complete the task, in one call: both happen, or neither. Same fields as thought_record.',
  command: 'complete-task',
  input: record,
  unlistedFields: ['epoch'],
  result: object({ task_id: text, status: choice(['done']) }),
});

export const thoughtList = operation({
  name: 'thought_list',
  about: 'The thought records of a task, newest first.',
  access: ['operator', 'worker', 'session'],
  tool: false,
  input: object({ task_id: taskId }),
  result: object({
    records: list(object({ id: text, seq: whole, epoch: nullable(whole), commitSha: text, reinstates: flag })),
    latest: nullable(thoughtRecordShape),
  }),
});

export const exitSignal = operation({
  name: 'exit_signal',
  about:
    'End your session: the phase you completed (see task_get), or that you are blocked or failed. Your claim ends, and the task moves on. Send it after result, thought record and handoff; do not wait for CI.',
  command: 'exit-session',
  input: exitSignalShape,
  result: object({ next_phase: nullable(choice(PHASES)), exit_reason: exitSignalShape.fields.exit_reason }),
});

export const resultSubmit = operation({
  name: 'result_submit',
  about:
    'Hand in the result of your mission: how it ended, every file you changed, a log of at least two lines. Send it before the exit signal.',
  command: 'submit-result',
  input: resultShape,
  result: object({ status: resultShape.fields.status }),
});

const receiver = optional(text, 'Only the form for this receiver, such as reviewer-agent.');

export const formGet = operation({
  name: 'form_get',
  about:
    'A blank thought record, result or handoff, with what Baton knows filled in. Replace every FILL IN, then send it.',
  access: ['operator', 'worker', 'session', 'agent'],
  input: object({
    kind: { ...choice(FORM_KINDS), about: 'Which form.' },
    to: receiver,
    task_id: optional(taskId, 'The task; a session has its own.'),
  }),
  unlistedFields: ['task_id'],
  result: object({ task_id: text, text: { ...text, about: 'YAML, or XML for handoffs: one for each receiver.' } }),
});

export const handoffSend = operation({
  name: 'handoff_send',
  about:
    'Pass your work on to the next role, as XML. Without `handoff` nothing is sent: you get the forms to fill in. It is delivered if your exit signal says completed; an error handoff always is. Otherwise it is dropped.',
  command: 'send-handoff',
  input: object({
    handoff: { kind: 'text', notEmpty: true, optional: true, about: 'The <handoff> element.' },
    to: receiver,
    task_id: optional(taskId, 'For operators: the task; a session has its own.'),
  }),
  unlistedFields: ['task_id'],
  result: object({
    handoff_id: optional(text, 'Missing if nothing was sent.'),
    held: optional(flag, 'It is delivered when the session of its sender ends.'),
    task_id: text,
    text: optional(text, 'The forms to fill in, if no handoff was given.'),
  }),
});

export const auditSessionStart = operation({
  name: 'audit_session_start',
  about:
    'Begin proof-grade work, if you are asked for it. Then: work, audit_verify_chain, thought_record, merkle_finalize, merkle_root. Returns the audit id.',
  command: 'start-audit',
  input: object({ task_id: { ...taskId, optional: true } }),
  result: object({ audit_id: text }),
});

export const auditVerifyChain = operation({
  name: 'audit_verify_chain',
  about: 'Check the whole ledger. Returns its size and root, or the first bad entry.',
  access: ['operator', 'worker', 'session'],
  kind: 'write',
  input: object({ audit_id: optional(text, 'The audit session it is part of.') }),
  result: object({ size: whole, root: text }),
});

const seal = {
  seq: { ...whole, about: 'The entry that seals.' },
  at: text,
  size: { ...whole, about: 'How many entries are sealed.' },
  root: text,
  checkpoint: { ...text, about: 'The signed note.' },
} as const;

export const merkleFinalize = operation({
  name: 'merkle_finalize',
  about: 'Seal the ledger: sign its Merkle root. Does nothing if nothing is new. Call thought_record first.',
  command: 'seal',
  input: nothing,
  result: object({ ...seal, is_new: flag }),
});

export const merkleRoot = operation({
  name: 'merkle_root',
  about: 'The root, size and checkpoint of the last seal.',
  access: ['operator', 'worker', 'session'],
  input: nothing,
  result: object(seal),
});

export const entryGet = operation({
  name: 'entry_get',
  about: 'Read one entry of the ledger in full. Use it when a brief cuts a text and names its entry.',
  access: ['operator', 'worker', 'session', 'agent'],
  input: object({ seq: { kind: 'number', min: 1, whole: true, about: 'The number of the entry.' } }),
  result: object({
    seq: whole,
    at: text,
    actor: text,
    type: text,
    cause: nullable(whole),
    data: typed<object>(),
  }),
});

export const ledgerHead = operation({
  name: 'ledger_head',
  about: 'The size of the ledger and the hash of its last entry.',
  access: ['operator', 'worker', 'session'],
  tool: false,
  input: nothing,
  result: object({ size: whole, hash: text }),
});

export const reconcile = operation({
  name: 'reconcile',
  about: 'Compare the tasks with git and with running processes, and list what does not fit.',
  access: ['operator'],
  kind: 'write',
  tool: false,
  input: object({ apply: optional(flag, 'Do what is safe to do, and ask people about the rest.') }),
  result: object({
    findings: list(
      object({
        kind: text,
        task_id: text,
        message: text,
        hint: text,
        safe: { ...flag, about: 'It may be acted on without asking; every other finding becomes a decision.' },
        action: optional({ kind: 'any' }),
      }),
    ),
    applied: { ...list(text), about: 'What was done, in words.' },
  }),
});
