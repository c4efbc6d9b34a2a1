import { issueRolePlayers } from '../../../runbook/library.ts';
import type { Runbook, RunbookFile } from '../../../runbook/runbook.ts';
import type { AgentValue, RunbookValue } from '../../../runbook/shape/runbook-shape.ts';

/** In a project, later files would follow this one, but a copy has no others. */
const PATH = '.baton/runbooks/proof.json';

const SCRIPTED_ROLES = ['issue-manager', 'implementer', 'reviewer', 'fixer'] as const;

/** Renders the project's rules as one file for a copy, without settings that reach the database or people. */
export function standAloneRunbook(value: RunbookValue): RunbookFile {
  return { path: PATH, text: JSON.stringify(standAlone(value)) };
}

function standAlone({ store: _store, project: _project, notify: _notify, ...value }: RunbookValue): RunbookValue {
  return { ...value, notify: { desktop: false, terminal: false } };
}

/** Returns the first role that scripts cannot play; undefined if they can play all. */
export function findUnplayable(runbook: Runbook): string | undefined {
  const scripted: readonly string[] = SCRIPTED_ROLES;
  const player = issueRolePlayers(runbook).find(
    ({ role, run }) => !scripted.includes(role) && !run.startsWith('builtin:'),
  );
  return player === undefined ? undefined : `the role ${player.role} is played by ${player.run}`;
}

/**
 * Renders the same rules with scripts in place of models. Each role has the sandbox, network and limits of the agent
 * that plays it. No other agent, pipeline or worker of the project can start a model.
 */
export function scriptedRunbook(
  value: RunbookValue,
  runbook: Runbook,
  scriptOf: (role: string) => string,
): RunbookFile {
  const players = new Map(issueRolePlayers(runbook).map(({ role, agent }) => [role, agent]));
  const agents = SCRIPTED_ROLES.map((role): [string, AgentValue] => {
    const own = value.agents?.[players.get(role) ?? role] ?? {};
    const kept = Object.fromEntries(KEPT.flatMap((field) => (own[field] === undefined ? [] : [[field, own[field]]])));
    return [role, { ...kept, run: 'scripted', prompt: scriptOf(role) }];
  });
  const { pipelines: _pipelines, commands: _commands, workers: _workers, ...rest } = standAlone(value);
  const workflow = { ...rest.workflow, mode: 'autonomous' } as const;
  return { path: PATH, text: JSON.stringify({ ...rest, workflow, agents: Object.fromEntries(agents) }) };
}

const KEPT = ['sandbox', 'network', 'env', 'env_pass', 'timeout'] as const;

/**
 * Extends the script of the implementer: it records in its file what it can read outside of its worktree, and leaves a
 * file in the main checkout. Only a look from outside shows whether that worked: inside a sandbox the path may be an
 * empty folder of the session.
 */
export function withEscapes(script: string): string {
  const before = 'git add "$file"';
  if (!script.includes(before)) throw new Error('the scripted implementer adds no file');
  const probes = ESCAPES.map(([what, command]) => `probe "${what}" '${command}'`);
  const probe = `probe() { if sh -c "$2" >/dev/null 2>&1; then echo "${MARK}$1" >> "$file"; fi; }`;
  const lines = [probe, ...probes, `touch ../../${LEFT_FILE} 2>/dev/null || true`, before];
  return script.replace(before, () => lines.join('\n    '));
}

const ESCAPES = [
  ['could read the signing key', 'cat "$BATON_STATE_DIR/key.pem"'],
  ["could read the operator's token", 'cat "$BATON_STATE_DIR/operator.token"'],
] as const;

const LEFT_FILE = '.baton-escape';

const MARK = 'escape: ';

/** Returns what the scripted implementer recorded, and what it left in the main checkout. */
export function findEscapes(text: string, checkoutFiles: readonly string[]): readonly string[] {
  const read = text.split('\n').flatMap((line) => (line.startsWith(MARK) ? [line.slice(MARK.length)] : []));
  return checkoutFiles.includes(LEFT_FILE) ? [...read, 'could write to the main checkout'] : read;
}
