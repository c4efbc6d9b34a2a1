/**
 * What may stand in an element. Plain data, so that a runbook can declare a role's elements in a file, and so that one
 * declaration is checked, rendered, typed (`ValueOf`) and published as JSON Schema.
 */
export type Element = Scalar | ListElement | GroupElement | FreeElement;

/** What fits into one text: an element without children, or an attribute. */
export type Scalar = TextElement | ChoiceElement | CountElement | FlagElement;

export type Elements = Readonly<Record<string, Element>>;

interface Described {
  readonly optional?: boolean;
  /** One sentence for people: it becomes the description in the JSON Schema. */
  readonly about?: string;
}

/** Text is data and stays as it is. It is not empty unless `may_be_empty` says so. */
export interface TextElement extends Described {
  readonly kind: 'text';
  readonly format?: ElementFormat;
  readonly may_be_empty?: boolean;
}

export type ElementFormat = 'agent' | 'branch' | 'digits' | 'sha' | 'timestamp' | 'url';

export interface ChoiceElement extends Described {
  readonly kind: 'choice';
  readonly values: readonly string[];
}

/** A whole number ≥ 0, written in plain decimal, so that it comes back as it was written. */
export interface CountElement extends Described {
  readonly kind: 'count';
  readonly min?: number;
  readonly max?: number;
  /** Why the bounds are what they are, for the problem's hint. */
  readonly because?: string;
  /** The count is at least the number of items in `list` whose `attribute` is `value`. */
  readonly counts?: { readonly list: string; readonly attribute: string; readonly value: string };
}

export interface FlagElement extends Described {
  readonly kind: 'flag';
}

/** `<commits><commit sha="…">text</commit>…</commits>`: texts, or with attributes `{sha, text}`. */
export interface ListElement extends Described {
  readonly kind: 'list';
  readonly item: string;
  readonly attributes?: Readonly<Record<string, Scalar>>;
  readonly min?: number;
}

export interface GroupElement extends Described {
  readonly kind: 'group';
  readonly elements: Elements;
}

/** Anything, kept as it is: the `data` element. */
export interface FreeElement extends Described {
  readonly kind: 'free';
}

/** Free content: a text, or elements in their order. Empty content is an empty text. */
export type Data = string | readonly DataElement[];

export type DataElement = {
  readonly name: string;
  /** Left out where there are none. */
  readonly attributes?: Readonly<Record<string, string>>;
  readonly content: Data;
};

/** The TypeScript type of what stands in an element. */
export type ValueOfElement<E> = E extends { kind: 'text' }
  ? string
  : E extends { kind: 'choice'; values: readonly (infer V)[] }
    ? V
    : E extends { kind: 'count' }
      ? number
      : E extends { kind: 'flag' }
        ? boolean
        : E extends { kind: 'list'; attributes: infer A }
          ? readonly Flat<ValuesOfElements<A> & { readonly text: string }>[]
          : E extends { kind: 'list' }
            ? readonly string[]
            : E extends { kind: 'group'; elements: infer G }
              ? ValuesOfElements<G>
              : Data;

/** The TypeScript type of an object with one field per element. */
export type ValuesOfElements<G> = Flat<
  { readonly [K in keyof G as G[K] extends { optional: true } ? never : K]: ValueOfElement<G[K]> } & {
    readonly [K in keyof G as G[K] extends { optional: true } ? K : never]?: ValueOfElement<G[K]>;
  }
>;

export type Flat<T> = { [K in keyof T]: T[K] };
