import { type ElementFormat, TEXT_FORMATS, type TextFormat } from '../text/text-format.ts';

/**
 * A shape declares what a message looks like. It is plain data: the same declaration is checked (`check-shape.ts`),
 * published as JSON Schema (`json-schema.ts`) and typed (`ValueOf`), and it may come from a file that a user wrote.
 */
export type Shape =
  | TextShape
  | ChoiceShape
  | NumberShape
  | FlagShape
  | ListShape
  | ObjectShape
  | MapShape
  | EitherShape
  | AnyShape;

/** The shapes of XML content: a runbook declares the elements of a handoff with these names. */
export type Element = Scalar | ListElement | GroupElement | FreeElement;
/** An element without children, or an attribute. */
export type Scalar = TextElement | ChoiceShape | CountElement | FlagShape;
export type Elements = Readonly<Record<string, Element>>;

interface Described {
  /** One sentence for people: it becomes the description in the JSON Schema. */
  readonly about?: string;
  /** Whether the field may be missing; null counts as missing. */
  readonly optional?: boolean;
  /** Whether the value may be null; null is then kept. */
  readonly nullable?: boolean;
  /** The problem text if the value does not fit: `{value}`, `{path}`, `{item}`, `{field}` are filled in. */
  readonly says?: string;
}

export interface TextShape extends Described {
  readonly kind: 'text';
  readonly pattern?: string;
  readonly format?: TextFormat;
  readonly notEmpty?: boolean;
  readonly expected?: string;
  /** Refuses YAML scalars that are not quoted text: an unquoted 1 stays a number. */
  readonly quoted?: boolean;
  /** Allows empty texts in elements, which must not be empty otherwise. */
  readonly may_be_empty?: boolean;
}

interface TextElement extends Described {
  readonly kind: 'text';
  readonly format?: ElementFormat;
  readonly may_be_empty?: boolean;
}

export interface ChoiceShape extends Described {
  readonly kind: 'choice';
  readonly values: readonly string[];
}

export interface NumberShape extends Described {
  readonly kind: 'number';
  readonly min?: number;
  readonly max?: number;
  readonly whole?: boolean;
}

/** A whole number ≥ 0. XML writes it in plain decimal digits. */
export interface CountElement extends Described {
  readonly kind: 'count';
  readonly min?: number;
  readonly max?: number;
  readonly because?: string;
  /** The count is at least the number of items in the sibling `list` whose `attribute` is `value`. */
  readonly counts?: { readonly list: string; readonly attribute: string; readonly value: string };
}

export interface FlagShape extends Described {
  readonly kind: 'flag';
  readonly only?: boolean;
}

export interface ListShape extends Described {
  readonly kind: 'list';
  readonly of: Shape;
  readonly min?: number;
  readonly max?: number;
}

/** `<commits><commit sha="…">text</commit>…</commits>`: a list of texts, or with attributes a list of `{sha, text}`. */
export interface ListElement extends Described {
  readonly kind: 'list';
  readonly item: string;
  readonly attributes?: Readonly<Record<string, Scalar>>;
  readonly min?: number;
}

export interface ObjectShape extends Described {
  readonly kind: 'object';
  readonly fields: Readonly<Record<string, Shape>>;
  /** Keeps unknown fields instead of refusing them. */
  readonly open?: boolean;
  /** The required field that identifies this object among the options of an `either`. */
  readonly mark?: string;
}

/** An element whose children are named and occur at most once. */
export interface GroupElement extends Described {
  readonly kind: 'group';
  readonly elements: Elements;
  /**
   * Set by the checker for an item of a list: the item's name. Its `elements` are then its attributes and its `text`.
   */
  readonly item?: string;
}

/** Names that the sender chooses, each with a value of the same shape. */
export interface MapShape extends Described {
  readonly kind: 'map';
  readonly of: Shape;
  readonly names: Pick<TextShape, 'pattern' | 'expected'>;
  readonly max?: number;
}

/** One of several shapes: the first that accepts the value's kind, or, among objects, whose `mark` is present. */
export interface EitherShape extends Described {
  readonly kind: 'either';
  readonly options: readonly Exclude<Shape, EitherShape>[];
  /** A short description of all options, for the problem text. */
  readonly expected: string;
}

interface AnyShape extends Described {
  readonly kind: 'any';
}

/** A shape of any JSON whose type is declared in TypeScript. */
export interface TypedShape<T> extends AnyShape {
  /** Only a type: no shape has this field. */
  readonly type?: T;
}

interface FreeElement extends Described {
  readonly kind: 'free';
}

/** Free content: a text, or elements in their order. Empty content is an empty text. */
export type Data = string | readonly DataElement[];

export type DataElement = {
  readonly name: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly content: Data;
};

export type Fielded = ObjectShape | GroupElement;

export function fieldShapesOf(shape: Fielded): Readonly<Record<string, Shape | Element>> {
  return shape.kind === 'object' ? shape.fields : shape.elements;
}

export function itemShapeOf(list: ListShape | ListElement): Shape | Element {
  if ('of' in list) return list.of;
  return list.attributes ? { kind: 'group', item: list.item, elements: { ...list.attributes, text: TEXT } } : TEXT;
}

const TEXT = { kind: 'text' } as const satisfies TextElement;
export type ValueOf<S> = S extends { nullable: true } ? PresentOf<S> | null : PresentOf<S>;

type PresentOf<S> = S extends { kind: 'text' }
  ? string
  : S extends { kind: 'choice'; values: readonly (infer V)[] }
    ? V
    : S extends { kind: 'number' | 'count' }
      ? number
      : S extends { kind: 'flag' }
        ? boolean
        : S extends { kind: 'list'; of: infer I }
          ? readonly ValueOf<I>[]
          : S extends { kind: 'list'; attributes: infer A }
            ? readonly Flat<FieldsOf<A> & { readonly text: string }>[]
            : S extends { kind: 'list' }
              ? readonly string[]
              : S extends { kind: 'object'; fields: infer F }
                ? OpenOr<FieldsOf<F>, S>
                : S extends { kind: 'group'; elements: infer G }
                  ? FieldsOf<G>
                  : S extends { kind: 'map'; of: infer M }
                    ? { readonly [name: string]: ValueOf<M> }
                    : S extends { kind: 'either'; options: readonly (infer O)[] }
                      ? EachOf<O>
                      : S extends { kind: 'free' }
                        ? Data
                        : S extends TypedShape<infer T>
                          ? T
                          : unknown;

/** Distributes over the options, because a union of shapes has no common kind. */
type EachOf<O> = O extends unknown ? ValueOf<O> : never;
type OpenOr<T, S> = S extends { open: true } ? Flat<T & { readonly [other: string]: unknown }> : T;

export type FieldsOf<F> = Flat<
  { readonly [K in keyof F as F[K] extends { optional: true } ? never : K]: ValueOf<F[K]> } & {
    readonly [K in keyof F as F[K] extends { optional: true } ? K : never]?: ValueOf<F[K]>;
  }
>;

export type Flat<T> = { [K in keyof T]: T[K] };
/** JSON Schema, draft 2020-12: the part of a shape that a schema can express, for editors and other validators. */
export type JsonSchema = { readonly [key: string]: unknown };
export const DRAFT = 'https://json-schema.org/draft/2020-12/schema';

export function jsonSchemaOf(title: string, shape: ObjectShape): JsonSchema {
  return { $schema: DRAFT, title, ...schemaOf(shape) };
}

function schemaOf(shape: Shape | Element, isElement = false): JsonSchema {
  if (shape.kind === 'free') return { $ref: '#/$defs/data' };
  const about = shape.about === undefined ? {} : { description: shape.about };
  const type = shape.nullable ? { anyOf: [typeOf(shape, isElement), { type: 'null' }] } : typeOf(shape, isElement);
  return isElement ? { ...type, ...about } : { ...about, ...type };
}

function typeOf(shape: Exclude<Shape | Element, { kind: 'free' }>, isElement: boolean): JsonSchema {
  switch (shape.kind) {
    case 'text':
      return textSchema(shape, isElement);
    case 'choice':
      return { ...(isElement ? {} : { type: 'string' }), enum: shape.values };
    case 'count':
      return { type: 'integer', minimum: shape.min ?? 0, maximum: shape.max ?? Number.MAX_SAFE_INTEGER };
    case 'number':
      return {
        type: shape.whole ? 'integer' : 'number',
        ...(shape.min === undefined ? {} : { minimum: shape.min }),
        ...(shape.max === undefined ? {} : { maximum: shape.max }),
      };
    case 'flag':
      return shape.only === undefined ? { type: 'boolean' } : { type: 'boolean', const: shape.only };
    case 'list':
      return {
        type: 'array',
        items: schemaOf(itemShapeOf(shape), isElement),
        ...(shape.min === undefined ? {} : { minItems: shape.min }),
        ...('of' in shape && shape.max !== undefined ? { maxItems: shape.max } : {}),
      };
    case 'object':
    case 'group':
      return fieldsSchemaOf(shape);
    case 'map':
      return {
        type: 'object',
        propertyNames: textSchema({ kind: 'text', ...shape.names }, isElement),
        additionalProperties: schemaOf(shape.of),
        ...(shape.max === undefined ? {} : { maxProperties: shape.max }),
      };
    case 'either':
      return { anyOf: shape.options.map((option) => schemaOf(option)) };
    case 'any':
      return {};
  }
}

export function fieldsSchemaOf(shape: Fielded) {
  const fields = Object.entries(fieldShapesOf(shape));
  const isElement = shape.kind === 'group';
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(([name, field]) => [
        name,
        isElement && field.optional ? { anyOf: [schemaOf(field, true), { type: 'null' }] } : schemaOf(field, isElement),
      ]),
    ),
    required: fields.filter(([, field]) => !field.optional).map(([name]) => name),
    additionalProperties: shape.kind === 'object' && shape.open === true,
  };
}

function textSchema(shape: TextShape, isElement: boolean): JsonSchema {
  const { notEmpty = isElement, may_be_empty, format, pattern } = shape;
  return {
    type: 'string',
    ...(notEmpty && may_be_empty !== true ? { minLength: 1 } : {}),
    ...(format === undefined ? {} : TEXT_FORMATS[format].schema),
    ...(pattern === undefined ? {} : { pattern }),
  };
}
