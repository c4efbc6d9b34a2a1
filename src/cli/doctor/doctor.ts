import { userInfo } from 'node:os';
import { sandboxOf } from '../../runbook/access.ts';
import { withLibrary } from '../../runbook/library.ts';
import { readRunbook } from '../../runbook/read/read-runbook.ts';
import type { Runbook, RunbookProblem } from '../../runbook/runbook.ts';
import { diagnoseSandbox, type Diagnosis, type Finding } from '../../sandbox/doctor.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { JSON_OPTION, PROJECT_OPTION } from '../operation-command.ts';
import { findProjectDir } from '../runbook/runbook.ts';
import { renderTable } from '../table.ts';
import { printable } from '../text.ts';
import { diagnoseClients } from './clients.ts';

export const doctorCommand: CliCommand = {
  examples: ['baton doctor', 'baton doctor --fix'],
  args: [],
  options: [
    { name: 'fix', about: 'Correct what can be corrected safely, and list what was done' },
    PROJECT_OPTION,
    JSON_OPTION,
  ],
  exitCodes: { 0: 'nothing is broken; there may be warnings', 1: 'something is broken', 2: 'usage error' },
  async run(given, io) {
    const { checked } = await readRunbook(await findProjectDir(given, io));
    const look = async (): Promise<readonly Diagnosis[]> => {
      const found = await diagnoseSandbox(io.env, operatorName(io.env));
      if (!checked.ok) return [...found, describeBroken(checked.problems)];
      const clients = await diagnoseClients(checked.value, found, io.env);
      return [...found, ...findUnusable(checked.value, found), ...clients];
    };
    const before = await look();
    const repairs = given.options.has('fix') ? before.flatMap(({ ok, repair }) => (ok ? [] : (repair ?? []))) : [];
    const fixed: string[] = [];
    for (const repair of repairs) fixed.push(await repair());
    const findings = fixed.length === 0 ? before : await look();
    const isBroken = findings.some(({ ok, isMinor }) => !ok && !isMinor);
    if (given.options.has('json')) io.out(`${JSON.stringify({ ok: !isBroken, findings, fixed })}\n`);
    else io.out(`${renderFindings(findings)}${fixed.map((line) => `fixed: ${printable(line)}\n`).join('')}`);
    return isBroken ? EXIT.failed : EXIT.ok;
  },
};

/** Its agents are unknown until the runbook is valid. */
export function describeBroken([{ file, message }, ...more]: readonly [RunbookProblem, ...RunbookProblem[]]): Finding {
  const others = more.length === 0 ? '' : ` (and ${more.length} more)`;
  const detail = `${file ?? 'the runbook'}: ${message}${others}`;
  return { name: 'runbook', ok: false, isMinor: false, detail, fix: 'See: baton runbook check' };
}

/** With sudo, the user who ran it. */
function operatorName(env: Readonly<Record<string, string | undefined>>): string {
  return env['SUDO_USER'] ?? userInfo().username;
}

/** One line for each finding, and one below it with the fix. */
export function renderFindings(findings: readonly Finding[]): string {
  return renderTable(
    findings.flatMap(({ name, ok, isMinor, detail, fix }) => [
      [ok ? 'ok' : isMinor ? 'warning' : 'problem', name, detail],
      ...(fix === null ? [] : [['', '', `fix: ${fix}`]]),
    ]),
  );
}

/** A mode that the runbook names and that does not work here: its agents are not started. */
export function findUnusable(runbook: Runbook, found: readonly Finding[]): readonly Finding[] {
  const failing = new Set(found.filter(({ ok }) => !ok).map(({ name }) => name));
  const wanted = [...withLibrary(runbook).agents.values()].map((agent) => ({
    agent: agent.name,
    mode: sandboxOf(runbook, agent).mode,
  }));
  const byMode = Map.groupBy(wanted, ({ mode }) => mode);
  return [...byMode].flatMap(([mode, agents]): Finding[] => {
    if (mode === 'auto' || !failing.has(mode)) return [];
    const names = agents.map(({ agent }) => agent).join(', ');
    const detail = `the runbook asks for ${mode}, which does not work here: ${names} cannot start`;
    return [{ name: 'runbook', ok: false, isMinor: false, detail, fix: 'See above, or set sandbox = "auto".' }];
  });
}
