import { parseJsonTree } from '../protocol/text/json.ts';
import type { Node } from '../protocol/text/node.ts';
import { parseBeads, renderBeads } from './beads.ts';
import { startReading } from './findings.ts';
import { parseGithubIssues, renderGithubIssues } from './github.ts';
import { findItems } from './markdown/items.ts';
import { parseMarkdown } from './markdown/read.ts';
import { renderMarkdown } from './markdown/render.ts';
import { parseTaskMaster } from './task-master/read.ts';
import { renderTaskMaster } from './task-master/render.ts';
import type { ExchangeFormat, FormatName } from './task.ts';

export const FORMATS: Readonly<Record<FormatName, ExchangeFormat>> = {
  markdown: { name: 'markdown', title: 'Markdown', read: parseMarkdown, render: renderMarkdown },
  'task-master': { name: 'task-master', title: 'task-master', read: parseTaskMaster, render: renderTaskMaster },
  beads: { name: 'beads', title: 'beads', read: parseBeads, render: renderBeads },
  github: { name: 'github', title: 'GitHub', read: parseGithubIssues, render: renderGithubIssues },
};

/** Detects the tool by the content. Undefined if none matches; the reader then reports errors. */
export function findFormat(text: string): FormatName | undefined {
  const findings = startReading(text);
  if ('ok' in findings) return undefined;
  const start = findings.text.trimStart();
  if (!/^[[{]/.test(start) || /^\[[ xX/~!-]\]/.test(start))
    return findItems(findings.text).length > 0 ? 'markdown' : undefined;
  const whole = parseJsonTree(start);
  if (whole.ok) return byShape(whole.node);
  const line = parseJsonTree(start.split(/\r?\n/, 1)[0] ?? '');
  // A complete first line followed by more text means one record per line.
  if (line.ok) return byShape(line.node);
  // For invalid JSON, the reader reports the position.
  return start.startsWith('[') ? (/"number"\s*:/.test(start) ? 'github' : 'beads') : 'task-master';
}

function byShape(node: Node): FormatName | undefined {
  if (node.kind === 'list')
    return node.items.some((item) => item.kind === 'object' && item.fields.has('number')) ? 'github' : 'beads';
  if (node.kind !== 'object') return undefined;
  return node.fields.has('id') || node.fields.has('_type') ? 'beads' : 'task-master';
}
