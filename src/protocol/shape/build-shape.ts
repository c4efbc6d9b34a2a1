import type { ObjectShape, Shape, TypedShape } from './shape.ts';

/** Short forms for shapes of data that only programs write: no texts for people, no limits. */
export const text = { kind: 'text' } as const;
export const integer = { kind: 'number', whole: true } as const;
export const flag = { kind: 'flag' } as const;

export const oneOf = <const V extends readonly string[]>(...values: V) => ({ kind: 'choice', values }) as const;

export const list = <const S extends Shape>(of: S) => ({ kind: 'list', of }) as const;

export const map = <const S extends Shape>(of: S) => ({ kind: 'map', of, names: {} }) as const;

export const object = <const F extends ObjectShape['fields']>(fields: F) => ({ kind: 'object', fields }) as const;

export function nullable<const S extends Shape>(shape: S): S & { readonly nullable: true } {
  return { ...shape, nullable: true };
}

export function optional<const S extends Shape>(shape: S): S & { readonly optional: true } {
  return { ...shape, optional: true };
}

/** Objects that their field `kind` tells apart; each variant is named by the value of that field. */
export function variants<const V extends Readonly<Record<string, ObjectShape['fields']>>>(byKind: V): VariantsShape<V> {
  const options = Object.entries(byKind).map(([kind, fields]) => object({ kind: oneOf(kind), ...fields }));
  return { kind: 'either', options, expected: Object.keys(byKind).join(', ') } as unknown as VariantsShape<V>; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

interface VariantsShape<V> {
  readonly kind: 'either';
  readonly options: readonly { [K in keyof V]: VariantShape<K, V[K]> }[keyof V][];
  readonly expected: string;
}

interface VariantShape<K, F> {
  readonly kind: 'object';
  readonly fields: { readonly kind: { readonly kind: 'choice'; readonly values: readonly [K] } } & F;
}

/** JSON whose type is declared in TypeScript, and whose content is checked elsewhere. */
export function typed<T>(): TypedShape<T> {
  return { kind: 'any' };
}
