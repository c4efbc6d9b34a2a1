const STAGES = ['issue-manager', 'prep', 'implementer', 'ci', 'reviewer', 'fixer', 'validator', 'merge', 'closer'];

/** The stages of a workflow: for each its state (done, failed, running or open) and the number of visits. */
export function stagesOf(workflow) {
  const now = stageOf(workflow);
  const names = now === undefined || STAGES.includes(now) ? STAGES : withOwn(now);
  const at = now === undefined ? names.length : names.indexOf(now);
  const hasFailed = (name) => name === 'ci' && workflow.checks?.outcome === 'failed' && name !== now;
  const visits = { reviewer: workflow.reviews, fixer: workflow.rounds };
  return names.map((name, i) => {
    const times = visits[name] ?? 1;
    // Review and fix alternate, so the number of visits is shown instead of their order.
    const isDone = name in visits ? visits[name] > 0 : i < at;
    return { name, times, is: name === now ? 'now' : hasFailed(name) ? 'failed' : isDone ? 'done' : 'open' };
  });
}

function stageOf({ phase, role, is_merging: isMerging }) {
  if (phase === 'COMPLETED' && role === null) return undefined;
  if (isMerging) return 'merge';
  return phase === 'CI_PENDING' ? 'ci' : (role ?? undefined);
}

/** A role that the runbook adds comes between review and validation. */
function withOwn(name) {
  const at = STAGES.indexOf('validator');
  return [...STAGES.slice(0, at), name, ...STAGES.slice(at)];
}
