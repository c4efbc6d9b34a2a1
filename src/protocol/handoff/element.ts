import { isGitRef, isIso8601 } from '../text/text-format.ts';

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

interface Format {
  readonly fits: (text: string) => boolean;
  /** Completes the sentence "Element x must be …". */
  readonly expected: string;
  readonly example: string;
  /** For the JSON Schema: not looser than needed, but never stricter than `fits`. */
  readonly schema: { readonly pattern?: string; readonly format?: string };
}

const AGENT = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
const SHA = '^[0-9A-Fa-f]{1,64}$';
const DIGITS = '^[0-9]+$';

export const ELEMENT_FORMATS: Readonly<Record<ElementFormat, Format>> = {
  agent: {
    fits: (text) => new RegExp(AGENT).test(text),
    expected: 'the name of an agent (letters, digits, . _ -, at most 64)',
    example: 'reviewer-agent',
    schema: { pattern: AGENT },
  },
  branch: {
    fits: isGitRef,
    expected: 'a valid git branch name that does not start with -',
    example: 'feature/issue-123-user-auth',
    schema: { pattern: '^(?!-)[^ \\u0000-\\u001f\\u007f~^:?*\\[\\\\]+$' },
  },
  digits: {
    fits: (text) => new RegExp(DIGITS).test(text),
    expected: 'a number in digits',
    example: '123',
    schema: { pattern: DIGITS },
  },
  sha: {
    fits: (text) => new RegExp(SHA).test(text),
    expected: 'a commit in hexadecimal digits',
    example: 'abc123',
    schema: { pattern: SHA },
  },
  timestamp: {
    fits: isIso8601,
    expected: 'a date and time in ISO 8601',
    example: '2024-01-15T10:30:00Z',
    schema: { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}' },
  },
  url: {
    fits: isWebUrl,
    expected: 'an http or https URL with a host, without spaces or control characters',
    example: 'https://github.com/owner/repo',
    schema: { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#\\\\]' },
  },
};

/** The pattern asks for the host itself, since `URL` would find one in `https:///x` too. */
function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/?#\\]/i.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text);
}

/** A small example of an element as it would be written, for hints: `<branch>feature/issue-123-user-auth</branch>`. */
export function exampleOf(name: string, element: Element, attributes: Readonly<Record<string, Scalar>> = {}): string {
  const written = Object.entries(attributes).map(([key, scalar]) => ` ${key}="${contentOf(scalar)}"`);
  return `<${name}${written.join('')}>${contentOf(element)}</${name}>`;
}

function contentOf(element: Element): string {
  switch (element.kind) {
    case 'text':
      return element.format === undefined ? '…' : ELEMENT_FORMATS[element.format].example;
    case 'choice':
      return element.values[0] ?? '…';
    case 'count':
      return String(element.min ?? 0);
    case 'flag':
      return 'true';
    case 'list':
      return exampleOf(element.item, { kind: 'text' }, element.attributes);
    case 'group':
      return Object.entries(element.elements)
        .map(([name, inner]) => exampleOf(name, inner))
        .join('');
    case 'free':
      return '…';
  }
}
