import type { ValueOf } from '../../protocol/shape/shape.ts';
import { choice, flag, list, nothing, nullable, object, text } from '../../protocol/shape/build-shape.ts';
import { operation } from './operation.ts';

const PEOPLE = { access: ['operator'], tool: false } as const;

/** An operator agrees with this to a runbook that loosens the rules in force. */
export const acceptRules = {
  kind: 'text',
  optional: true,
  pattern: '^[0-9a-f]{64}$',
  expected: 'the hash of a runbook',
  about:
    'The hash of the working runbook, if it loosens the rules in force. It confirms that you have seen the differences.',
} as const;

const anything = { kind: 'any', nullable: true } as const;

export const adoptedRules = object({
  sha256: { ...text, about: 'The hash of the runbook.' },
  differences: {
    ...list(
      object({
        field: { ...text, about: 'The path of the field in the runbook.' },
        before: anything,
        after: anything,
        effect: choice(['tightens', 'changes', 'loosens']),
      }),
    ),
    about: 'The fields that differ.',
  },
  text: { ...text, about: 'The differences as text, one a line.' },
});

const rules = object({
  in_force: {
    ...nullable(
      object({
        sha256: text,
        commit: { ...nullable(text), about: 'The commit of the main branch at that time.' },
        committed: { ...nullable(text), about: 'The hash of the runbook in that commit; null if it has none.' },
        by: { ...text, about: 'Who adopted it.' },
        at: text,
      }),
    ),
    about: 'The adopted runbook; null before the first adoption.',
  },
  working: {
    ...nullable(object({ ...adoptedRules.fields, loosens: { ...flag, about: 'It loosens a rule in force.' } })),
    about: 'The working file; null if it cannot be read.',
  },
});
export type RunbookRules = ValueOf<typeof rules>;

export const runbookRules = operation({
  ...PEOPLE,
  name: 'runbook_rules',
  about: 'Show the runbook in force, and how the working file differs from it in the gate fields.',
  input: nothing,
  result: rules,
});

export const runbookAdopt = operation({
  ...PEOPLE,
  name: 'runbook_adopt',
  about: 'Put the working runbook in force. If it loosens the rules, the call must name its hash.',
  kind: 'write',
  input: object({ accept_rules: acceptRules }),
  result: object({
    ...adoptedRules.fields,
    releases: {
      ...list(text),
      about:
        'Workflows that a limit of their own rules blocks, and that could continue with these. task_rules moves them.',
    },
  }),
});
