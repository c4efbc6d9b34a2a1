import { didYouMean, quote } from './problem.ts';
import type { ChoiceShape, ListShape, MapShape, TextShape } from './shape.ts';

/** What is wrong with a tree, before anybody knows in which line its offset lies. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly at: number;
  readonly hint: string;
}

/** Where a value stands: its own name, and the list item it belongs to, if any. */
export interface FieldLocation {
  readonly path: string;
  readonly field: string;
  readonly item: string;
  readonly at: number;
  /** What the shape says about it: the best hint there is. */
  readonly about: string | undefined;
}

export const ROOT_LOCATION: FieldLocation = { path: '', field: '', item: '', at: 0, about: undefined };

const HINTS = {
  object: 'Send an object with the fields that `baton schema` lists.',
  missing: 'Add it; `baton schema` lists every field.',
  type: 'Change the value to the type that `baton schema` gives for this field.',
  name: 'Choose another name.',
  many: 'Split it up.',
  value: 'Use one of the values that `baton schema` gives for this field.',
};

export function locateField(spot: FieldLocation, field: string, at: number, about?: string): FieldLocation {
  const path = spot.path === '' ? field : `${spot.path}.${field}`;
  return { path, field, item: spot.path === spot.item ? spot.item : '', at, about };
}

export function locateItem(list: FieldLocation, index: number, at: number): FieldLocation {
  const path = `${list.path}[${index}]`;
  return { path, field: path, item: path, at, about: list.about };
}

/** A field of a list's item is named after the item; an item that is itself a text has only its path. */
export function isFieldOfItem(spot: FieldLocation): boolean {
  return spot.item !== '' && spot.item !== spot.path;
}

export function notAnObject(title: string, at: number): Finding {
  return { code: 'wrong-type', message: `${title} must be an object`, path: '', at, hint: HINTS.object };
}

export function notAChoice(shape: ChoiceShape, text: string, spot: FieldLocation): Finding {
  const says = isFieldOfItem(spot) ? ITEM_MISFIT : `Invalid {path}: {value} (expected: ${shape.values.join(', ')})`;
  const hint = didYouMean(text, shape.values) ?? spot.about ?? HINTS.value;
  return finding('invalid-value', shape.says ?? says, spot, text, hint);
}

export function wrongFormat(shape: TextShape, text: string, spot: FieldLocation): Finding {
  const expected = shape.expected ?? 'another form';
  const says = isFieldOfItem(spot) ? ITEM_MISFIT : `Invalid {path}: {value} (expected ${expected})`;
  return finding('invalid-value', shape.says ?? says, spot, text, spot.about ?? HINTS.value);
}

const ITEM_MISFIT = "{item}: invalid {field} '{value}'";

export function tooFewItems(shape: ListShape, spot: FieldLocation): Finding {
  const says = shape.says ?? `Field {path} must contain at least ${shape.min}`;
  return finding('too-few', says, spot, '', spot.about ?? HINTS.type);
}

export function tooManyItems(max: number | undefined, spot: FieldLocation): Finding {
  return finding('too-many', `Field {path} must contain at most ${max}`, spot, '', HINTS.many);
}

export function missingField(spot: FieldLocation): Finding {
  const says = isFieldOfItem(spot) ? '{item}: missing {field}' : 'Missing required field: {path}';
  return finding('missing-field', says, spot, '', howToAdd(spot));
}

export function emptyField(spot: FieldLocation): Finding {
  return finding('empty', 'Field {path} must not be empty', spot, '', howToAdd(spot));
}

function howToAdd({ about }: FieldLocation): string {
  return about === undefined ? HINTS.missing : `Add it. ${about}`;
}

export function unknownField(spot: FieldLocation, known: readonly string[]): Finding {
  const fields = known.length === 0 ? 'there are no fields here' : `the fields here are: ${known.join(', ')}`;
  const hint = didYouMean(spot.field, known) ?? `Remove it; ${fields}.`;
  return finding('unknown-field', 'Unknown field: {path}', spot, '', hint);
}

export function wrongFieldType(spot: FieldLocation, type: string, hint?: string): Finding {
  return finding('wrong-type', `Field {path} must be ${type}`, spot, '', hint ?? spot.about ?? HINTS.type);
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
