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
      about: 'Only for an operator who records for the holder of a claim: the number of the claim.',
    },
  },
} as const;

export const thoughtRecord = operation({
  name: 'thought_record',
  about:
    'Record what you did: no task is done without it. Commit and push first; afterwards task_update with done, or exit_signal. With the status `todo` the record reinstates a completed task whose commit was reverted or is gone.',
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
    records: list(
      object({
        id: text,
        seq: { ...whole, about: 'The number of its entry.' },
        epoch: { ...nullable(whole), about: 'The number of the claim.' },
        commitSha: text,
        reinstates: { ...flag, about: 'It reinstated the task.' },
      }),
    ),
    latest: { ...nullable(thoughtRecordShape), about: 'The newest record in full.' },
  }),
});

export const exitSignal = operation({
  name: 'exit_signal',
  about:
    'End your session: the phase you completed (see task_get), or that you are blocked or failed. Your claim ends, and the task moves on. Send it after result, thought record and handoff; do not wait for CI.',
  command: 'exit-session',
  input: exitSignalShape,
  result: object({
    next_phase: {
      ...nullable(choice(PHASES)),
      about: 'The phase of the task after the signal; null if it does not move.',
    },
    exit_reason: exitSignalShape.fields.exit_reason,
  }),
});

export const resultSubmit = operation({
  name: 'result_submit',
  about:
    'Submit the result of your mission: how it ended, every file you changed, a log of at least two lines. Send it before the exit signal.',
  command: 'submit-result',
  input: resultShape,
  result: object({ status: resultShape.fields.status }),
});

const receiver = optional(text, 'Only the form for this receiver, such as reviewer-agent.');

export const formGet = operation({
  name: 'form_get',
  about: 'Get a form for a thought record, result or handoff, partly filled in. Replace every FILL IN, then send it.',
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
    'Pass your work on to the next role, as XML. Without `handoff` you get the forms to fill in. The handoff is delivered if your exit signal says completed; otherwise it is dropped. An error handoff is always delivered.',
  command: 'send-handoff',
  input: object({
    handoff: { kind: 'text', notEmpty: true, optional: true, about: 'The <handoff> element.' },
    to: receiver,
    task_id: optional(taskId, 'For operators: the task; a session has its own.'),
  }),
  unlistedFields: ['task_id'],
  result: object({
    handoff_id: optional(text, 'Missing if nothing was sent.'),
    held: optional(flag, 'It is delivered when your session ends.'),
    task_id: text,
    text: optional(text, 'The forms to fill in, if no handoff was given.'),
  }),
});

export const auditSessionStart = operation({
  name: 'audit_session_start',
  about:
    'Begin an audit session, if your mission asks for one. Then: work, audit_verify_chain, thought_record, merkle_finalize, merkle_root. Returns the audit id.',
  command: 'start-audit',
  input: object({ task_id: { ...taskId, optional: true } }),
  result: object({ audit_id: text }),
});

export const auditVerifyChain = operation({
  name: 'audit_verify_chain',
  about: 'Verify the whole ledger. Returns its size and root, or the first bad entry.',
  access: ['operator', 'worker', 'session'],
  kind: 'write',
  input: object({ audit_id: optional(text, 'The audit session that it belongs to.') }),
  result: object({
    size: { ...whole, about: 'How many entries the ledger has.' },
    root: { ...text, about: 'The root of its tree.' },
  }),
});

const seal = {
  seq: { ...whole, about: 'The number of the entry with the seal.' },
  at: text,
  size: { ...whole, about: 'How many entries are sealed.' },
  root: { ...text, about: 'The root of the tree over them.' },
  checkpoint: { ...text, about: 'The signed checkpoint.' },
} as const;

export const merkleFinalize = operation({
  name: 'merkle_finalize',
  about: 'Seal the ledger: sign its Merkle root. Does nothing if there are no new entries. Call thought_record first.',
  command: 'seal',
  input: nothing,
  result: object({ ...seal, is_new: { ...flag, about: 'False if there were no new entries.' } }),
});

export const merkleRoot = operation({
  name: 'merkle_root',
  about: 'Get the root, size and checkpoint of the last seal.',
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
    cause: { ...nullable(whole), about: 'The number of the entry that it follows from.' },
    data: { ...typed<object>(), about: 'The fields of its type, as in docs/entries.md.' },
  }),
});

export const ledgerHead = operation({
  name: 'ledger_head',
  about: 'Get the size of the ledger and the hash of its last entry.',
  access: ['operator', 'worker', 'session'],
  tool: false,
  input: nothing,
  result: object({
    size: { ...whole, about: 'How many entries the ledger has.' },
    hash: { ...text, about: 'The hash of the last entry.' },
  }),
});

export const reconcile = operation({
  name: 'reconcile',
  about: 'Compare the tasks with git and with running processes, and list the differences.',
  access: ['operator'],
  kind: 'write',
  tool: false,
  input: object({ apply: optional(flag, 'Apply the safe corrections, and open decisions for the other findings.') }),
  result: object({
    findings: list(
      object({
        kind: { ...text, about: 'One of the findings in docs/git.md.' },
        task_id: text,
        message: text,
        hint: { ...text, about: 'What to do about it.' },
        safe: { ...flag, about: 'The correction is safe. Every other finding becomes a decision.' },
        action: optional({ kind: 'any' }, 'The safe correction.'),
      }),
    ),
    applied: { ...list(text), about: 'The applied corrections, in sentences.' },
  }),
});
