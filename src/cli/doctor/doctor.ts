import { type CliCommand, EXIT, type Io } from '../command.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { showElapsed } from '../show-elapsed.ts';
import { renderTable } from '../table.ts';
import { printable } from '../text.ts';
import { diagnoseProof } from './checks/proof.ts';
import { type Diagnosis, type DoctorReport, doctorReport, type Finding, type FixedFinding } from './finding.ts';
import { hasLateWork, look } from './look.ts';
import { findPlace, type Place } from './place.ts';
import { repairAll } from './repair.ts';

export const doctorCommand: CliCommand = {
  examples: ['baton doctor', 'baton doctor --fix', 'baton doctor --prove'],
  args: [],
  options: [
    { name: 'fix', about: 'Correct what can be corrected safely, print each correction, and check again' },
    { name: 'prove', about: 'Also play the runbook with scripts in a copy, from a request to a merge' },
    PROJECT_OPTION,
    JSON_OPTION,
  ],
  json: [{ shape: doctorReport }],
  exitCodes: { 0: 'nothing is broken; there may be warnings', 1: 'something is broken', 2: 'usage error' },
  async run(given, io) {
    const isJson = given.options.has('json');
    using elapsed = showElapsed(io);
    const place = await findPlace(given, io);
    const before = await look(place);
    const fixed = given.options.has('fix') ? await repairAll(before, place) : [];
    const looked = fixed.length === 0 ? before : await look(await findPlace(given, io));
    elapsed[Symbol.dispose]();
    const found = given.options.has('prove') ? [...looked, ...(await readProof(place, isJson, io))] : looked;
    const report = reportOf(found, fixed);
    io.out(isJson ? `${JSON.stringify(report)}\n` : renderReport(report));
    if (hasLateWork(found, place)) setTimeout(() => process.exit(), EXIT_MS).unref();
    return report.ok ? EXIT.ok : EXIT.failed;
  },
};

async function readProof(place: Place, isJson: boolean, io: Io): Promise<readonly Diagnosis[]> {
  const print = (line: string): void => (isJson ? undefined : io.out(`${line}\n`));
  print('Proof: scripts take a change to a merge in a copy of this repository. Ctrl-C skips it.');
  const { prove } = await import('./proof/prove.ts');
  const found = diagnoseProof(await prove(place, print, io));
  print('');
  return found;
}

/** Programs that do not answer get this long. Then the process exits without them. */
const EXIT_MS = 1000;

export function reportOf(found: readonly Diagnosis[], fixed: readonly FixedFinding[]): DoctorReport {
  const findings = found.map(({ code, name, status, detail, fix }): Finding => ({ code, name, status, detail, fix }));
  return { ok: findings.every(({ status }) => status !== 'problem'), findings, fixed };
}

function renderReport({ findings, fixed }: DoctorReport): string {
  const done = fixed.map(({ ok, detail }) => `${ok ? 'fixed' : 'not fixed'}: ${printable(detail)}\n`).join('');
  return `${done}${done === '' ? '' : '\n'}${renderFindings(findings)}\n${renderSummary(findings)}`;
}

/** Renders one line per finding, and below it one with the fix. */
export function renderFindings(findings: readonly Finding[]): string {
  return renderTable(
    findings.flatMap(({ name, status, detail, fix }) => [
      [status, name, detail],
      ...(fix === null ? [] : [['', '', `fix: ${fix}`]]),
    ]),
  );
}

function renderSummary(findings: readonly Finding[]): string {
  const count = (wanted: Finding['status']): number => findings.filter(({ status }) => status === wanted).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  const named = (number: number, what: string): string => (number === 1 ? `1 ${what}` : `${number} ${what}s`);
  if (problems + warnings === 0) return 'Everything works.\n';
  return `${named(problems, 'problem')}, ${named(warnings, 'warning')}.\n`;
}
