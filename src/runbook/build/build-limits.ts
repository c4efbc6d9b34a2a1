import { MAX_BLOCKS } from '../../protocol/decide-stop.ts';
import { PHASES } from '../../protocol/phase.ts';
import type { ValueOf } from '../../protocol/shape/shape.ts';
import { buildBudget } from '../shape/budget-shape.ts';
import { parseDuration } from '../shape/duration.ts';
import type { limitsShape } from '../shape/limits-shape.ts';
import type { RunLimits } from '../runbook.ts';

export type LimitsValue = ValueOf<typeof limitsShape>;

/** What holds where a runbook says nothing. */
export const DEFAULT_LIMITS: RunLimits = {
  claimExpiryMs: 15 * 60_000,
  renewalMs: 30_000,
  idleMs: undefined,
  silenceMs: 10 * 60_000,
  toolMs: 60 * 60_000,
  leaveMs: 60_000,
  agents: 50,
  blocks: MAX_BLOCKS,
  resumes: 5,
  reviewRounds: 3,
  killAfterMs: 10_000,
  logBytes: 10 * 1024 * 1024,
  maxFiles: undefined,
  noGitCommit: false,
  noNewDeps: false,
  stallMs: {},
  taskBudget: undefined,
  dayBudget: undefined,
};

export function buildLimits(value: LimitsValue): RunLimits {
  const ms = (text: string | undefined, otherwise: number): number =>
    text === undefined ? otherwise : parseDuration(text);
  return {
    claimExpiryMs: ms(value.claim_expiry, DEFAULT_LIMITS.claimExpiryMs),
    renewalMs: ms(value.renewal, DEFAULT_LIMITS.renewalMs),
    idleMs: value.idle === undefined ? undefined : parseDuration(value.idle),
    silenceMs: ms(value.silence, DEFAULT_LIMITS.silenceMs),
    toolMs: ms(value.tool, DEFAULT_LIMITS.toolMs),
    leaveMs: ms(value.leave, DEFAULT_LIMITS.leaveMs),
    agents: value.agents ?? DEFAULT_LIMITS.agents,
    blocks: value.blocks ?? DEFAULT_LIMITS.blocks,
    resumes: value.resumes ?? DEFAULT_LIMITS.resumes,
    reviewRounds: value.review_rounds ?? DEFAULT_LIMITS.reviewRounds,
    killAfterMs: ms(value.kill_after, DEFAULT_LIMITS.killAfterMs),
    logBytes: value.log_bytes ?? DEFAULT_LIMITS.logBytes,
    maxFiles: value.max_files,
    noGitCommit: value.no_git_commit ?? false,
    noNewDeps: value.no_new_deps ?? false,
    stallMs: stallOf(value.stall),
    taskBudget: value.task_budget && buildBudget(value.task_budget),
    dayBudget: value.day_budget && buildBudget(value.day_budget),
  };
}

/** One duration is for every phase in which somebody, or something, is expected to work. */
function stallOf(stall: LimitsValue['stall']): RunLimits['stallMs'] {
  const given = PHASES.map((phase) => [phase, typeof stall === 'string' ? stall : stall?.[phase]] as const);
  const active =
    typeof stall === 'string' ? given.filter(([phase]) => phase !== 'COMPLETED' && phase !== 'BLOCKED') : given;
  return Object.fromEntries(
    active.flatMap(([phase, text]) => (text === undefined ? [] : [[phase, parseDuration(text)]])),
  );
}
