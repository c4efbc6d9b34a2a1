import { type Node, sourceOf } from '../text/node.ts';
import { didYouMean, type Problem, quote, textPositionAt } from './problem.ts';
import type {
  ChoiceShape,
  CountElement,
  Element,
  Fielded,
  FlagShape,
  ListElement,
  ListShape,
  MapShape,
  NumberShape,
  Shape,
  TextShape,
} from './shape.ts';

/** A problem of a tree: `at` is the offset in the text; line and column are counted only if the problem is reported. */
export interface Finding extends Omit<Problem, 'line' | 'column'> {
  readonly at: number;
}

/** Converts a finding to a problem; it has no line and column if the input was not text. */
export function problemAt({ code, message, path, at, hint }: Finding, text: string | undefined): Problem {
  const { line, column } = text === undefined ? { line: null, column: null } : textPositionAt(text, at);
  return { code, message, path, line, column, hint };
}

export interface FieldLocation {
  readonly path: string;
  readonly field: string;
  readonly item: string;
  readonly at: number;
  readonly about: string | undefined;
}

export function rootSpot(title: string, at: number): FieldLocation {
  return { path: '', field: title, item: '', at, about: undefined };
}

export function locateField(spot: FieldLocation, field: string, at: number, about?: string): FieldLocation {
  const path = spot.path === '' ? field : `${spot.path}.${field}`;
  return { path, field, item: spot.path === spot.item ? spot.item : '', at, about };
}

export function locateItem(list: FieldLocation, index: number, at: number): FieldLocation {
  const path = `${list.path}[${index}]`;
  return { path, field: path, item: path, at, about: list.about };
}

/** Reports whether the spot is a field of a list's item; an item that is itself a text has only its path. */
export function isFieldOfItem(spot: FieldLocation): boolean {
  return spot.item !== '' && spot.item !== spot.path;
}

type Counts = NonNullable<CountElement['counts']>;

/**
 * The words of problem texts: JSON and YAML messages have fields (`FIELD_WORDING`), handoffs have elements
 * (`ELEMENT_WORDING`).
 */
export interface Wording {
  /** Whether unknown fields are reported before the problems of known fields. */
  readonly reportsUnknownFirst: (shape: Fielded) => boolean;
  readonly mayBeEmpty: (shape: TextShape) => boolean;
  readonly notAnObject: (shape: Fielded, spot: FieldLocation) => Finding;
  readonly notAList: (shape: ListShape | ListElement, spot: FieldLocation) => Finding;
  readonly notText: (shape: TextShape, node: Node, spot: FieldLocation) => Finding;
  readonly notANumber: (shape: NumberShape | CountElement, value: number, spot: FieldLocation) => Finding;
  readonly notAFlag: (shape: FlagShape, node: Node, spot: FieldLocation) => Finding;
  readonly notAChoice: (shape: ChoiceShape, node: Node, spot: FieldLocation) => Finding;
  /** The problem of a text that the syntax cannot express; undefined if it can. */
  readonly unwritable?: (text: string, spot: FieldLocation) => Finding | undefined;
  readonly empty: (spot: FieldLocation) => Finding;
  readonly misfit: (shape: TextShape, text: string, spot: FieldLocation) => Finding;
  readonly tooFew: (shape: ListShape | ListElement, spot: FieldLocation) => Finding;
  readonly missing: (field: Shape | Element, spot: FieldLocation, owner: Fielded) => Finding;
  readonly unknown: (spot: FieldLocation, known: readonly string[]) => Finding;
  readonly countTooLow?: (counts: Counts, given: number, listed: number, spot: FieldLocation) => Finding;
  /** Checks free XML content and adds findings to the list. */
  readonly free?: (node: Node, spot: FieldLocation, findings: Finding[]) => unknown;
}

const HINTS = {
  object: 'Send an object with the fields that `baton schema` lists.',
  missing: 'Add it; `baton schema` lists every field.',
  type: 'Change the value to the type that `baton schema` gives for this field.',
  name: 'Choose another name.',
  many: 'Split it up.',
  value: 'Use one of the values that `baton schema` gives for this field.',
};

export const FIELD_WORDING: Wording = {
  reportsUnknownFirst: () => false,
  mayBeEmpty: (shape) => !shape.notEmpty,
  notAnObject: (_, spot) =>
    spot.path === ''
      ? { code: 'wrong-type', message: `${spot.field} must be an object`, path: '', at: spot.at, hint: HINTS.object }
      : wrongFieldType(spot, 'an object'),
  notAList: (_, spot) => wrongFieldType(spot, 'an array'),
  notText: (shape, node, spot) =>
    shape.quoted ? wrongFormat(shape, sourceOf(node), spot) : wrongFieldType(spot, 'a string'),
  notANumber: (shape, _, spot) => wrongFieldType(spot, numberName(shape)),
  notAFlag: ({ only }, node, spot) =>
    wrongFieldType(spot, node.kind === 'boolean' && only !== undefined ? `${only}, or left out` : 'a boolean'),
  notAChoice: (shape, node, spot) => {
    const text = sourceOf(node);
    const says = isFieldOfItem(spot) ? ITEM_MISFIT : `Invalid {path}: {value} (expected: ${shape.values.join(', ')})`;
    const hint = didYouMean(text, shape.values) ?? howToCorrect(spot) ?? HINTS.value;
    return finding('invalid-value', shape.says ?? says, spot, text, hint);
  },
  empty: (spot) =>
    isFieldOfItem(spot)
      ? missingField(spot)
      : finding('empty', 'Field {path} must not be empty', spot, '', howToAdd(spot)),
  misfit: wrongFormat,
  tooFew: (shape, spot) => {
    const says = shape.says ?? `Field {path} must contain at least ${shape.min}`;
    return finding('too-few', says, spot, '', howToCorrect(spot) ?? HINTS.type);
  },
  missing: (_, spot) => missingField(spot),
  unknown: (spot, known) => {
    const fields = known.length === 0 ? 'there are no fields here' : `the fields here are: ${known.join(', ')}`;
    const hint = didYouMean(spot.field, known) ?? `Remove it; ${fields}.`;
    return finding('unknown-field', 'Unknown field: {path}', spot, '', hint);
  },
};

function wrongFormat(shape: TextShape, text: string, spot: FieldLocation): Finding {
  const expected = shape.expected ?? 'another form';
  const says = isFieldOfItem(spot) ? ITEM_MISFIT : `Invalid {path}: {value} (expected ${expected})`;
  return finding('invalid-value', shape.says ?? says, spot, text, howToCorrect(spot) ?? HINTS.value);
}

const ITEM_MISFIT = "{item}: invalid {field} '{value}'";

function numberName(shape: NumberShape | CountElement): string {
  const { min, max } = shape;
  const noun = shape.kind === 'count' || shape.whole ? 'whole number' : 'number';
  if (min !== undefined && max !== undefined) return `a ${noun} from ${min} to ${max}`;
  return min === 0 ? `a non-negative ${noun}` : `a ${noun}`;
}

export function tooManyItems(max: number | undefined, spot: FieldLocation): Finding {
  return finding('too-many', `Field {path} must contain at most ${max}`, spot, '', HINTS.many);
}

function missingField(spot: FieldLocation): Finding {
  const says = isFieldOfItem(spot) ? '{item}: missing {field}' : 'Missing required field: {path}';
  return finding('missing-field', says, spot, '', howToAdd(spot));
}

/** What the field means, as a hint for a value that does not fit. */
function howToCorrect({ about }: FieldLocation): string | undefined {
  return about === undefined ? undefined : `Correct the value. Meaning of the field: ${about}`;
}

function howToAdd({ about }: FieldLocation): string {
  return about === undefined ? HINTS.missing : `Add it. ${about}`;
}

export function wrongFieldType(spot: FieldLocation, type: string, hint?: string): Finding {
  return finding('wrong-type', `Field {path} must be ${type}`, spot, '', hint ?? howToCorrect(spot) ?? HINTS.type);
}

export function wrongMapKey({ names }: MapShape, spot: FieldLocation): Finding {
  const expected = names.expected ?? 'another form';
  return finding('invalid-value', `Invalid name: {value} (expected ${expected})`, spot, spot.field, HINTS.name);
}

function finding(code: string, says: string, spot: FieldLocation, value: string, hint: string): Finding {
  const parts: Record<string, string> = {
    value: quote(value),
    path: quote(spot.path),
    item: spot.item,
    field: spot.field,
  };
  const message = says.replace(/\{(value|path|item|field)\}/g, (_, name: string) => parts[name] ?? '');
  return { code, message, path: spot.path, at: spot.at, hint };
}
