import { nothing, object, text, typed, whole } from '../../protocol/shape/build-shape.ts';
import { operation } from './operation.ts';

const PEOPLE = { access: ['operator'], tool: false } as const;

export const stateSnapshot = operation({
  ...PEOPLE,
  name: 'state_snapshot',
  about:
    'The folded state of the project at one entry, for a reader that folds the later entries itself. Without prompts, missions, messages and long texts.',
  input: nothing,
  result: object({
    seq: { ...whole, about: 'The newest entry that it takes into account.' },
    at: text,
    hash: { ...text, about: 'Of that entry; zeros if the ledger is empty.' },
    state: {
      ...typed<Readonly<Record<string, unknown>>>(),
      about: 'Each map as a list of pairs: `restoreState` in `src/state/json-form.ts` reads it.',
    },
  }),
});
