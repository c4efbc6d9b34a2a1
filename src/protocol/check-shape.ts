import { LIMITS } from './limits.ts';
import type { Node, ObjectNode, ScalarNode } from './node.ts';
import { quote } from './quote.ts';
import type { ChoiceShape, ListShape, NumberShape, ObjectShape, Shape, TextShape } from './shape.ts';
import { didYouMean } from './suggest.ts';
import { TEXT_FORMATS } from './text-format.ts';

/** What is wrong with a tree, before anybody knows in which line its offset lies. */
export interface Finding {
  readonly code: string;
  readonly message: string;
  readonly path: string;
  readonly at: number;
  readonly hint: string;
}

export interface Checked {
  /** The value as the shape sees it; meaningless where there are findings. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

/** Compares a tree with a shape and reports everything that does not fit, in the order of the shape's fields. */
export function checkShape(shape: ObjectShape, node: Node, title: string): Checked {
  if (node.kind !== 'object') {
    const finding = {
      code: 'wrong-type',
      message: `${title} must be an object`,
      path: '',
      at: node.at,
      hint: HINTS.object,
    };
    return { value: undefined, findings: [finding] };
  }
  const findings: Finding[] = [];
  const value = readObject(shape, node, ROOT, findings);
  return { value, findings: findings.slice(0, LIMITS.problems) };
}

/** Where a value stands: its own name, and the list item it belongs to, if any. */
interface Spot {
  readonly path: string;
  readonly field: string;
  readonly item: string;
  readonly at: number;
  /** What the shape says about it: the best hint there is. */
  readonly about: string | undefined;
}

const ROOT: Spot = { path: '', field: '', item: '', at: 0, about: undefined };

const HINTS = {
  object: 'Send an object with the fields that `baton schema` lists.',
  missing: 'Add it; `baton schema` lists every field.',
  type: 'Change the value to the type that `baton schema` gives for this field.',
  value: 'Use one of the values that `baton schema` gives for this field.',
};

function readShape(shape: Shape, node: Node, spot: Spot, findings: Finding[]): unknown {
  switch (shape.kind) {
    case 'text':
      return readText(shape, node, spot, findings);
    case 'choice':
      return readChoice(shape, node, spot, findings);
    case 'number':
      return readNumber(shape, node, spot, findings);
    case 'flag':
      if (node.kind !== 'boolean') findings.push(wrongType(spot, 'a boolean'));
      return node.kind === 'boolean' ? node.value : undefined;
    case 'list':
      return readList(shape, node, spot, findings);
    case 'object':
      if (node.kind === 'object') return readObject(shape, node, spot, findings);
      findings.push(wrongType(spot, 'an object'));
      return undefined;
    case 'any':
      return readAny(node, spot, findings);
  }
}

function readObject(shape: ObjectShape, node: ObjectNode, spot: Spot, findings: Finding[]): unknown {
  const entries: [string, unknown][] = [];
  for (const [name, fieldShape] of Object.entries(shape.fields)) {
    const field = node.fields.get(name);
    if (field === undefined || field.value.kind === 'null') {
      if (!fieldShape.optional) findings.push(missing(inside(spot, name, field?.at ?? node.end, fieldShape.about)));
      continue;
    }
    entries.push([
      name,
      readShape(fieldShape, field.value, inside(spot, name, field.value.at, fieldShape.about), findings),
    ]);
  }
  for (const [name, field] of node.fields) {
    if (Object.hasOwn(shape.fields, name)) continue;
    if (shape.open) entries.push([name, readAny(field.value, inside(spot, name, field.value.at), findings)]);
    else findings.push(unknown(inside(spot, name, field.at), Object.keys(shape.fields)));
    if (findings.length >= LIMITS.problems) break;
  }
  return Object.fromEntries(entries);
}

function readList(shape: ListShape, node: Node, spot: Spot, findings: Finding[]): unknown {
  if (node.kind !== 'list') {
    findings.push(wrongType(spot, 'an array'));
    return undefined;
  }
  if (node.items.length < (shape.min ?? 0)) {
    findings.push(
      finding(
        'too-few',
        shape.says ?? `Field {path} must contain at least ${shape.min}`,
        spot,
        '',
        spot.about ?? HINTS.type,
      ),
    );
  }
  const values: unknown[] = [];
  for (const [index, item] of node.items.entries()) {
    values.push(readShape(shape.of, item, itemOf(spot, index, item.at), findings));
    if (findings.length >= LIMITS.problems) break;
  }
  return values;
}

function readText(shape: TextShape, node: Node, spot: Spot, findings: Finding[]): unknown {
  const text = textOf(shape, node);
  if (text === undefined) {
    findings.push(shape.quoted ? misfit(shape, sourceOf(node), spot) : wrongType(spot, 'a string'));
  } else if (text === '' && shape.notEmpty) {
    findings.push(isFieldOfItem(spot) ? missing(spot) : empty(spot));
  } else if (!fits(shape, text)) {
    findings.push(misfit(shape, text, spot));
  }
  return text;
}

function fits(shape: TextShape, text: string): boolean {
  if (shape.pattern !== undefined && !new RegExp(shape.pattern, 'u').test(text)) return false;
  return shape.format === undefined || TEXT_FORMATS[shape.format](text);
}

function readChoice(shape: ChoiceShape, node: Node, spot: Spot, findings: Finding[]): unknown {
  const text = node.kind === 'text' ? node.text : sourceOf(node);
  if (node.kind !== 'text' || !shape.values.includes(text)) {
    const says =
      shape.says ??
      (isFieldOfItem(spot) ? ITEM_MISFIT : `Invalid {path}: {value} (expected: ${shape.values.join(', ')})`);
    findings.push(
      finding('invalid-value', says, spot, text, didYouMean(text, shape.values) ?? spot.about ?? HINTS.value),
    );
  }
  return text;
}

const ITEM_MISFIT = "{item}: invalid {field} '{value}'";

function misfit(shape: TextShape, text: string, spot: Spot): Finding {
  const says =
    shape.says ??
    (isFieldOfItem(spot) ? ITEM_MISFIT : `Invalid {path}: {value} (expected ${shape.expected ?? 'another form'})`);
  return finding('invalid-value', says, spot, text, spot.about ?? HINTS.value);
}

function readNumber(shape: NumberShape, node: Node, spot: Spot, findings: Finding[]): unknown {
  const value = node.kind === 'number' && typeof node.value === 'number' ? node.value : Number.NaN;
  const tooSmall = shape.min !== undefined && value < shape.min;
  const tooLarge = shape.max !== undefined && value > shape.max;
  if (!Number.isFinite(value) || tooSmall || tooLarge || (shape.whole && !Number.isSafeInteger(value))) {
    findings.push(wrongType(spot, numberName(shape)));
  }
  return withoutMinusZero(value);
}

function numberName({ min, max, whole }: NumberShape): string {
  const noun = whole ? 'whole number' : 'number';
  if (min !== undefined && max !== undefined) return `a ${noun} from ${min} to ${max}`;
  return min === 0 ? `a non-negative ${noun}` : `a ${noun}`;
}

/** JSON cannot say it, so it would not survive being passed on. */
function withoutMinusZero(value: number): number {
  return value === 0 ? 0 : value;
}

/**
 * YAML's idea of a number is not a reason to lose a text: unquoted, `1e5` in a text field is the text `1e5`. Null is no
 * text in either syntax: as a field it is absent, in a list it is a mistake.
 */
function textOf(shape: TextShape, node: Node): string | undefined {
  if (node.kind === 'text') return node.text;
  return isScalar(node) && node.kind !== 'null' && node.plain && !shape.quoted ? node.source : undefined;
}

function sourceOf(node: Node): string {
  if (node.kind === 'text') return node.text;
  return isScalar(node) ? node.source : node.kind === 'list' ? 'a list' : 'an object';
}

function isScalar(node: Node): node is ScalarNode {
  return node.kind === 'number' || node.kind === 'boolean' || node.kind === 'null' || node.kind === 'other';
}

/** Free content: anything that JSON can hold, so functions and infinities are refused rather than turned into null. */
function readAny(node: Node, spot: Spot, findings: Finding[]): unknown {
  if (node.kind === 'object') {
    const entries = [...node.fields].map(
      ([name, { value }]) => [name, readAny(value, inside(spot, name, value.at), findings)] as const,
    );
    return Object.fromEntries(entries);
  }
  if (node.kind === 'list') {
    return node.items.map((item, index) => readAny(item, itemOf(spot, index, item.at), findings));
  }
  if (node.kind === 'text') return node.text;
  const isData = node.kind !== 'other' && (typeof node.value !== 'number' || Number.isFinite(node.value));
  if (!isData) findings.push(wrongType(spot, 'JSON data'));
  return typeof node.value === 'number' ? withoutMinusZero(node.value) : node.value;
}

function inside(spot: Spot, field: string, at: number, about?: string): Spot {
  const path = spot.path === '' ? field : `${spot.path}.${field}`;
  return { path, field, item: spot.path === spot.item ? spot.item : '', at, about };
}

function itemOf(list: Spot, index: number, at: number): Spot {
  const path = `${list.path}[${index}]`;
  return { path, field: path, item: path, at, about: list.about };
}

/** A field of a list's item is named after the item; an item that is itself a text has only its path. */
function isFieldOfItem(spot: Spot): boolean {
  return spot.item !== '' && spot.item !== spot.path;
}

function missing(spot: Spot): Finding {
  const says = isFieldOfItem(spot) ? '{item}: missing {field}' : 'Missing required field: {path}';
  return finding('missing-field', says, spot, '', howToAdd(spot));
}

function empty(spot: Spot): Finding {
  return finding('empty', 'Field {path} must not be empty', spot, '', howToAdd(spot));
}

function howToAdd({ about }: Spot): string {
  return about === undefined ? HINTS.missing : `Add it. ${about}`;
}

function unknown(spot: Spot, known: readonly string[]): Finding {
  const hint = didYouMean(spot.field, known) ?? `Remove it; the fields here are: ${known.join(', ')}.`;
  return finding('unknown-field', 'Unknown field: {path}', spot, '', hint);
}

function wrongType(spot: Spot, type: string): Finding {
  return finding('wrong-type', `Field {path} must be ${type}`, spot, '', spot.about ?? HINTS.type);
}

function finding(code: string, says: string, spot: Spot, value: string, hint: string): Finding {
  const parts: Record<string, string> = {
    value: quote(value),
    path: quote(spot.path),
    item: spot.item,
    field: spot.field,
  };
  const message = says.replace(/\{(value|path|item|field)\}/g, (_, name: string) => parts[name] ?? '');
  return { code, message, path: spot.path, at: spot.at, hint };
}
