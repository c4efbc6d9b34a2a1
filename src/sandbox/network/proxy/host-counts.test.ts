import { expect, it } from 'vitest';
import { HostCounts, renderRefusal } from './host-counts.ts';

it('counts each host and names a refused one once', () => {
  const notes: string[] = [];
  const counts = new HostCounts((line) => notes.push(line));
  counts.allow('a.test');
  counts.refuse('b.test', 'refused b.test');
  counts.refuse('b.test', 'refused b.test');
  expect(counts.list()).toEqual([
    { host: 'a.test', allowed: 1, refused: 0 },
    { host: 'b.test', allowed: 0, refused: 2 },
  ]);
  expect(notes).toEqual(['refused b.test']);
});

it('bounds the hosts and the notes', () => {
  const notes: string[] = [];
  const counts = new HostCounts((line) => notes.push(line));
  for (let n = 0; n < 1000; n++) counts.refuse(`h${n}.test`, `refused h${n}.test`);
  expect(counts.list()).toHaveLength(201);
  expect(counts.list().at(-1)).toEqual({ host: '(other hosts)', allowed: 0, refused: 800 });
  expect(notes).toHaveLength(51);
  expect(notes.at(-1)).toContain('not named');
});

it('reports the setting that allows a host, including those that are allowed already', () => {
  expect(renderRefusal('b.test', { hosts: ['a.test'] })).toBe(
    'baton: the network policy refused b.test. To allow it, write in the agent\'s settings: network = ["a.test", "b.test"]',
  );
  expect(renderRefusal('b.test', { hosts: Array.from({ length: 9 }, (_, n) => `h${n}`) })).toContain(
    'network = […, "b.test"]',
  );
  expect(renderRefusal('b.test', { name: 'dev', hosts: ['a.test'] })).toContain(
    'network = { policy = "dev", hosts = ["b.test"] }',
  );
});
