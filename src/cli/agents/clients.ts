import { availableParallelism } from 'node:os';
import {
  type Answers,
  explainAnswer,
  type Question,
  QUESTIONS,
  renderAnswer,
} from '../../agents/capabilities/capabilities.ts';
import { type Client, listClients } from '../../agents/capabilities/clients.ts';
import type { Environment } from '../../protocol/environment.ts';
import { choice, list, nullable, object, text } from '../../protocol/shape/build-shape.ts';
import type { Shape } from '../../protocol/shape/shape.ts';
import { didYouMean } from '../../protocol/shape/problem.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { JSON_OPTION } from '../operation-command.ts';
import { reportProblem } from '../problems.ts';
import { renderFacts, renderTable } from '../table.ts';
import {
  compareVersion,
  describeVersion,
  findVersion,
  type FoundVersion,
  renderTested,
  type Version,
  versionShape,
} from './client-version.ts';

/** A client with its program on this machine; null if it has no program of its own. */
export interface FoundClient extends Client {
  readonly version: Version | null;
}

const answers = Object.entries(QUESTIONS).map(([question, { title, answers: words }]) => [
  question,
  { ...choice(Object.keys(words)), about: withoutMarks(title) },
]);
const foundClient = object({
  run: { ...text, about: 'As a runbook names the client.' },
  title: text,
  program: { ...nullable(text), about: 'Null if the client is part of Baton, or the runbook names the program.' },
  package: { ...nullable(text), about: 'Its package on npm; null if it has none.' },
  tested: { ...list(text), about: 'The versions with which Baton is tested.' },
  version: { ...nullable(versionShape), about: 'The installed version; null if Baton did not look for one.' },
  capabilities: {
    ...object({
      ...(Object.fromEntries(answers) as Readonly<Record<Question, Shape>>), // oxlint-disable-line typescript/no-unsafe-type-assertion
      hooks: { ...list(text), about: 'The hooks that Baton uses.' },
      login: { ...text, about: 'How to log in.' },
    }),
    about: 'As in the tables of docs/agents.md.',
  },
});

export const agentClientsCommand: CliCommand = {
  examples: ['baton agent clients', 'baton agent clients opencode', 'baton agent clients --json'],
  args: [{ name: 'NAME', about: 'Show everything about this client', optional: true }],
  options: [JSON_OPTION],
  json: [{ shape: object({ clients: list(foundClient) }) }],
  async run({ args: [name], options }, io) {
    const all = listClients();
    const named = name === undefined ? all : all.filter(({ run }) => run === name);
    if (named.length === 0) {
      const names = all.map(({ run }) => run);
      const hint = didYouMean(name ?? '', names) ?? `There are: ${names.join(', ')}.`;
      return reportProblem({ code: 'no-such-client', message: `there is no client ${name}`, hint }, io);
    }
    const found = await findClients(named, io.env);
    if (options.has('json')) io.out(`${JSON.stringify({ clients: found.map(fieldsOf) })}\n`);
    else io.out(name === undefined ? renderClients(found) : found.map(renderClient).join(''));
    return EXIT.ok;
  },
};

export async function findClients(clients: readonly Client[], env: Environment): Promise<readonly FoundClient[]> {
  const versions = await findVersions(clients, env);
  return clients.map((client) => {
    const found = versions.get(client.program ?? '');
    return { ...client, version: found === undefined ? null : compareVersion(found, client.tested) };
  });
}

/**
 * Runs each program once, as many at a time as there are cores. More would slow each other down until they time out.
 */
async function findVersions(clients: readonly Client[], env: Environment): Promise<ReadonlyMap<string, FoundVersion>> {
  const found = new Map<string, FoundVersion>();
  const waiting = new Map(clients.flatMap(({ program, env: own = {} }) => (program === null ? [] : [[program, own]])));
  const work = async (): Promise<void> => {
    for (const [program, own] of waiting) {
      waiting.delete(program);
      found.set(program, await findVersion({ program, env: own }, env));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return found;
}

function fieldsOf({ run, title, program, package: npm, tested, version, capabilities }: FoundClient): object {
  return { run, title, program, package: npm, tested, version, capabilities };
}

const COLUMNS = ['gate', 'message', 'resume', 'usage', 'budget'] as const satisfies readonly Question[];

export function renderClients(found: readonly FoundClient[]): string {
  const head = ['RUN', 'VERSION', ...COLUMNS.map((question) => QUESTIONS[question].title.toUpperCase())];
  const rows = found.map(({ run, version, capabilities }) => [
    run,
    renderVersion(version),
    ...COLUMNS.map((question) => renderAnswer(question, capabilities)),
  ]);
  return renderTable([head, ...rows]);
}

function renderVersion(version: Version | null): string {
  if (version === null) return '-';
  if (version.kind !== 'found') return version.kind === 'missing' ? 'not on the PATH' : 'unknown version';
  return `${version.version}, ${STANDINGS[version.is]}`;
}

const STANDINGS = { known: 'tested', older: 'older than tested', newer: 'newer than tested', untested: 'untested' };

function renderClient({ run, title, program, tested, version, capabilities }: FoundClient): string {
  const questions = Object.keys(QUESTIONS) as Question[]; // oxlint-disable-line typescript/no-unsafe-type-assertion
  return renderFacts(`${run}  ${title}`, [
    ['program', program],
    ['version', version === null ? null : describeVersion(tested, version)],
    ['tested with', program === null ? null : renderTested(tested)],
    ...questions.map((question) => [withoutMarks(QUESTIONS[question].title), explain(question, capabilities)] as const),
    ['hooks', capabilities.hooks.join(', ')],
    ['login', withoutMarks(capabilities.login)],
  ]);
}

function explain(question: Question, answers: Answers): string {
  return withoutMarks(explainAnswer(question, answers));
}

/** Removes Markdown from the texts. */
function withoutMarks(text: string): string {
  return text.replaceAll('`', '');
}
