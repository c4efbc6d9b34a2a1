import { PROTOCOL_LIMITS } from '../limits.ts';
import type { Node, ObjectNode, ScalarNode } from '../text/node.ts';
import { TEXT_FORMATS } from '../text/text-format.ts';
import {
  emptyField,
  type FieldLocation,
  type Finding,
  isFieldOfItem,
  locateField,
  locateItem,
  missingField,
  notAChoice,
  notAnObject,
  ROOT_LOCATION,
  tooFewItems,
  tooManyItems,
  unknownField,
  wrongFieldType,
  wrongFormat,
  wrongMapKey,
} from './finding.ts';
import { findNearest } from './problem.ts';
import type {
  ChoiceShape,
  EitherShape,
  FlagShape,
  ListShape,
  MapShape,
  NumberShape,
  ObjectShape,
  Shape,
  TextShape,
} from './shape.ts';

export interface CheckedShape {
  /** The value as the shape sees it; meaningless where there are findings. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

/** Compares a tree with a shape and reports everything that does not fit, in the order of the shape's fields. */
export function checkShape(shape: ObjectShape, node: Node, title: string): CheckedShape {
  if (node.kind !== 'object') {
    return { value: undefined, findings: [notAnObject(title, node.at)] };
  }
  const findings: Finding[] = [];
  const value = readObject(shape, node, ROOT_LOCATION, findings);
  return { value, findings: findings.slice(0, PROTOCOL_LIMITS.problems) };
}

function readShape(shape: Shape, node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  if (node.kind === 'null' && shape.nullable) return null;
  switch (shape.kind) {
    case 'text':
      return readText(shape, node, spot, findings);
    case 'choice':
      return readChoice(shape, node, spot, findings);
    case 'number':
      return readNumber(shape, node, spot, findings);
    case 'flag':
      return readFlag(shape, node, spot, findings);
    case 'list':
      return readList(shape, node, spot, findings);
    case 'object':
      if (node.kind === 'object') return readObject(shape, node, spot, findings);
      findings.push(wrongFieldType(spot, 'an object'));
      return undefined;
    case 'map':
      return readMap(shape, node, spot, findings);
    case 'either': {
      const option = chooseOption(shape, node);
      if ('kind' in option) return readShape(option, node, spot, findings);
      findings.push(wrongFieldType(spot, shape.expected, option.hint));
      return undefined;
    }
    case 'any':
      return readAny(node, spot, findings);
  }
}

function readFlag({ only }: FlagShape, node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  if (node.kind !== 'boolean') findings.push(wrongFieldType(spot, 'a boolean'));
  else if (only !== undefined && node.value !== only) findings.push(wrongFieldType(spot, `${only}, or left out`));
  return node.kind === 'boolean' ? node.value : undefined;
}

function readMap(shape: MapShape, node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  if (node.kind !== 'object') {
    findings.push(wrongFieldType(spot, 'an object'));
    return undefined;
  }
  if (node.fields.size > (shape.max ?? Infinity)) findings.push(tooManyItems(shape.max, spot));
  const entries: [string, unknown][] = [];
  for (const [name, field] of node.fields) {
    if (!fits({ kind: 'text', ...shape.names }, name))
      findings.push(wrongMapKey(shape, locateField(spot, name, field.at)));
    const about = shape.of.about ?? shape.about;
    entries.push([name, readShape(shape.of, field.value, locateField(spot, name, field.value.at, about), findings)]);
    if (findings.length >= PROTOCOL_LIMITS.problems) break;
  }
  return Object.fromEntries(entries);
}

function readObject(shape: ObjectShape, node: ObjectNode, spot: FieldLocation, findings: Finding[]): unknown {
  const entries: [string, unknown][] = [];
  for (const [name, fieldShape] of Object.entries(shape.fields)) {
    const field = node.fields.get(name);
    if (field === undefined || (field.value.kind === 'null' && !fieldShape.nullable)) {
      if (!fieldShape.optional)
        findings.push(missingField(locateField(spot, name, field?.at ?? node.end, fieldShape.about)));
      continue;
    }
    entries.push([
      name,
      readShape(fieldShape, field.value, locateField(spot, name, field.value.at, fieldShape.about), findings),
    ]);
  }
  for (const [name, field] of node.fields) {
    if (Object.hasOwn(shape.fields, name)) continue;
    if (shape.open) entries.push([name, readAny(field.value, locateField(spot, name, field.value.at), findings)]);
    else findings.push(unknownField(locateField(spot, name, field.at), Object.keys(shape.fields)));
    if (findings.length >= PROTOCOL_LIMITS.problems) break;
  }
  return Object.fromEntries(entries);
}

function readList(shape: ListShape, node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  if (node.kind !== 'list') {
    findings.push(wrongFieldType(spot, 'an array'));
    return undefined;
  }
  if (node.items.length < (shape.min ?? 0)) findings.push(tooFewItems(shape, spot));
  if (node.items.length > (shape.max ?? Infinity)) findings.push(tooManyItems(shape.max, spot));
  const values: unknown[] = [];
  for (const [index, item] of node.items.entries()) {
    values.push(readShape(shape.of, item, locateItem(spot, index, item.at), findings));
    if (findings.length >= PROTOCOL_LIMITS.problems) break;
  }
  return values;
}

function readText(shape: TextShape, node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  const text = textOf(shape, node);
  if (text === undefined) {
    findings.push(shape.quoted ? wrongFormat(shape, sourceOf(node), spot) : wrongFieldType(spot, 'a string'));
  } else if (text === '' && shape.notEmpty) {
    findings.push(isFieldOfItem(spot) ? missingField(spot) : emptyField(spot));
  } else if (!fits(shape, text)) {
    findings.push(wrongFormat(shape, text, spot));
  }
  return text;
}

function fits(shape: TextShape, text: string): boolean {
  if (shape.pattern !== undefined && !new RegExp(shape.pattern, 'u').test(text)) return false;
  return shape.format === undefined || TEXT_FORMATS[shape.format](text);
}

function readChoice(shape: ChoiceShape, node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  const text = node.kind === 'text' ? node.text : sourceOf(node);
  if (node.kind !== 'text' || !shape.values.includes(text)) findings.push(notAChoice(shape, text, spot));
  return text;
}

function readNumber(shape: NumberShape, node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  const value = node.kind === 'number' && typeof node.value === 'number' ? node.value : Number.NaN;
  const tooSmall = shape.min !== undefined && value < shape.min;
  const tooLarge = shape.max !== undefined && value > shape.max;
  if (!Number.isFinite(value) || tooSmall || tooLarge || (shape.whole && !Number.isSafeInteger(value))) {
    findings.push(wrongFieldType(spot, numberName(shape)));
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

/** Free content: anything that the ledger can hold, so functions, infinities and fractions are refused rather than changed. */
function readAny(node: Node, spot: FieldLocation, findings: Finding[]): unknown {
  if (node.kind === 'object') {
    const entries = [...node.fields].map(
      ([name, { value }]) => [name, readAny(value, locateField(spot, name, value.at), findings)] as const,
    );
    return Object.fromEntries(entries);
  }
  if (node.kind === 'list') {
    return node.items.map((item, index) => readAny(item, locateItem(spot, index, item.at), findings));
  }
  if (node.kind === 'text') return node.text;
  // The ledger keeps only numbers that every language reads the same: what it would refuse is refused here, with its place.
  if (node.kind === 'other') findings.push(wrongFieldType(spot, 'JSON data'));
  else if (node.kind === 'number' && !Number.isSafeInteger(node.value))
    findings.push(wrongFieldType(spot, 'a whole number, or text'));
  return typeof node.value === 'number' ? withoutMinusZero(node.value) : node.value;
}

/** The shape that somebody who sent this value had in mind, or, where none fits, what they may have misspelt. */
export function chooseOption({ options }: EitherShape, node: Node): Shape | { readonly hint: string | undefined } {
  const ofKind = options.filter(({ kind }) => KINDS[kind].includes(node.kind));
  const [only, another] = ofKind;
  if (only !== undefined && another === undefined) return only;
  const chosen = ofKind.find((option) => option.kind !== 'object' || isMarked(option.mark, node));
  if (chosen !== undefined) return chosen;
  // Unquoted in YAML, `5` is a text where a text may stand.
  const text = 'plain' in node && node.plain ? options.find(({ kind }) => kind === 'text') : undefined;
  return text ?? { hint: misspelt(ofKind, node) };
}

const KINDS: Record<Shape['kind'], readonly Node['kind'][]> = {
  text: ['text'],
  choice: ['text'],
  number: ['number'],
  flag: ['boolean'],
  list: ['list'],
  object: ['object'],
  map: ['object'],
  either: [],
  any: ['text', 'number', 'boolean', 'list', 'object', 'null'],
};

function isMarked(mark: string | undefined, node: Node): boolean {
  return mark === undefined || (node.kind === 'object' && node.fields.has(mark));
}

function misspelt(options: readonly Shape[], node: Node): string | undefined {
  if (node.kind !== 'object') return undefined;
  const marks = options.flatMap((option) =>
    option.kind === 'object' && option.mark !== undefined ? [option.mark] : [],
  );
  const meant = [...node.fields.keys()].map((name) => findNearest(name, marks)).find((mark) => mark !== undefined);
  return meant === undefined ? undefined : `Did you mean \`${meant}\`?`;
}
