import type { ObjectShape, Shape, TypedShape } from './shape.ts';

export const text = { kind: 'text' } as const;
export const flag = { kind: 'flag' } as const;
export const whole = { kind: 'number', whole: true } as const;
export const count = { kind: 'number', whole: true, min: 0 } as const;

export function object<const F extends ObjectShape['fields']>(fields: F) {
  return { kind: 'object', fields } as const;
}

export function list<const S extends Shape>(of: S) {
  return { kind: 'list', of } as const;
}

export function map<const S extends Shape>(of: S) {
  return { kind: 'map', of, names: {} } as const;
}

export function choice<const V extends readonly string[]>(values: V) {
  return { kind: 'choice', values } as const;
}

/** Always present, and null if there is no value. */
export function nullable<const S extends Shape>(shape: S): S & { readonly nullable: true } {
  return { ...shape, nullable: true };
}

/** Absent if there is no value. */
export function optional<const S extends Shape>(shape: S, about = shape.about): S & { readonly optional: true } {
  return { ...shape, ...(about === undefined ? {} : { about }), optional: true };
}

/** Objects distinguished by their field `kind`; each variant has the name of that field's value. */
export function variants<const V extends Readonly<Record<string, ObjectShape['fields']>>>(byKind: V): VariantsShape<V> {
  const options = Object.entries(byKind).map(([kind, fields]) => object({ kind: choice([kind]), ...fields }));
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

export function typed<T>(): TypedShape<T> {
  return { kind: 'any' };
}

export const nothing = object({});
