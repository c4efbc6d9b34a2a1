import { describe, expect, it } from 'vitest';
import { HOSTILE_JSON, HOSTILE_YAML } from '../../test/fuzz/hostile-texts.ts';
import { parseJsonTree } from './text/json.ts';
import { parseYamlTree } from './text/yaml.ts';

describe.each([
  { name: 'JSON', read: parseJsonTree, texts: textsOf(HOSTILE_JSON) },
  { name: 'YAML', read: parseYamlTree, texts: textsOf(HOSTILE_YAML) },
])('the time to read $name', ({ read, texts }) => {
  it.each(texts)('does not grow with the square of the length: $name', ({ text }) => {
    const small = timeOf(() => read(text.slice(0, text.length / 16)));
    const large = timeOf(() => read(text));
    // For sixteen times the text, a linear reader takes 16 times as long, a quadratic one 256 times. Very short times
    // are too noisy to compare.
    expect(large).toBeLessThan(Math.max(64 * small, 5_000));
  });
});

function textsOf(hostile: typeof HOSTILE_JSON): { name: string; text: string }[] {
  return hostile.flatMap(({ name, make }) => {
    const text = make({ json: '{"a":"b"}', field: 'a' });
    return typeof text === 'string' && text.length > 50_000 ? [{ name, text: text.slice(0, 262_144) }] : [];
  });
}

function timeOf(work: () => unknown): number {
  const times = [0, 0].map(() => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
  return Math.min(...times);
}
