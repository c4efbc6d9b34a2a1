import { PHASES } from '../phase.ts';
import { flag as aFlag, list, object, optional, text } from '../shape/build-shape.ts';
import { defineMessage } from '../shape/message.ts';
import type { ObjectShape, Shape, TextShape } from '../shape/shape.ts';
import { parseJsonDocument } from '../text/json.ts';

const agent = {
  kind: 'text',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  expected: 'letters, digits, . _ -, at most 64',
} as const satisfies TextShape;

/** The roles and edges that a runbook adds, and the built-in edges that it removes. */
export const declarationShape = {
  kind: 'object',
  fields: {
    roles: optional(
      list(
        object({
          name: { ...agent, about: 'The name of the role, as in `security`.' },
          agent: { ...agent, about: 'The name of the role in handoffs, as in `security-agent`.' },
        }),
      ),
      'New roles.',
    ),
    edges: optional(
      list(
        object({
          from: { ...agent, about: 'The sender of the handoff, by its name in handoffs.' },
          to: { ...agent, about: 'The receiver of the handoff.' },
          when: { kind: 'text', optional: true, about: 'When work takes this path, in a few words.' },
          phase: { kind: 'choice', values: PHASES, about: 'The phase of the task after the handoff.' },
          next: { ...agent, optional: true, about: "The role whose turn it is; left out: the receiver's." },
          elements: { kind: 'object', fields: {}, open: true, optional: true, about: 'The elements of the handoff.' },
        }),
      ),
      'New paths of work from role to role.',
    ),
    without: optional(
      list(object({ from: agent, to: agent })),
      'Built-in paths (sender and receiver of a handoff) that are not allowed, so that no work can skip a new role.',
    ),
  },
} as const satisfies ObjectShape;

export const declarationMessage = defineMessage({
  title: 'Declaration',
  read: parseJsonDocument,
  shape: declarationShape,
});

const sentence = optional(text);
const flag = optional(aFlag);
const wholeNumber = { kind: 'number', whole: true, min: 0, optional: true } as const satisfies Shape;
const anyElements = { kind: 'object', fields: {}, open: true } as const satisfies Shape;

const word = {
  kind: 'text',
  pattern: '^[a-z][a-z0-9_]{0,63}$',
  expected: 'lower case letters, digits and _',
} as const satisfies TextShape;

/**
 * The declaration of each kind of element. The elements of a group are checked one by one, because shapes do not
 * recurse.
 */
export const elementMessages = {
  text: element('text', {
    format: { kind: 'choice', values: ['agent', 'branch', 'digits', 'sha', 'timestamp', 'url'], optional: true },
    may_be_empty: flag,
  }),
  choice: element('choice', { values: { kind: 'list', of: { kind: 'text', notEmpty: true }, min: 1 } }),
  count: element('count', {
    min: wholeNumber,
    max: wholeNumber,
    because: sentence,
    counts: {
      kind: 'object',
      optional: true,
      fields: { list: word, attribute: word, value: { kind: 'text' } },
    },
  }),
  flag: element('flag', {}),
  list: element('list', { item: word, attributes: { ...anyElements, optional: true }, min: wholeNumber }),
  group: element('group', { elements: anyElements }),
} as const;

// The parameter K keeps the literal type of the kind.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters
function element<const K extends string, const F extends Readonly<Record<string, Shape>>>(kind: K, fields: F) {
  return defineMessage({
    title: 'Element',
    read: parseJsonDocument,
    shape: {
      kind: 'object',
      fields: { kind: { kind: 'choice', values: [kind] }, ...fields, optional: flag, about: sentence },
    },
  });
}
