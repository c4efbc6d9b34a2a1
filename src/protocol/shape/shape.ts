/**
 * The one source of what a message looks like. A shape is plain data, so the same declaration is checked (`check-shape.ts`),
 * published as JSON Schema (`json-schema.ts`), typed (`ValueOf`), and may come from a file that a user wrote.
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

interface Described {
  /** One sentence for people: it becomes the description in the JSON Schema. */
  readonly about?: string;
  /** A field that may be missing; null counts as missing. */
  readonly optional?: boolean;
  /** The value may be null, and null is kept. */
  readonly nullable?: boolean;
  /** The text of the problem where the value does not fit: `{value}`, `{path}`, `{item}`, `{field}` are filled in. */
  readonly says?: string;
}

export interface TextShape extends Described {
  readonly kind: 'text';
  readonly pattern?: string;
  readonly format?: TextFormat;
  readonly notEmpty?: boolean;
  /** What a fitting text looks like, in a word or two, for the default problem text. */
  readonly expected?: string;
  /** Text only where it was written as text: an unquoted 1 in YAML stays a number and is refused. */
  readonly quoted?: boolean;
}

export type TextFormat = 'iso-8601' | 'relative-path' | 'git-ref' | 'git-sha';

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

export interface FlagShape extends Described {
  readonly kind: 'flag';
  /** The only value that makes sense here. */
  readonly only?: boolean;
}

export interface ListShape extends Described {
  readonly kind: 'list';
  readonly of: Shape;
  readonly min?: number;
  readonly max?: number;
}

export interface ObjectShape extends Described {
  readonly kind: 'object';
  readonly fields: Readonly<Record<string, Shape>>;
  /** Other fields are kept as they are instead of being refused. */
  readonly open?: boolean;
  /** The field by which it is told from other objects, where a value is `either`. It is required. */
  readonly mark?: string;
}

/** Names that the sender chooses, each with a value of the same shape. */
export interface MapShape extends Described {
  readonly kind: 'map';
  readonly of: Shape;
  /** What a name looks like. */
  readonly names: Pick<TextShape, 'pattern' | 'expected'>;
  readonly max?: number;
}

/** One of several shapes: the first whose kind of value was sent, or, among objects, whose `mark` was. */
export interface EitherShape extends Described {
  readonly kind: 'either';
  readonly options: readonly Exclude<Shape, EitherShape>[];
  /** All of them in a few words, for the problem text. */
  readonly expected: string;
}

export interface AnyShape extends Described {
  readonly kind: 'any';
}

/** A shape of any JSON whose type is declared in TypeScript. */
export interface TypedShape<T> extends AnyShape {
  /** Only a type: no shape has this field. */
  readonly type?: T;
}

/** The TypeScript type of the values that a shape accepts. */
export type ValueOf<S> = S extends { nullable: true } ? PresentOf<S> | null : PresentOf<S>;

type PresentOf<S> = S extends { kind: 'text' }
  ? string
  : S extends { kind: 'choice'; values: readonly (infer V)[] }
    ? V
    : S extends { kind: 'number' }
      ? number
      : S extends { kind: 'flag' }
        ? boolean
        : S extends { kind: 'list'; of: infer I }
          ? readonly ValueOf<I>[]
          : S extends { kind: 'object'; fields: infer F }
            ? ObjectOf<F, S extends { open: true } ? true : false>
            : S extends { kind: 'map'; of: infer M }
              ? { readonly [name: string]: ValueOf<M> }
              : S extends { kind: 'either'; options: readonly (infer O)[] }
                ? EachOf<O>
                : S extends TypedShape<infer T>
                  ? T
                  : unknown;

/** Option by option, since a union of shapes has no one kind. */
type EachOf<O> = O extends unknown ? ValueOf<O> : never;

type ObjectOf<F, Open> = Flat<
  { readonly [K in keyof F as F[K] extends { optional: true } ? never : K]: ValueOf<F[K]> } & {
    readonly [K in keyof F as F[K] extends { optional: true } ? K : never]?: ValueOf<F[K]>;
  } & (Open extends true ? { readonly [other: string]: unknown } : unknown)
>;

type Flat<T> = { [K in keyof T]: T[K] };

/** JSON Schema, draft 2020-12: as much of a shape as a schema can say, for editors and for other people's validators. */
export type JsonSchema = { readonly [key: string]: unknown };

export function jsonSchemaOf(title: string, shape: ObjectShape): JsonSchema {
  return { $schema: 'https://json-schema.org/draft/2020-12/schema', title, ...schemaOf(shape) };
}

function schemaOf(shape: Shape): JsonSchema {
  const about = shape.about === undefined ? {} : { description: shape.about };
  return { ...about, ...(shape.nullable ? { anyOf: [typeOf(shape), { type: 'null' }] } : typeOf(shape)) };
}

function typeOf(shape: Shape): JsonSchema {
  switch (shape.kind) {
    case 'text':
      return textSchema(shape);
    case 'choice':
      return { type: 'string', enum: shape.values };
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
        items: schemaOf(shape.of),
        ...(shape.min === undefined ? {} : { minItems: shape.min }),
        ...(shape.max === undefined ? {} : { maxItems: shape.max }),
      };
    case 'object':
      return objectSchema(shape);
    case 'map':
      return {
        type: 'object',
        propertyNames: textSchema({ kind: 'text', ...shape.names }),
        additionalProperties: schemaOf(shape.of),
        ...(shape.max === undefined ? {} : { maxProperties: shape.max }),
      };
    case 'either':
      return { anyOf: shape.options.map(schemaOf) };
    case 'any':
      return {};
  }
}

function objectSchema(shape: ObjectShape): JsonSchema {
  const fields = Object.entries(shape.fields);
  return {
    type: 'object',
    properties: Object.fromEntries(fields.map(([name, field]) => [name, schemaOf(field)])),
    required: fields.filter(([, field]) => !field.optional).map(([name]) => name),
    additionalProperties: shape.open === true,
  };
}

const FORMATS: Record<TextFormat, JsonSchema> = {
  'iso-8601': { format: 'date-time' },
  'relative-path': {
    pattern: '^(?![/\\\\])(?![A-Za-z]:)(?!([\\s\\S]*[/\\\\])?\\.\\.([/\\\\]|$))[^\\u0000-\\u001f\\u007f-\\u009f]+$',
  },
  'git-ref': { pattern: '^(?!-)[^\\u0000-\\u0020\\u007f-\\u009f~^:?*\\[\\\\]+$' },
  'git-sha': { pattern: '^[0-9a-fA-F]{1,64}$' },
};

function textSchema(shape: TextShape): JsonSchema {
  return {
    type: 'string',
    ...(shape.notEmpty ? { minLength: 1 } : {}),
    ...(shape.format === undefined ? {} : FORMATS[shape.format]),
    ...(shape.pattern === undefined ? {} : { pattern: shape.pattern }),
  };
}
