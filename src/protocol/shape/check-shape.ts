import { PROTOCOL_LIMITS } from '../limits.ts';
import { isScalar, type Node, type ObjectNode } from '../text/node.ts';
import { TEXT_FORMATS } from '../text/text-format.ts';
import {
  FIELD_WORDING,
  type FieldLocation,
  type Finding,
  locateField,
  locateItem,
  rootSpot,
  tooManyItems,
  type Wording,
  wrongFieldType,
  wrongMapKey,
} from './finding.ts';
import { findNearest } from './problem.ts';
import { fieldOf, listOf } from './read-unknown.ts';
import {
  type ChoiceShape,
  type CountElement,
  type EitherShape,
  type Element,
  type Fielded,
  fieldShapesOf,
  type FlagShape,
  itemShapeOf,
  type ListElement,
  type ListShape,
  type MapShape,
  type NumberShape,
  type Shape,
  type TextShape,
} from './shape.ts';

export interface CheckedShape {
  /** The value as the shape declares it; meaningless if there are findings. */
  readonly value: unknown;
  readonly findings: readonly Finding[];
}

/** Compares a tree with a shape and reports all mismatches, in the order of the shape's fields. */
export function checkShape(shape: Fielded, node: Node, title: string, wording: Wording = FIELD_WORDING): CheckedShape {
  const check = new Check(wording);
  const value = check.read(shape, node, rootSpot(title, node.at));
  return { value, findings: check.findings.slice(0, PROTOCOL_LIMITS.problems) };
}

class Check {
  readonly findings: Finding[] = [];
  readonly #wording: Wording;

  constructor(wording: Wording) {
    this.#wording = wording;
  }

  read(shape: Shape | Element, node: Node, spot: FieldLocation): unknown {
    if (node.kind === 'null' && shape.nullable) return null;
    switch (shape.kind) {
      case 'text':
        return this.#readText(shape, node, spot);
      case 'choice':
        return this.#readChoice(shape, node, spot);
      case 'number':
      case 'count':
        return this.#readNumber(shape, node, spot);
      case 'flag':
        return this.#readFlag(shape, node, spot);
      case 'list':
        return this.#readList(shape, node, spot);
      case 'object':
      case 'group':
        return node.kind === 'object'
          ? this.#readObject(shape, node, spot)
          : this.#refuse(this.#wording.notAnObject(shape, spot));
      case 'map':
        return this.#readMap(shape, node, spot);
      case 'either': {
        const option = chooseOption(shape, node);
        return 'kind' in option
          ? this.read(option, node, spot)
          : this.#refuse(wrongFieldType(spot, shape.expected, option.hint));
      }
      case 'any':
        return this.#readAny(node, spot);
      case 'free':
        return this.#wording.free?.(node, spot, this.findings);
    }
  }

  #refuse(finding: Finding): undefined {
    this.findings.push(finding);
  }

  get #isFull(): boolean {
    return this.findings.length >= PROTOCOL_LIMITS.problems;
  }

  #readObject(shape: Fielded, node: ObjectNode, spot: FieldLocation): unknown {
    const entries: [string, unknown][] = [];
    const isUnknownFirst = this.#wording.reportsUnknownFirst(shape);
    if (isUnknownFirst) this.#readUnknown(shape, node, spot, entries);
    for (const [name, field] of Object.entries(fieldShapesOf(shape))) {
      const given = node.fields.get(name);
      if (given === undefined || (given.value.kind === 'null' && !field.nullable)) {
        const place = locateField(spot, name, given?.at ?? node.end, field.about);
        if (!field.optional) this.#refuse(this.#wording.missing(field, place, shape));
        continue;
      }
      entries.push([name, this.read(field, given.value, locateField(spot, name, given.value.at, field.about))]);
    }
    if (!isUnknownFirst) this.#readUnknown(shape, node, spot, entries);
    const value = Object.fromEntries(entries);
    if (shape.kind === 'group') this.#checkCounts(shape.elements, value, node, spot);
    return value;
  }

  #readUnknown(shape: Fielded, node: ObjectNode, spot: FieldLocation, entries: [string, unknown][]): void {
    const known = fieldShapesOf(shape);
    for (const [name, field] of node.fields) {
      if (Object.hasOwn(known, name)) continue;
      if (shape.kind === 'object' && shape.open) {
        entries.push([name, this.#readAny(field.value, locateField(spot, name, field.value.at))]);
      } else {
        this.#refuse(this.#wording.unknown(locateField(spot, name, field.at), Object.keys(known)));
      }
      if (this.#isFull) break;
    }
  }

  /** Refuses a count that is lower than the list beside it shows: such a count would hide an issue. */
  #checkCounts(
    elements: Readonly<Record<string, Element>>,
    value: object,
    node: ObjectNode,
    spot: FieldLocation,
  ): void {
    for (const [name, element] of Object.entries(elements)) {
      const given = fieldOf(value, name);
      if (element.kind !== 'count' || !element.counts || typeof given !== 'number') continue;
      const { list, attribute, value: counted } = element.counts;
      const listed = listOf(fieldOf(value, list)).filter((item) => fieldOf(item, attribute) === counted).length;
      const place = locateField(spot, name, node.fields.get(name)?.value.at ?? node.at);
      const finding = given < listed ? this.#wording.countTooLow?.(element.counts, given, listed, place) : undefined;
      if (finding) this.#refuse(finding);
    }
  }

  #readMap(shape: MapShape, node: Node, spot: FieldLocation): unknown {
    if (node.kind !== 'object') return this.#refuse(wrongFieldType(spot, 'an object'));
    if (node.fields.size > (shape.max ?? Infinity)) this.#refuse(tooManyItems(shape.max, spot));
    const entries: [string, unknown][] = [];
    for (const [name, field] of node.fields) {
      if (!fits({ kind: 'text', ...shape.names }, name))
        this.#refuse(wrongMapKey(shape, locateField(spot, name, field.at)));
      const about = shape.of.about ?? shape.about;
      entries.push([name, this.read(shape.of, field.value, locateField(spot, name, field.value.at, about))]);
      if (this.#isFull) break;
    }
    return Object.fromEntries(entries);
  }

  #readList(shape: ListShape | ListElement, node: Node, spot: FieldLocation): unknown {
    if (node.kind !== 'list') return this.#refuse(this.#wording.notAList(shape, spot));
    if (node.items.length < (shape.min ?? 0)) this.#refuse(this.#wording.tooFew(shape, spot));
    if ('of' in shape && node.items.length > (shape.max ?? Infinity)) this.#refuse(tooManyItems(shape.max, spot));
    const item = itemShapeOf(shape);
    const values: unknown[] = [];
    for (const [index, each] of node.items.entries()) {
      values.push(this.read(item, each, locateItem(spot, index, each.at)));
      if (this.#isFull) break;
    }
    return values;
  }

  #readText(shape: TextShape, node: Node, spot: FieldLocation): unknown {
    const text = textOf(shape, node);
    if (text === undefined) return this.#refuse(this.#wording.notText(shape, node, spot));
    const unwritable = this.#wording.unwritable?.(text, spot);
    if (unwritable) return this.#refuse(unwritable);
    if (text === '' && !this.#wording.mayBeEmpty(shape)) return this.#refuse(this.#wording.empty(spot));
    return fits(shape, text) ? text : this.#refuse(this.#wording.misfit(shape, text, spot));
  }

  #readChoice(shape: ChoiceShape, node: Node, spot: FieldLocation): unknown {
    if (node.kind !== 'text') return this.#refuse(this.#wording.notAChoice(shape, node, spot));
    const unwritable = this.#wording.unwritable?.(node.text, spot);
    if (unwritable) return this.#refuse(unwritable);
    return shape.values.includes(node.text) ? node.text : this.#refuse(this.#wording.notAChoice(shape, node, spot));
  }

  #readNumber(shape: NumberShape | CountElement, node: Node, spot: FieldLocation): unknown {
    const value = node.kind === 'number' && typeof node.value === 'number' ? node.value : Number.NaN;
    const isCount = shape.kind === 'count';
    const { min = isCount ? 0 : -Infinity, max = Infinity } = shape;
    const isWhole = Number.isSafeInteger(value) || !(isCount || shape.whole);
    return Number.isFinite(value) && isWhole && value >= min && value <= max
      ? withoutMinusZero(value)
      : this.#refuse(this.#wording.notANumber(shape, value, spot));
  }

  #readFlag(shape: FlagShape, node: Node, spot: FieldLocation): unknown {
    const fitting = node.kind === 'boolean' && (shape.only === undefined || node.value === shape.only);
    return fitting ? node.value : this.#refuse(this.#wording.notAFlag(shape, node, spot));
  }

  /** Accepts what the ledger can record: functions, infinities and fractions are refused, not converted. */
  #readAny(node: Node, spot: FieldLocation): unknown {
    if (node.kind === 'object') {
      const entries = [...node.fields].map(
        ([name, { value }]) => [name, this.#readAny(value, locateField(spot, name, value.at))] as const,
      );
      return Object.fromEntries(entries);
    }
    if (node.kind === 'list') {
      return node.items.map((item, index) => this.#readAny(item, locateItem(spot, index, item.at)));
    }
    if (node.kind === 'text') return node.text;
    if (node.kind === 'other') this.#refuse(wrongFieldType(spot, 'JSON data'));
    // The ledger accepts only numbers that every language reads alike; refusing others here gives the problem a place.
    else if (node.kind === 'number' && !Number.isSafeInteger(node.value))
      this.#refuse(wrongFieldType(spot, 'a whole number, or text'));
    return typeof node.value === 'number' ? withoutMinusZero(node.value) : node.value;
  }
}

function fits(shape: TextShape, text: string): boolean {
  if (shape.pattern !== undefined && !new RegExp(shape.pattern, 'u').test(text)) return false;
  return shape.format === undefined || TEXT_FORMATS[shape.format].fits(text);
}

/** JSON cannot write -0: it would become 0 when the message is passed on. */
function withoutMinusZero(value: number): number {
  return value === 0 ? 0 : value;
}

function textOf(shape: TextShape, node: Node): string | undefined {
  if (node.kind === 'text') return node.text;
  return isScalar(node) && node.kind !== 'null' && node.plain && !shape.quoted ? node.source : undefined;
}

/** Returns the option that fits this value's kind; if none does, a hint about a misspelt field. */
function chooseOption({ options }: EitherShape, node: Node): Shape | { readonly hint: string | undefined } {
  const ofKind = options.filter(({ kind }) => KINDS[kind].includes(node.kind));
  const [only, another] = ofKind;
  if (only !== undefined && another === undefined) return only;
  const chosen = ofKind.find((option) => option.kind !== 'object' || isMarked(option.mark, node));
  if (chosen !== undefined) return chosen;
  // An unquoted YAML scalar such as `5` is read as text if text is an option.
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
