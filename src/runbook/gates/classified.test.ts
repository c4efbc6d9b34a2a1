import { expect, it } from 'vitest';
import type { Shape } from '../../protocol/shape/shape.ts';
import { runbookShape } from '../shape/runbook-shape.ts';

/**
 * What a change of each field means for the adoption; docs/runbooks.md says it in words. `access` and `gate` are
 * compared by value, `outside` loosens if it adds a command, a file or an address, `inside` runs in the sandbox and is
 * free there, `free` needs nobody, `elsewhere` is no rule.
 */
const CLASSES: Readonly<Record<string, readonly string[]>> = {
  access: [
    'env_pass', 'sandbox', 'network', 'secrets', 'agents.*.env', 'agents.*.env_pass', 'agents.*.sandbox', 'agents.*.network',
    'ci.required.env_pass', 'ci.required.network', 'git',
  ],
  gate: [
    'ci.required.name', 'ci.required.run', 'ci.required.timeout', 'ci.required.repository',
    'ci.required.app', 'ci.required.allow', 'ci.protected', 'merge', 'roles', 'workflow.mode', 'workflow.validate',
    'limits', 'prices', 'agents.*.role', 'agents.*.requires', 'agents.*.budget', 'agents.*.timeout', 'agents.*.max_concurrency',
    'pipelines.*.budget', 'workers',
  ],
  outside: ['pipelines.*.steps', 'commands.*.run', 'notify.webhook', 'workspace.copy', 'workspace.link', 'github'],
  inside: [
    'agents.*.run', 'agents.*.prompt', 'agents.*.prompt_file', 'agents.*.cwd', 'agents.*.model', 'agents.*.acp', 'agents.*.on_stop',
    'agents.*.on_idle', 'agents.*.on_dead', 'agents.*.on_error', 'agents.*.on_prompt', 'workspace.setup', 'workflow.install',
    'workflow.build', 'workflow.smoke',
  ],
  free: [
    'exit_protocol', 'project', 'notify.desktop', 'notify.terminal', 'notify.on', 'workspace.branch', 'workspace.setup_timeout',
    'commands.*.args', 'pipelines.*.vars', 'pipelines.*.notify',
  ],
  elsewhere: ['$schema', 'store'],
}; // prettier-ignore

it('knows for every field of a runbook whether its change needs a person', () => {
  const known = Object.values(CLASSES).flat();
  const isKnown = (path: string): boolean => known.some((each) => path === each || path.startsWith(`${each}.`));
  const leaves = leavesOf(runbookShape, '');
  expect(leaves.filter((path) => !isKnown(path))).toEqual([]);
  // A row about a field that no longer exists is left over.
  expect(known.filter((each) => !leaves.some((path) => path === each || path.startsWith(`${each}.`)))).toEqual([]);
});

/** The paths of all fields without fields of their own; `*` stands for a name. */
function leavesOf(shape: Shape, path: string): readonly string[] {
  const below = (name: string): string => (path === '' ? name : `${path}.${name}`);
  switch (shape.kind) {
    case 'object':
      return Object.entries<Shape>(shape.fields).flatMap(([name, field]) => leavesOf(field, below(name)));
    case 'map':
      return leavesOf(shape.of, below('*'));
    case 'list':
      return leavesOf(shape.of, path);
    case 'either':
      return shape.options.flatMap((option) => leavesOf(option, path));
    default:
      return [path];
  }
}
