import { compareRules, hasLoosening } from '../../src/runbook/gates/compare-rules.ts';
import { gateFieldsOf } from '../../src/runbook/gates/gate-fields.ts';
import { buildRunbook } from '../../src/runbook/build/build-runbook.ts';
import { readRunbookNow } from '../../src/runbook/read/read-runbook.ts';

/** The hash of the runbook to which a command asks a person to agree. */
export function findAsked({ out, err }: { readonly out: string; readonly err: string }): string | undefined {
  return /rules-loosened/.test(out + err) ? /--accept-rules ([0-9a-f]{64})/.exec(out + err)?.[1] : undefined;
}

/** Whether a person must agree before anything of the repository's runbook is in force. */
export function loosensDefaults(repository: string): boolean {
  const { checked } = readRunbookNow(repository);
  return (
    checked.ok &&
    hasLoosening(compareRules(gateFieldsOf(buildRunbook({})), gateFieldsOf(checked.value), 'none', 'first'))
  );
}
