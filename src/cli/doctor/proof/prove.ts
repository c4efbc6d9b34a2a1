import { readdirSync, readFileSync } from 'node:fs';
import type { TaskOverview } from '../../../api/operations/task-view.ts';
import { findMainBranch } from '../../../git/repository.ts';
import { gitText } from '../../../git/run-git.ts';
import { resolvePromptPath } from '../../../runbook/library.ts';
import { callAcceptingRules } from '../../approvals.ts';
import type { Io } from '../../command.ts';
import { HINT, runDry } from '../../init/dry-run/dry-run.ts';
import type { ProofFacts } from '../checks/proof.ts';
import type { Place } from '../place.ts';
import { findEscapes, findUnplayable, scriptedRunbook, standAloneRunbook, withEscapes } from './scripted-runbook.ts';

/**
 * Takes a scripted change from a request to a merge under the working runbook, in a copy of the repository with its own
 * daemon. The repository and its state folder are only read.
 */
export async function prove(place: Place, onLine: (line: string) => void, io: Io): Promise<ProofFacts> {
  const { repository, runbook, read, env } = place;
  if (!repository.ok || runbook === undefined || read === undefined)
    return { kind: 'skipped', reason: 'there is no valid runbook', hint: 'Write one: baton init' };
  const unplayable = findUnplayable(runbook);
  if (unplayable !== undefined) {
    const hint = 'To test this role too, set run = "scripted" for its agent. See: baton docs runbooks';
    return { kind: 'skipped', reason: `scripts cannot play the workflow: ${unplayable}`, hint };
  }
  const { top, commonDir } = repository.value;
  const main = await findMainBranch(top, runbook.merge?.into);
  if (!main.ok) return { kind: 'skipped', reason: main.problem.message, hint: main.problem.hint };
  const { name: branch, sha } = main.value;
  let sandboxes: readonly string[] = [];
  let escapes: readonly string[] = [];
  const { value } = read.subject;
  const done = await runDry({
    source: { top, commonDir, branch, sha },
    runbook: standAloneRunbook(value),
    scripted: scriptedRunbook(value, runbook, readScript),
    title: 'Proof of baton doctor',
    env,
    timeoutMs: PROOF_MS,
    onLine,
    // A runbook that nobody has agreed to may not run outside of a sandbox, not even in a copy.
    agreeing: async (call) => {
      const answer = await callAcceptingRules(call, { accepted: undefined, typed: ['baton'], io });
      if (answer.ok || answer.error.rules === undefined) return answer;
      return { ok: false, error: { ...answer.error, hint: AGREE } };
    },
    onMerged: async (project, view) => {
      const shown = await gitText(['show', `refs/heads/${branch}:baton-scripted/${view.id}.txt`], { cwd: project });
      escapes = findEscapes(shown.ok ? shown.value : '', readdirSync(project));
      sandboxes = sandboxesOf(view);
    },
  });
  const { outcome, check, ms } = done;
  const [detail = '', hint = null] = done.detail.split(HINT);
  const lastLine = check?.output.split('\n').findLast((line) => line.trim() !== '') ?? '';
  return { kind: 'ran', outcome, detail, hint, lastLine, ms, sandboxes, escapes };
}

function sandboxesOf({ sessions }: TaskOverview): readonly string[] {
  const scripted = sessions.filter(({ run }) => run === 'scripted');
  return [...new Set(scripted.flatMap(({ sandbox }) => (sandbox === null ? [] : [sandbox])))];
}

const AGREE = 'Read the runbook. If that is what you want, run baton doctor --prove in a terminal and agree.';

const PROOF_MS = 600_000;

function readScript(role: string): string {
  const script = readFileSync(resolvePromptPath('', `baton:scripted/${role}.yaml`), 'utf8');
  return role === 'implementer' ? withEscapes(script) : script;
}
