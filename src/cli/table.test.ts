import { expect, it } from 'vitest';
import { renderFacts, renderTable } from './table.ts';

it('aligns columns, counting wide characters twice', () => {
  expect(
    renderTable([
      ['a', '語', 'x'],
      ['bbb', 'b', ''],
    ]),
  ).toBe('a    語  x\nbbb  b\n');
  expect(renderTable([])).toBe('');
});

it('shows the known facts, safe for a terminal', () => {
  expect(
    renderFacts('name\u001B[2J', [
      ['status', 'running'],
      ['reason', null],
      ['task', ''],
      ['log', 'a\nb'],
    ]),
  ).toBe('name\\u001b[2J\n  status  running\n  log     a · b\n');
});
