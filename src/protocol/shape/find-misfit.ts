import { isObject } from './read-unknown.ts';
import type { Shape } from './shape.ts';

/** The first place at which a value lacks the type of its shape. */
export interface Misfit {
  /** Dotted path, as in `checks[0].name`; empty for the value itself. */
  readonly path: string;
  readonly expected: string;
}

export type MisfitFinder = (value: unknown) => Misfit | undefined;

/**
 * Compiles a shape into a check of exactly what `ValueOf` promises: required fields, kinds of values, choices. Limits,
 * formats and unknown fields are not checked, so that a value that was recorded under other limits, or by a later
 * version, is still accepted.
 */
export function compileMisfitFinder(shape: Shape): MisfitFinder {
  const present = compilePresent(shape);
  return shape.nullable === true ? (value) => (value === null ? undefined : present(value)) : present;
}

function compilePresent(shape: Shape): MisfitFinder {
  switch (shape.kind) {
    case 'text':
      return (value) => (typeof value === 'string' ? undefined : misfit('a text'));
    case 'choice': {
      const values = new Set<unknown>(shape.values);
      return (value) => (values.has(value) ? undefined : misfit(`one of ${shape.values.join(', ')}`));
    }
    case 'number':
      return (value) => (typeof value === 'number' ? undefined : misfit('a number'));
    case 'flag':
      return (value) => (typeof value === 'boolean' ? undefined : misfit('a boolean'));
    case 'list': {
      const find = compileMisfitFinder(shape.of);
      return (value) => (Array.isArray(value) ? findInList(value, find) : misfit('a list'));
    }
    case 'map': {
      const find = compileMisfitFinder(shape.of);
      return (value) => (isObject(value) ? findInMap(value, find) : misfit('an object'));
    }
    case 'object': {
      const fields = Object.entries(shape.fields).map(([name, field]): CompiledField => {
        return { name, find: compileMisfitFinder(field), type: TYPES[field.kind], isOptional: field.optional === true };
      });
      return (value) => (isObject(value) ? findInFields(value, fields) : misfit('an object'));
    }
    case 'either':
      return findInEach(shape.options.map(compileMisfitFinder), shape.expected);
    case 'any':
      return () => undefined;
  }
}

function misfit(expected: string): Misfit {
  return { path: '', expected };
}

function findInList(items: readonly unknown[], find: MisfitFinder): Misfit | undefined {
  for (let i = 0; i < items.length; i++) {
    const found = find(items[i]);
    if (found !== undefined) return within(`[${i}]`, found);
  }
  return undefined;
}

function findInMap(values: Readonly<Record<string, unknown>>, find: MisfitFinder): Misfit | undefined {
  for (const name of Object.keys(values)) {
    const found = find(values[name]);
    if (found !== undefined) return within(name, found);
  }
  return undefined;
}

interface CompiledField {
  readonly name: string;
  readonly find: MisfitFinder;
  /**
   * The `typeof` result of every value that fits; undefined if `typeof` does not decide. Avoids most calls of `find`.
   */
  readonly type: string | undefined;
  readonly isOptional: boolean;
}

const TYPES: Readonly<Partial<Record<Shape['kind'], string>>> = { text: 'string', number: 'number', flag: 'boolean' };

function findInFields(value: Readonly<Record<string, unknown>>, fields: readonly CompiledField[]): Misfit | undefined {
  for (const { name, find, type, isOptional } of fields) {
    const field = value[name];
    if (typeof field === type || (field === undefined && isOptional)) continue;
    const found = find(field);
    if (found !== undefined) return within(name, found);
  }
  return undefined;
}

/** Among several options, the misfit of the option that fits furthest names the place. */
function findInEach(finders: readonly MisfitFinder[], expected: string): MisfitFinder {
  return (value) => {
    let deepest = misfit(expected);
    for (const find of finders) {
      const found = find(value);
      if (found === undefined) return undefined;
      if (found.path !== 'kind' && found.path.length > deepest.path.length) deepest = found;
    }
    return deepest;
  };
}

function within(name: string, { path, expected }: Misfit): Misfit {
  const isItem = path.startsWith('[') || path === '';
  return { path: `${name}${isItem ? '' : '.'}${path}`, expected };
}
