import { readBeads } from './beads/read.ts';
import { renderBeads } from './beads/render.ts';
import type { Format, FormatName } from './format.ts';
import { readGithub } from './github/read.ts';
import { renderGithub } from './github/render.ts';
import { readMarkdown } from './markdown/read.ts';
import { renderMarkdown } from './markdown/render.ts';
import { readTaskMaster } from './task-master/read.ts';
import { renderTaskMaster } from './task-master/render.ts';

/** Every tool whose lists Baton understands. */
export const FORMATS: Readonly<Record<FormatName, Format>> = {
  markdown: { name: 'markdown', title: 'Markdown', read: readMarkdown, render: renderMarkdown },
  'task-master': { name: 'task-master', title: 'task-master', read: readTaskMaster, render: renderTaskMaster },
  beads: { name: 'beads', title: 'beads', read: readBeads, render: renderBeads },
  github: { name: 'github', title: 'GitHub', read: readGithub, render: renderGithub },
};
