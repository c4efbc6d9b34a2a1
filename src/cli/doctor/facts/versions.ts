import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findMachine } from '../../../hooks/command-line.ts';
import { findProgram } from '../../../notify/run-program.ts';
import { LEDGER_LEVEL } from '../../../protocol/fleet.ts';
import { fieldsInJson, findText } from '../../../protocol/shape/read-unknown.ts';
import { VERSION } from '../../version.ts';
import type { LedgerFacts } from '../checks/ledger-facts.ts';
import type { VersionFacts } from '../checks/versions.ts';
import type { DaemonFacts } from '../checks/daemon.ts';
import type { Place } from '../place.ts';

export function readVersionFacts(
  { env }: Place,
  daemon: DaemonFacts | undefined,
  ledger: LedgerFacts | null,
): VersionFacts {
  const answer = daemon?.answer;
  return {
    version: VERSION,
    level: LEDGER_LEVEL,
    daemon: answer?.kind === 'health' ? answer.health.version : null,
    ledger,
    onPath: findOnPath(env),
  };
}

/** Finds the package of the `baton` on the PATH, if it is another version. Does not run that program. */
function findOnPath(env: Place['env']): VersionFacts['onPath'] {
  const program = findProgram('baton', env);
  if (program === undefined) return null;
  try {
    const real = realpathSync(program);
    if (real === realpathSync(findMachine(env).baton)) return null;
    const text = readFileSync(join(dirname(real), '..', 'package.json'), 'utf8');
    const version = findText(fieldsInJson(text)['version']);
    return version === undefined || version === VERSION ? null : { program, version };
  } catch {
    // The program is another kind of script.
    return null;
  }
}
