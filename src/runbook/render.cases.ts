import { stringify } from 'smol-toml';
import { renderYaml } from '../protocol/text/yaml.ts';
import { checkRunbook } from './check/check-runbook.ts';
import type { CheckedRunbook } from './runbook.ts';

/** The three syntaxes for a tree. */
export const WRITTEN = [
  { syntax: 'TOML', file: 'baton.toml', render: (tree: object): string => stringify(tree) },
  { syntax: 'YAML', file: 'runbook.yaml', render: renderYaml },
  { syntax: 'JSON', file: 'runbook.json', render: (tree: object): string => JSON.stringify(tree, null, 2) },
] as const;

export function checkTree(tree: object, { file, render }: (typeof WRITTEN)[number] = WRITTEN[0]): CheckedRunbook {
  return checkRunbook([{ path: file, text: render(tree) }]);
}

/** The runbook of a valid tree. */
export function runbookOf(tree: object) {
  const checked = checkTree(tree);
  if (!checked.ok) throw new Error(checked.problems.map(({ path, message }) => `${path}: ${message}`).join('\n'));
  return checked.value;
}
