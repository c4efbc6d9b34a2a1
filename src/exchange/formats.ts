import { parseBeads } from './beads.ts';
import { renderBeads } from './render.ts';
import type { ExchangeFormat, FormatName } from './format.ts';
import { parseGithubIssues } from './github.ts';
import { renderGithubIssues } from './github--render.ts';
import { parseMarkdown } from './markdown/read.ts';
import { renderMarkdown } from './markdown/render.ts';
import { parseTaskMaster } from './task-master/read.ts';
import { renderTaskMaster } from './task-master/render.ts';

/** Every tool whose lists Baton understands. */
export const FORMATS: Readonly<Record<FormatName, ExchangeFormat>> = {
  markdown: { name: 'markdown', title: 'Markdown', read: parseMarkdown, render: renderMarkdown },
  'task-master': { name: 'task-master', title: 'task-master', read: parseTaskMaster, render: renderTaskMaster },
  beads: { name: 'beads', title: 'beads', read: parseBeads, render: renderBeads },
  github: { name: 'github', title: 'GitHub', read: parseGithubIssues, render: renderGithubIssues },
};
