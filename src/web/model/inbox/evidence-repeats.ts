import type { DecisionEvidence } from '../../../api/decision-evidence.ts';

type Repeating = Pick<DecisionEvidence, 'items' | 'checks' | 'findings' | 'claims'>;

/**
 * Removes what another section of the evidence shows better: measurements beside the table of claims, the output of a
 * check, known findings.
 */
export function leaveOutRepeats<E extends Repeating>(evidence: E): E {
  const { items, checks, findings, claims } = evidence;
  const isRepeated = ({ section, text }: E['items'][number]): boolean =>
    (section === 'measured' && claims.length > 0) ||
    (section === 'check' && checks.some(({ output }) => hasSameEnd(output, text)));
  const isReported = items.some(({ section }) => section === 'finding' || section === 'check');
  return {
    ...evidence,
    items: items.filter((item) => !isRepeated(item)),
    // A repeated finding is shown even beside the report that contains it.
    findings: findings.filter(({ rounds }) => rounds > 1 || !isReported),
  };
}

const COMPARED_CHARACTERS = 200;

/** Compares the ends, because both texts are cut at their start, at different lengths. */
function hasSameEnd(output: string | null, text: string): boolean {
  const end = text.trim().slice(-COMPARED_CHARACTERS);
  return output !== null && end !== '' && output.trim().endsWith(end);
}
