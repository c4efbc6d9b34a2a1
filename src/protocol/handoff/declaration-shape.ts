import { PHASES } from '../phase.ts';
import { defineMessage } from '../shape/message.ts';
import type { ObjectShape, Shape, TextShape } from '../shape/shape.ts';
import { parseJsonDocument } from '../text/json.ts';

/**
 * What a declaration looks like, in the same form of data in which the other messages are declared. Elements are declared one
 * kind at a time, since a shape has no alternatives.
 */
const open = { kind: 'object', fields: {}, open: true, optional: true } as const satisfies Shape;
const sentence = { kind: 'text', optional: true } as const satisfies Shape;
const flag = { kind: 'flag', optional: true } as const satisfies Shape;
const wholeNumber = { kind: 'number', whole: true, min: 0, optional: true } as const satisfies Shape;

const agent = {
  kind: 'text',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$',
  expected: 'letters, digits, . _ -, at most 64',
} as const satisfies TextShape;

const word = {
  kind: 'text',
  pattern: '^[a-z][a-z0-9_]{0,63}$',
  expected: 'lower case letters, digits and _',
} as const satisfies TextShape;

export const declarationMessage = defineMessage({
  title: 'Declaration',
  read: parseJsonDocument,
  shape: {
    kind: 'object',
    fields: {
      roles: { kind: 'list', optional: true, of: { kind: 'object', fields: { name: agent, agent } } },
      edges: {
        kind: 'list',
        optional: true,
        of: {
          kind: 'object',
          fields: {
            from: agent,
            to: agent,
            when: sentence,
            phase: { kind: 'choice', values: PHASES },
            next: { ...agent, optional: true },
            elements: open,
          },
        },
      },
      without: { kind: 'list', optional: true, of: { kind: 'object', fields: { from: agent, to: agent } } },
    },
  },
});

const described = { optional: flag, about: sentence } as const satisfies Readonly<Record<string, Shape>>;

const element = <const S extends ObjectShape>(shape: S) =>
  defineMessage({ title: 'Element', read: parseJsonDocument, shape });

const text = element({
  kind: 'object',
  fields: {
    kind: { kind: 'choice', values: ['text'] },
    format: {
      kind: 'choice',
      values: ['agent', 'branch', 'digits', 'sha', 'timestamp', 'url'],
      optional: true,
    },
    may_be_empty: flag,
    ...described,
  },
});

const choice = element({
  kind: 'object',
  fields: {
    kind: { kind: 'choice', values: ['choice'] },
    values: { kind: 'list', of: { kind: 'text', notEmpty: true }, min: 1 },
    ...described,
  },
});

const count = element({
  kind: 'object',
  fields: {
    kind: { kind: 'choice', values: ['count'] },
    min: wholeNumber,
    max: wholeNumber,
    because: sentence,
    counts: {
      kind: 'object',
      optional: true,
      fields: { list: word, attribute: word, value: { kind: 'text' } },
    },
    ...described,
  },
});

const flagElement = element({
  kind: 'object',
  fields: { kind: { kind: 'choice', values: ['flag'] }, ...described },
});

const list = element({
  kind: 'object',
  fields: {
    kind: { kind: 'choice', values: ['list'] },
    item: word,
    attributes: open,
    min: wholeNumber,
    ...described,
  },
});

const group = element({
  kind: 'object',
  fields: {
    kind: { kind: 'choice', values: ['group'] },
    elements: { kind: 'object', fields: {}, open: true },
    ...described,
  },
});

export const elementMessages = { text, choice, count, flag: flagElement, list, group } as const;
