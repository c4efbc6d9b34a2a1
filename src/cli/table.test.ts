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

it('cuts the last column to the width of the terminal, and leaves the others whole', () => {
  const rows = [
    ['ID', 'TITLE'],
    ['W-00001', 'a title that is far too long for it'],
    ['W-00002', '日本語の題名です。とても長い'],
  ];
  expect(renderTable(rows, 30)).toBe(
    'ID       TITLE\nW-00001  a title that is far …\nW-00002  日本語の題名です。と…\n',
  );
  expect(renderTable(rows)).toContain('far too long for it\n');
});
