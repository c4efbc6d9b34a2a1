import { expect, it } from 'vitest';
import { checkRunbook } from '../../runbook/check/check-runbook.ts';
import type { Finding } from '../../sandbox/doctor.ts';
import { findUnusable, renderFindings } from './doctor.ts';

const FOUND: readonly Finding[] = [
  { name: 'auto', ok: true, isMinor: true, detail: 'sandbox = "auto" is bubblewrap here', fix: null },
  { name: 'bubblewrap', ok: true, isMinor: true, detail: 'bubblewrap 0.8.0', fix: null },
  { name: 'container', ok: false, isMinor: true, detail: 'podman fails: \u001B[2J', fix: 'See: podman info' },
];

function unusable(text: string): readonly Finding[] {
  const checked = checkRunbook([{ path: 'baton.toml', text }]);
  if (!checked.ok) throw new Error(checked.problems[0].message);
  return findUnusable(checked.value, FOUND);
}

it('prints a line for each finding, with the fix below it', () => {
  expect(renderFindings(FOUND)).toBe(`ok       auto        sandbox = "auto" is bubblewrap here
ok       bubblewrap  bubblewrap 0.8.0
warning  container   podman fails: \\u001b[2J
                     fix: See: podman info
`);
});

it('finds a mode that the runbook names and that does not work', () => {
  expect(unusable('sandbox = "bubblewrap"')).toEqual([]);
  const [only, more] = unusable('[agents.a]\nrun = "./a"\nsandbox = "container"');
  expect([only?.isMinor, more]).toEqual([false, undefined]);
  expect(only?.detail).toBe('the runbook asks for container, which does not work here: a cannot start');
});
