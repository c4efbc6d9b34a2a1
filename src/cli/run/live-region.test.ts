import { expect, it } from 'vitest';
import { repaintRegion } from './live-region.ts';

it('clears each line before it is written, and everything below the last one', () => {
  expect(repaintRegion(['a', 'b'])).toBe('\r\u001B[Ka\n\r\u001B[Kb\n\u001B[J');
  expect(repaintRegion([])).toBe('\u001B[J');
});
