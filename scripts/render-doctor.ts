import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS } from '../src/cli/doctor/look.ts';

/** Fills in the findings of docs/doctor.md; `node scripts/render-doctor.ts` writes them. */
export function renderDoctorFindings(page: string): string {
  const [start, end] = ['<!-- findings -->', '<!-- /findings -->'];
  if (!page.includes(start) || !page.includes(end)) throw new Error('docs/doctor.md has no place for findings');
  const sections = CHECKS.map(({ name, about, kinds }) => {
    const rows = Object.entries(kinds).map(
      ([code, { status, means, repaired = '' }]) => `| \`${name}.${code}\` | ${status} | ${means} | ${repaired} |`,
    );
    return [
      `### ${name}`,
      `${about}.`,
      ['| finding | status | means | `--fix` |', '|---|---|---|---|', ...rows].join('\n'),
    ];
  });
  const before = page.slice(0, page.indexOf(start));
  return `${before}${start}\n\n${sections.flat().join('\n\n')}\n\n${page.slice(page.indexOf(end))}`;
}

if (process.argv[1] === import.meta.filename) {
  const path = join(import.meta.dirname, '../docs/doctor.md');
  writeFileSync(path, renderDoctorFindings(readFileSync(path, 'utf8')));
}
