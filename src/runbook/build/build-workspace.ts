import { DEFAULT_BRANCH } from '../../protocol/branch-name.ts';
import { parseDuration } from '../shape/duration.ts';
import type { WorkspaceSettings } from '../runbook.ts';
import type { RunbookValue } from '../shape/runbook-shape.ts';

export function buildWorkspace({
  branch = DEFAULT_BRANCH,
  copy = [],
  link = [],
  setup,
  setup_timeout,
}: NonNullable<RunbookValue['workspace']>): WorkspaceSettings {
  return {
    branch,
    copy,
    link,
    setup,
    setupTimeoutMs: setup_timeout === undefined ? 10 * 60_000 : parseDuration(setup_timeout),
  };
}
