import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Question, QUESTIONS, renderAnswer } from '../src/agents/capabilities/capabilities.ts';
import { type Client, listClients } from '../src/agents/capabilities/clients.ts';

/** Fills in the tables of clients in docs/agents.md; `node scripts/render-clients.ts` writes them. */
export function renderClientTables(page: string): string {
  const [start, end] = ['<!-- clients -->', '<!-- /clients -->'];
  if (!page.includes(start) || !page.includes(end)) throw new Error('docs/agents.md has no place for clients');
  const sections = SECTIONS.map(({ title, questions, extra }) =>
    [`### ${title}`, tableOf(questions, extra), legendOf(questions)].join('\n\n'),
  );
  const before = page.slice(0, page.indexOf(start));
  return `${before}${start}\n\n${sections.join('\n\n')}\n\n${page.slice(page.indexOf(end))}`;
}

type Column = readonly [title: string, cell: (client: Client) => string];

interface Section {
  readonly title: string;
  readonly questions: readonly Question[];
  readonly extra: readonly Column[];
}

/** Several tables, because one of all questions would be too wide. */
const SECTIONS: readonly Section[] = [
  {
    title: 'Control',
    questions: ['gate', 'message', 'resume', 'attach', 'permissions'],
    extra: [['tested with', ({ tested }) => renderTested(tested)]],
  },
  { title: 'Usage and errors', questions: ['usage', 'budget', 'cost', 'errors', 'limits'], extra: [] },
  {
    title: 'Setup',
    questions: ['mcp', 'sandbox'],
    extra: [
      [
        'hooks that Baton sets',
        ({ capabilities }) => capabilities.hooks.map((name) => `\`${name}\``).join(', ') || '–',
      ],
      ['login', ({ capabilities }) => capabilities.login],
    ],
  },
  { title: 'Reviews', questions: ['verdict', 'shell'], extra: [] },
];

function renderTested(versions: readonly string[]): string {
  const [oldest, newest] = [versions[0], versions.at(-1)];
  return oldest === undefined ? '–' : oldest === newest ? oldest : `${oldest} to ${newest}`;
}

function tableOf(questions: readonly Question[], extra: readonly Column[]): string {
  const columns: readonly Column[] = [
    ['`run`', ({ run }) => `\`${run}\``],
    ['client', ({ title }) => title],
    ...questions.map((question): Column => [
      QUESTIONS[question].title,
      ({ capabilities }) => renderAnswer(question, capabilities),
    ]),
    ...extra,
  ];
  return rowsOf([
    columns.map(([title]) => title),
    ...listClients().map((each) => columns.map(([, cell]) => cell(each))),
  ]);
}

/** The answers that some client has, with their meaning. */
function legendOf(questions: readonly Question[]): string {
  const rows = questions.flatMap((question) => {
    const given = new Set<string>(listClients().map(({ capabilities }) => capabilities[question]));
    const answers = Object.entries<readonly [string, string]>(QUESTIONS[question].answers);
    return answers
      .filter(([answer]) => given.has(answer))
      .map(([, words], i) => [i === 0 ? QUESTIONS[question].title : '', ...words]);
  });
  return rowsOf([['', 'answer', 'meaning'], ...rows]);
}

function rowsOf([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}

if (process.argv[1] === import.meta.filename) {
  const path = join(import.meta.dirname, '../docs/agents.md');
  writeFileSync(path, renderClientTables(readFileSync(path, 'utf8')));
}
