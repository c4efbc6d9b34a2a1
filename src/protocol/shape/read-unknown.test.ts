import { describe, expect, it } from 'vitest';
import {
  fieldOf,
  fieldsInJson,
  fieldsOf,
  findText,
  isObject,
  listOf,
  numberOf,
  objectsOf,
  textOf,
} from './read-unknown.ts';

const others = [undefined, null, true, 1, 'text', [], () => 1];

describe('values of another type', () => {
  it.each(others)('%j is no object', (value) => {
    expect(isObject(value)).toBe(false);
    expect(fieldsOf(value)).toEqual({});
    expect(fieldOf(value, 'length')).toBeUndefined();
  });

  it.each([undefined, null, {}, { length: 1 }, 'text'])('%j is no list', (value) => {
    expect(listOf(value)).toEqual([]);
    expect(objectsOf(value)).toEqual([]);
  });

  it.each([undefined, null, 1, {}, ['text']])('%j is no text', (value) => {
    expect(findText(value)).toBeUndefined();
    expect(textOf(value)).toBe('');
  });

  it.each([undefined, null, '1', Number.NaN, Infinity])('%j is no number', (value) => {
    expect(numberOf(value)).toBe(0);
  });

  it.each(['', '{', '[1]', 'null', '"text"'])('%j holds no JSON object', (text) => {
    expect(fieldsInJson(text)).toEqual({});
  });
});

describe('values of the type', () => {
  it('are returned as they are', () => {
    const object = { name: 'a', items: [{ n: 1 }, 2] };
    expect(fieldsOf(object)).toBe(object);
    expect(fieldOf(object, 'name')).toBe('a');
    expect(listOf(object.items)).toBe(object.items);
    expect(objectsOf(object.items)).toEqual([{ n: 1 }, {}]);
    expect([findText('a'), textOf('a'), numberOf(-1.5)]).toEqual(['a', 'a', -1.5]);
    expect(fieldsInJson('{"a":1}')).toEqual({ a: 1 });
  });

  it('inherited fields do not count', () => {
    expect(fieldOf({}, 'constructor')).toBeUndefined();
  });
});
