import { defineCheck, type Diagnosis, ok, problem, warning } from '../finding.ts';

export type ProofFacts =
  /** The workflow has a role that scripts cannot play. */
  | { readonly kind: 'skipped'; readonly reason: string; readonly hint: string }
  | {
      readonly kind: 'ran';
      readonly outcome: 'merged' | 'check-failed' | 'stopped' | 'timeout' | 'interrupted' | 'not-started';
      readonly detail: string;
      /** What to do about the problem; null if unknown. */
      readonly hint: string | null;
      /** The last line that a failed check printed. */
      readonly lastLine: string;
      readonly ms: number;
      /** The sandboxes of the sessions, as in `bubblewrap, network full`. */
      readonly sandboxes: readonly string[];
      /** What the scripted implementer could do outside of its worktree. */
      readonly escapes: readonly string[];
    };

export const proofCheck = defineCheck(
  'proof',
  'With `--prove`: the runbook of the project, played by scripts in a copy',
  {
    merged: ok('A scripted change went from a request to a merge; what the sessions ran in'),
    contained: ok('In its sandbox, a session could not leave its worktree, and saw no key'),
    open: warning('Sessions run without a sandbox: what they could do outside of their worktree'),
    escaped: problem('A session could leave its sandbox'),
    'check-failed': problem('A required check fails in a clean checkout, so nothing would be merged'),
    stopped: problem('The workflow stopped before the merge'),
    late: problem('The workflow took too long'),
    'not-started': problem('The workflow could not start'),
    interrupted: warning('The proof was interrupted'),
    skipped: warning('There is nothing that scripts could play'),
  },
);

export function diagnoseProof(facts: ProofFacts): readonly Diagnosis[] {
  if (facts.kind === 'skipped') return [proofCheck.found('skipped', { detail: facts.reason, fix: facts.hint })];
  const { outcome, detail, hint, lastLine, ms, sandboxes, escapes } = facts;
  const again = hint ?? 'Correct the cause, then: baton doctor --prove';
  switch (outcome) {
    case 'merged': {
      const where = sandboxes.length === 0 ? '' : `; sandbox of the sessions: ${sandboxes.join('; ')}`;
      const took = `a scripted change was checked and merged in a copy, in ${Math.round(ms / 1000)} s${where}`;
      return [proofCheck.found('merged', { detail: took }), describeEscapes(sandboxes, escapes)];
    }
    case 'check-failed': {
      const printed = lastLine === '' ? '' : `: ${lastLine}`;
      const fix =
        'Run the check in a fresh clone, and correct it until it passes there. Until then Baton merges nothing.';
      return [proofCheck.found('check-failed', { detail: `${detail} in a clean checkout${printed}`, fix })];
    }
    case 'stopped':
      return [proofCheck.found('stopped', { detail, fix: again })];
    case 'timeout':
      return [proofCheck.found('late', { detail, fix: again })];
    case 'not-started':
      return [proofCheck.found('not-started', { detail, fix: again })];
    case 'interrupted':
      return [proofCheck.found('interrupted', { detail: 'interrupted', fix: 'Run it again: baton doctor --prove' })];
  }
}

function describeEscapes(sandboxes: readonly string[], escapes: readonly string[]): Diagnosis {
  const name = 'proof';
  if (escapes.length === 0) {
    const detail = 'a session could not write to the main checkout, and could read neither the signing key nor a token';
    return proofCheck.found('contained', { name, detail });
  }
  const detail = `a session ${escapes.join(', ')}`;
  if (sandboxes.some((each) => each.startsWith('no sandbox')))
    return proofCheck.found('open', {
      name,
      detail,
      fix: 'Set up a sandbox: see the findings above, and: baton docs guides/sandbox',
    });
  return proofCheck.found('escaped', {
    name,
    detail,
    fix: 'Start no agents on this machine, and report the escape: SECURITY.md',
  });
}
