import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { samples } from '../../test/lanes.ts';
import { DIALECTS } from '../../test/fuzz/dialects.ts';
import { parseAgentSignal, validateAgentSignal } from './agent-signal.ts';
import { parseEvidenceBundle, validateEvidenceBundle } from './evidence.ts';
import { parseExitSignal, validateExitSignal } from './exit-signal/exit-signal.ts';
import { parseMission, validateMission } from './mission.ts';
import type { Parsed } from './shape/problem.ts';
import { parseResult, validateResult } from './result.ts';
import { parseTaskUpdate, validateTaskUpdate } from './task-update.ts';
import { parseThoughtRecord, validateThoughtRecord } from './thought-record.ts';

/** Every validator, as a function from any value to its error messages. */
const VALIDATORS: readonly (readonly [name: string, dialect: string, validate: (value: unknown) => string[]])[] = [
  ['validateExitSignal', 'exit', validateExitSignal],
  ['validateMission', 'mission', validateMission],
  ['validateResult', 'result', validateResult],
  ['validateEvidenceBundle', 'evidence', validateEvidenceBundle],
  ['validateThoughtRecord', 'thought', validateThoughtRecord],
  ['validateTaskUpdate', 'task-update', validateTaskUpdate],
  ['validateAgentSignal', 'agent-signal', validateAgentSignal],
  ['parseExitSignal', 'exit', errorsOf(parseExitSignal)],
  ['parseMission', 'mission', errorsOf(parseMission)],
  ['parseResult', 'result', errorsOf(parseResult)],
  ['parseEvidenceBundle', 'evidence', errorsOf(parseEvidenceBundle)],
  ['parseThoughtRecord', 'thought', errorsOf(parseThoughtRecord)],
  ['parseTaskUpdate', 'task-update', errorsOf(parseTaskUpdate)],
  ['parseAgentSignal', 'agent-signal', errorsOf(parseAgentSignal)],
];

/** A value that throws at every access. */
const HANDLER = new Proxy(
  {},
  {
    get: (_, trap) => () => {
      throw new Error(`trap ${String(trap)}`);
    },
  },
);

const circular: Record<string, unknown> = { version: '1' };
circular['context'] = circular;
const circularList: unknown[] = [];
circularList.push(circularList);

const sparse: unknown[] = [];
sparse.length = 2 ** 32 - 1;
const withHoles: unknown[] = [];
withHoles[2] = { level: 'info' };
const ownMap = Object.assign([1, 2], { map: () => 'not a list', entries: null, [Symbol.iterator]: null });

class Custom {
  readonly version = '1';
  readonly #hidden = 1;
  get task_id(): string {
    throw new Error(`getter ${this.#hidden}`);
  }
}

const gigabyte = new Uint8Array(2 ** 30);
const manyFields = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`field_${i}`, 1]));

const revoked = Proxy.revocable({}, {});
revoked.revoke();
const revokedList = Proxy.revocable([], {});
revokedList.revoke();

const STRANGE: readonly (readonly [name: string, value: () => unknown])[] = [
  ['a proxy that throws', () => new Proxy({}, HANDLER)],
  ['a proxy of a list that throws', () => new Proxy([], HANDLER)],
  ['a proxy of a function that throws', () => new Proxy(() => {}, HANDLER)],
  ['a revoked proxy', () => revoked.proxy],
  ['a revoked proxy of a list', () => revokedList.proxy],
  ['a proxy that claims to be endless', () => new Proxy([], { get: () => Infinity })],
  ['a proxy with a strange length', () => new Proxy([], { get: () => 'x' })],
  ['a getter that throws', () => Object.defineProperty({}, 'version', { enumerable: true, get: fail })],
  ['a toJSON that throws', () => ({ toJSON: fail })],
  ['a toString that throws', () => ({ toString: fail, [Symbol.toPrimitive]: fail })],
  ['a toStringTag that throws', () => Object.defineProperty({}, Symbol.toStringTag, { get: fail })],
  ['a class instance', () => new Custom()],
  ['an object without a prototype', () => Object.create(null)],
  ['an object with a prototype full of fields', () => Object.create({ version: '1', task_id: 'T1' })],
  ['an object that contains itself', () => circular],
  ['a list that contains itself', () => circularList],
  ['100,000 levels of objects', () => nested(100_000, (inner) => ({ version: inner }))],
  ['100,000 levels of lists', () => nested(100_000, (inner) => [inner])],
  ['a list of four billion holes', () => sparse],
  ['four billion holes as a field', () => ({ log: sparse, version: sparse, kind: sparse })],
  ['a list with holes', () => ({ log: withHoles, files_modified: withHoles, blockers: withHoles })],
  ['a list with methods of its own', () => ({ log: ownMap, files: ownMap, blockers: ownMap })],
  ['a gigabyte of nothing', () => gigabyte],
  ['bytes as a field', () => ({ version: gigabyte, notes: new Float64Array(3) })],
  ['a boxed string', () => new String('x'.repeat(2 ** 24))], // oxlint-disable-line unicorn/new-for-builtins, no-new-wrappers
  ['a map', () => new Map([['version', '1']])],
  ['a set', () => new Set([1])],
  ['a date', () => new Date(0)],
  ['a date that is none', () => new Date(Number.NaN)],
  ['a regular expression', () => /x/],
  ['an error', () => new Error('x')],
  ['a promise', () => Promise.resolve()],
  ['a symbol', () => Symbol('x')],
  ['a big integer', () => ({ version: 1n, timeout: 1n })],
  ['functions', () => ({ version: fail, context: fail })],
  ['the global object', () => globalThis],
  ['a field called __proto__', () => JSON.parse('{"__proto__": {"version": "1"}}')],
  ['half a character', () => ({ version: '\ud800' })],
  ['half a character in a name', () => ({ '\udc00': 1 })],
  ['100,000 fields', () => manyFields],
  ['a string of 8 MB', () => ({ version: 'x'.repeat(2 ** 23) })],
  ['a name of 8 MB', () => ({ ['x'.repeat(2 ** 23)]: 1 })],
];

describe.each(VALIDATORS)('%s', (_, dialect, validate) => {
  it.each(STRANGE)('reports a problem for %s and does not throw', (_name, value) => {
    const errors = validate(value());
    expect(errors.length).toBeGreaterThan(0);
    expect(errors.every((error) => typeof error === 'string' && error !== '' && error.length < 2_000)).toBe(true);
  });

  it('never throws for any value', () => {
    const anything = fc.anything({
      withBigInt: true,
      withBoxedValues: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        expect(areTexts(validate(value))).toBe(true);
      }),
    );
  });

  it('never throws for any value of a field', () => {
    const valid = sampleOf(dialect);
    const anything = fc.anything({ withBigInt: true, withSparseArray: true, withBoxedValues: true });
    const changed = fc
      .tuple(fc.constantFrom(...pathsOf(valid)), anything)
      .map(([path, value]) => replaced(valid, path, value));
    fc.assert(
      fc.property(changed, (value) => {
        expect(areTexts(validate(value))).toBe(true);
      }),
      { numRuns: samples(300) },
    );
  });
});

function areTexts(errors: readonly unknown[]): boolean {
  return errors.every((error) => typeof error === 'string' && error !== '' && error.isWellFormed());
}

function errorsOf(parse: (input: unknown) => Parsed<unknown>): (value: unknown) => string[] {
  return (value) => {
    const parsed = parse(value);
    return parsed.ok ? [] : parsed.problems.map(({ message }) => message);
  };
}

function fail(): never {
  throw new Error('should not be asked');
}

function nested(levels: number, around: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < levels; i++) value = around(value);
  return value;
}

function sampleOf(name: string): unknown {
  const dialect = DIALECTS.find((one) => one.name === name);
  const parsed = dialect?.parse(dialect.samples[0]?.text ?? '');
  if (!parsed?.ok) throw new Error(`no sample of ${name}`);
  return parsed.value;
}

type Path = readonly string[];

function pathsOf(value: unknown): Path[] {
  if (typeof value !== 'object' || value === null) return [[]];
  return [[], ...Object.entries(value).flatMap(([name, part]) => pathsOf(part).map((rest) => [name, ...rest]))];
}

function replaced(value: unknown, [name, ...rest]: Path, by: unknown): unknown {
  if (name === undefined) return by;
  if (Array.isArray(value)) return value.map((item, i) => (String(i) === name ? replaced(item, rest, by) : item));
  const fields = Object.fromEntries(Object.entries(value ?? {}));
  return { ...fields, [name]: replaced(fields[name], rest, by) };
}
