import type { Node, ObjectNode } from '../../protocol/text/node.ts';
import { quote } from '../../protocol/shape/quote.ts';
import type { ImportFindings } from '../findings.ts';
import { findList } from '../json.ts';

/** The list that is meant: the one under `--tag`, else `master`, else the only one there is. The others are told. */
export function findTag(document: Node, wanted: string | undefined, findings: ImportFindings): ObjectNode | undefined {
  if (document.kind !== 'object') {
    findings.problem('import/not-task-master', 'not a tasks.json of task-master: no object', document.at, HINT);
    return undefined;
  }
  // Before there were tags, the file was a single list.
  if (findList(document, 'tasks') !== undefined && wanted === undefined) return document;
  const tags = [...document.fields].flatMap(([name, { value }]) =>
    value.kind === 'object' && findList(value, 'tasks') !== undefined ? [{ name, value }] : [],
  );
  const chosen =
    tags.find(({ name }) => name === (wanted ?? 'master')) ??
    (wanted === undefined && tags.length === 1 ? tags[0] : undefined);
  const names = tags.map(({ name }) => quote(name)).join(', ');
  if (chosen === undefined) {
    const message = wanted === undefined ? 'it has no list of tasks, or several' : `it has no tag ${quote(wanted)}`;
    findings.problem('import/no-tag', message, document.at, names === '' ? HINT : `Choose one with --tag: ${names}`);
    return undefined;
  }
  for (const { name, value } of tags) {
    const count = findList(value, 'tasks')?.items.length ?? 0;
    if (name !== chosen.name && count > 0) {
      findings.notice(
        `the tag ${quote(name)} (${count} tasks) is left out; take it with --tag ${quote(name)}`,
        value.at,
      );
    }
  }
  return chosen.value;
}

const HINT = 'It is .taskmaster/tasks/tasks.json in a project of task-master.';
