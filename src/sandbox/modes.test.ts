import { expect, it } from 'vitest';
import { SANDBOX_MODES } from '../protocol/sandbox.ts';
import { byStrength, holds, missingProtections, MODE_NAMES, renderModes } from './modes.ts';

it('has a column for every mode but auto', () => {
  expect(Object.keys(MODE_NAMES).toSorted()).toEqual(SANDBOX_MODES.filter((mode) => mode !== 'auto').toSorted());
});

it('orders modes by their protections', () => {
  expect(byStrength(['none', 'user', 'container', 'bubblewrap'])).toEqual(['bubblewrap', 'container', 'user', 'none']);
});

it('provides no protection without a sandbox', () => {
  expect(holds('none', 'state folder')).toBe(false);
  expect(holds('user', 'dangerous system calls')).toBe(false);
  expect(missingProtections('bubblewrap')).toEqual([]);
  expect(missingProtections('user')).toEqual(['dangerous system calls']);
});

it('numbers its notes in the order of the table', () => {
  const text = renderModes();
  const used = [...text.matchAll(/\((\d+)\)/g)].map(([, number]) => Number(number));
  expect([...new Set(used)]).toEqual(Array.from({ length: new Set(used).size }, (_, i) => i + 1));
  expect([...text.matchAll(/^(\d+)\. /gm)]).toHaveLength(new Set(used).size);
});
