import { join } from 'node:path';
import { readRunbookFiles } from './read/read-runbook.ts';
import type { Runbook } from './runbook.ts';

/** What Baton brings along: the built-in workflow and its prompts. */
export const LIBRARY_FOLDER = join(import.meta.dirname, '..', '..', 'runbooks');

const PREFIX = 'baton:';

let shipped: Runbook | undefined;

/** The library laid under a project's runbook: what the project defines under the same name wins. */
export function withLibrary(runbook: Runbook): Runbook {
  const { agents, workers } = (shipped ??= readLibrary());
  return {
    ...runbook,
    agents: new Map([...agents, ...runbook.agents]),
    workers: new Map([...workers, ...runbook.workers]),
  };
}

function readLibrary(): Runbook {
  const { checked } = readRunbookFiles(LIBRARY_FOLDER, ['issue.toml']);
  if (!checked.ok) throw new Error(`the built-in workflow is broken: ${checked.problems[0].message}`);
  return checked.value;
}

/** Where a prompt file is: `baton:…` is one of Baton's own, anything else is relative to the project. */
export function resolvePromptPath(projectDir: string, promptFile: string): string {
  return promptFile.startsWith(PREFIX)
    ? join(LIBRARY_FOLDER, promptFile.slice(PREFIX.length))
    : join(projectDir, promptFile);
}
