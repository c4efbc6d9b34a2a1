import { taskId } from '../../protocol/shape/shared-fields.ts';
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
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { operation } from './operation.ts';

const PEOPLE = { access: ['operator'], tool: false } as const;

export const stateSnapshot = operation({
  ...PEOPLE,
  name: 'state_snapshot',
  about:
    'Get the folded state of the project at one entry, to fold the later entries into it. It leaves out prompts, missions, messages and long texts.',
  input: nothing,
  result: object({
    seq: { ...whole, about: 'The newest entry that the state includes.' },
    at: text,
    hash: { ...text, about: 'The hash of this entry; zeros if the ledger is empty.' },
    state: {
      ...typed<Readonly<Record<string, unknown>>>(),
      about: 'Each map as a list of pairs: `restoreState` in `src/state/json-form.ts` reads it.',
    },
  }),
});

const seq = { kind: 'number', min: 1, whole: true, optional: true } as const;
const filterText = { kind: 'text', notEmpty: true, optional: true } as const;

const ledgerEntry = object({
  seq: whole,
  at: text,
  actor: text,
  type: text,
  cause: { ...nullable(whole), about: 'The number of the entry that it follows from.' },
  data: {
    ...typed<Readonly<Record<string, unknown>>>(),
    about: 'The fields of its type, as in docs/entries.md.',
  },
  hash: text,
});
export type LedgerEntry = ValueOf<typeof ledgerEntry>;

export const entriesRead = operation({
  name: 'entries_read',
  about:
    'Read entries of the ledger, all or those that match. One call reads a limited part of the ledger: repeat it from `next` until `next` is null.',
  access: ['operator', 'worker'],
  tool: false,
  input: object({
    from: { ...seq, about: 'The lowest number; 1 if left out.' },
    to: { ...seq, about: 'The highest number; the newest entry if left out.' },
    limit: { ...seq, max: 1000, about: 'At most this many; 100 if left out.' },
    newest_first: optional(flag, 'From the highest number down.'),
    types: optional(list({ kind: 'text', notEmpty: true }), 'Only entries of these types.'),
    task_id: optional(taskId, 'Only entries about this task, its agents, pipelines and decisions.'),
    run_id: {
      ...filterText,
      about: 'Only entries about this agent or pipeline, the runs inside it, and the decisions about them.',
    },
    actor: { ...filterText, about: 'Only entries of this actor, or of this kind: operator, session or system.' },
    text: { ...filterText, about: 'Only entries that contain this text, in upper or lower case.' },
  }),
  result: object({
    entries: list(ledgerEntry),
    next: {
      ...nullable(whole),
      about: 'Where the next call continues: its `from`, or with `newest_first` its `to`. Null: everything was read.',
    },
    head: { ...whole, about: 'The number of the newest entry.' },
  }),
});

export const ledgerExport = operation({
  ...PEOPLE,
  name: 'ledger_export',
  about:
    'Read a part of the ledger as `baton ledger export` prints it, to verify it: repeat the call from `next` until `next` is null.',
  input: object({
    from: { ...seq, about: 'The first entry; 1 if left out.' },
    limit: { ...seq, max: 5000, about: 'About this many entries; 1,000 if left out. A part ends with a whole commit.' },
  }),
  result: object({
    lines: {
      ...list(text),
      about:
        'One line per entry, `{"entry":…,"hash":…}`, as it is stored. After added or revoked keys: `{"checkpoint":…}`.',
    },
    next: { ...nullable(whole), about: 'The `from` of the next call; null at the end of the ledger.' },
    checkpoint: {
      ...nullable(text),
      about:
        'The signed checkpoint of all entries up to the last one of this part. Without lines: the newest one; null if the ledger is empty.',
    },
  }),
});

export const taskProof = operation({
  ...PEOPLE,
  name: 'task_proof',
  command: 'count-task',
  about:
    'Count the entries about a task, and get a proof of them, which `baton verify` checks without this machine. Save it as canonical JSON (RFC 8785).',
  input: object({ task_id: taskId }),
  result: object({
    kind: choice(['baton-task-proof']),
    v: { ...typed<1 | 2>(), about: 'The version of the format.' },
    project: text,
    task_id: text,
    key: { ...text, about: 'The key that signed the checkpoint.' },
    checkpoint: { ...text, about: 'The signed checkpoint: the size and root of the ledger.' },
    entries: list(
      object({ entry: typed<object>(), proof: { ...list(text), about: 'The inclusion proof: hashes in hex.' } }),
    ),
  }),
});
