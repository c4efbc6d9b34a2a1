import { execFileSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { Client as McpClient } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createClient } from '../../src/api/client/connect.ts';
import { OPERATIONS } from '../../src/api/operations/registry.ts';
import { BATON } from '../package/where.ts';
import { runCli, type Ran } from '../run-cli.ts';
import { withoutPlannedSandboxes, withoutSandbox } from '../sandbox-words.ts';
import { foldedState } from './folds.ts';
import { ENVIRONMENT, INPUTS, PLACE, REPOSITORY } from './place.ts';
import { writeKey } from './record-ledger.ts';
import { human, machine, type Transcript } from './transcript.ts';

const ROOT = join(import.meta.dirname, '../..');
const PACKED = join(ROOT, 'test/fixtures/recorded/place.json.br');
/** Fields of answers with sentences for people. */
const SENTENCES = ['message', 'hint', 'summary', 'label', 'description', 'about'];

/** Packs the result of `recordLedger` (the repository, the ledger and its checkpoint), on which commands are run. */
export function packPlace(): void {
  for (const part of ['examples', 'runbooks', 'test/fixtures'])
    cpSync(join(ROOT, part), join(INPUTS, part), {
      recursive: true,
      filter: (path) => !/recorded|streams|vectors|ledger$/.test(path),
    });
  const kept = [
    'inputs/**',
    'sample/**',
    'sample/.{git,baton}/**',
    'state/projects/*.{db,checkpoint}',
    'state/projects.json',
  ];
  const paths = globSync(kept, { cwd: PLACE }).filter((path) => statSync(join(PLACE, path)).isFile());
  const files = [...new Set(paths)].toSorted().map((path) => [path, readFileSync(join(PLACE, path), 'base64')]);
  writeFileSync(PACKED, brotliCompressSync(JSON.stringify(Object.fromEntries(files))));
}

export function unpackPlace(): void {
  const files: unknown = JSON.parse(brotliDecompressSync(readFileSync(PACKED)).toString());
  for (const [path, bytes] of Object.entries({ ...(files as Record<string, string>) })) {
    // oxlint-disable-line typescript/no-unsafe-type-assertion
    mkdirSync(dirname(join(PLACE, path)), { recursive: true, mode: 0o700 });
    writeFileSync(join(PLACE, path), Buffer.from(bytes, 'base64'), { mode: path.startsWith('state') ? 0o600 : 0o644 });
  }
  // Git needs the folder even if it is empty.
  mkdirSync(join(REPOSITORY, '.git/refs/heads'), { recursive: true });
  writeKey();
}

export interface RealTranscripts {
  readonly transcripts: readonly Transcript[];
  readonly states: readonly Transcript[];
}

/** Runs the ledger commands on the recorded ledger, then all requests to a daemon that reads it. */
export async function realTranscripts(): Promise<RealTranscripts> {
  const exported = await baton('ledger', 'export');
  const steady = steadier(exported.out);
  const { verified, fold } = await verify();
  const transcripts = [machine('ledger export', exported), verified, ...(await ledgerCommands(exported.out))];
  const entries = exported.out.split('\n').flatMap((line) => entryIn(line));
  try {
    await baton('up');
    for (const asked of [() => reads(entries), apiCalls, () => mcpLists(), plans, exchanges])
      transcripts.push(...(await asked()).map(steady));
  } finally {
    await baton('down');
  }
  return { transcripts, states: [{ id: 'state of the real ledger', machine: foldedState(entries) }, fold] };
}

/** The stored snapshot is valid only while the state's form is unchanged. */
async function verify(): Promise<{ readonly verified: Transcript; readonly fold: Transcript }> {
  const id = 'ledger verify --all-signatures --json';
  const { code, out, err } = await baton(...id.split(' '));
  const [fold = ''] = /"fold":\{[^}]*\}/.exec(out) ?? [];
  return {
    verified: machine(id, { code, out: out.replace(fold, ''), err }),
    fold: { id: 'fold of ledger verify', machine: fold },
  };
}

async function ledgerCommands(exported: string): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  const add = async (...argv: string[]): Promise<void> => void transcripts.push(await transcriptOf(argv));
  await add('ledger', 'verify');
  await add('ledger', 'root', '--json');
  await add('ledger', 'root');
  await add('ledger', 'log', '--limit', '0', '--json');
  await add('ledger', 'log', '--limit', '0');
  await add('ledger', 'prove', 'W-00001');
  await add('ledger', 'prove', 'T2');
  await add('ledger', 'prove', 'nonsense');
  await add('ledger', 'show', '1000');
  const seen = new Set<string>();
  for (const { seq, type } of exported.split('\n').flatMap(entryIn)) {
    if (seen.has(type)) continue;
    seen.add(type);
    await add('ledger', 'show', String(seq));
    await add('ledger', 'show', String(seq), '--json');
  }
  writeFileSync(join(PLACE, 'ledger.ndjson'), exported);
  writeFileSync(join(PLACE, 'proof.json'), (await baton('ledger', 'prove', 'W-00001')).out);
  writeFileSync(join(PLACE, 'forged.ndjson'), exported.replace('Read durations back', 'Read durations bacK'));
  for (const file of ['ledger.ndjson', 'proof.json', 'forged.ndjson']) {
    await add('verify', join(PLACE, file));
    await add('verify', join(PLACE, file), '--json');
  }
  return transcripts;
}

async function reads(entries: readonly ExportedEntry[]): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  const both = async (...argv: string[]): Promise<void> => {
    transcripts.push(await transcriptOf(argv), await transcriptOf([...argv, '--json']));
  };
  for (const line of ['task list', 'task next', 'handoff list', 'agent list', 'pipeline list', 'decision list'])
    await both(...line.split(' '));
  for (const line of ['costs', 'costs --by task', 'worktree list', 'reconcile', 'runbook rules', 'runbook list'])
    await both(...line.split(' '));
  for (const id of ['W-00001', 'T2', 'T3', 'nonsense']) {
    await both('task', 'show', id);
    await both('task', 'brief', id);
    await both('thought', 'list', id);
  }
  transcripts.push(await transcriptOf(['status', '--json']));
  for (const id of idsIn(entries, 'HandoffDelivered', 'handoff_id'))
    transcripts.push(await transcriptOf(['handoff', 'show', id]));
  for (const id of idsIn(entries, 'AgentRequested', 'agent_id')) await both('agent', 'show', id);
  for (const to of ['markdown', 'task-master', 'beads', 'github'])
    transcripts.push(machine(`task export --to ${to}`, await baton('task', 'export', '--to', to)));
  return transcripts;
}

/** Calls the API. Every operation refuses unknown fields. */
async function apiCalls(): Promise<Transcript[]> {
  const client = createClient({ env: ENVIRONMENT, projectPath: REPOSITORY, autostart: false });
  const transcripts: Transcript[] = [];
  const call = async (operation: string, input: object): Promise<void> => {
    const answer = await client.call(operation as 'task_list', input); // oxlint-disable-line typescript/no-unsafe-type-assertion
    const out = withoutPlannedSandboxes(JSON.stringify(answer));
    transcripts.push(
      machine(
        `call ${operation} ${JSON.stringify(input)}`,
        { code: 0, out, err: '' },
        sentencesIn(operation.split('_')),
      ),
    );
  };
  const task = { task_id: 'W-00001' };
  try {
    for (const name of OPERATIONS.keys()) await call(name, { nonsense: 1 });
    for (const name of ['status_get', 'task_list', 'task_next_actions', 'ledger_head', 'merkle_root', 'project_brief'])
      await call(name, {});
    for (const name of ['agent_list', 'pipeline_list', 'decision_list', 'worktree_list', 'runbook_rules', 'costs_get'])
      await call(name, {});
    for (const name of ['task_get', 'task_brief', 'workflow_get', 'thought_list', 'handoff_list'])
      await call(name, task);
    await call('run_plan', { name: 'issue', args: ['Another one'] });
    await call('nonsense', {});
  } finally {
    client.close();
  }
  return transcripts;
}

async function mcpLists(): Promise<Transcript[]> {
  const client = new McpClient({ name: 'recorder', version: '0' });
  const args = [BATON, 'mcp'];
  const transport = new StdioClientTransport({
    command: process.execPath,
    args,
    env: { ...ENVIRONMENT },
    cwd: REPOSITORY,
    stderr: 'ignore',
  });
  await client.connect(transport);
  try {
    const lists = {
      tools: await client.listTools(),
      prompts: await client.listPrompts(),
      resources: await client.listResources(),
      templates: await client.listResourceTemplates(),
    };
    return Object.entries(lists).map(([name, list]) =>
      machine(`mcp ${name}`, { code: 0, out: JSON.stringify(list), err: '' }, [...SENTENCES, 'title']),
    );
  } finally {
    await client.close();
  }
}

/** The plans of each command and pipeline of every example runbook, each in a separate repository. */
async function plans(): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  for (const file of globSync('examples/runbooks/*.*', { cwd: INPUTS }).toSorted()) {
    const name = basename(file).replace('.', '-');
    const repository = join(PLACE, `plan-${name}`);
    mkdirSync(join(repository, '.baton/runbooks'), { recursive: true });
    cpSync(join(INPUTS, file), join(repository, '.baton/runbooks', basename(file)));
    cpSync(join(INPUTS, 'examples/runbooks/prompts'), join(repository, '.baton/runbooks/prompts'), { recursive: true });
    commitAll(repository);
    const at = ['--project', repository];
    const listed = await baton('runbook', 'list', '--json', ...at);
    transcripts.push(machine(`runbook list --json: ${file}`, listed, [...SENTENCES, 'takes']));
    transcripts.push(human(`runbook list: ${file}`, await baton('runbook', 'list', ...at)));
    for (const usage of usagesIn(listed.out)) {
      for (const args of usage.length === 1 ? [usage] : [usage.slice(0, 1), usage]) {
        const id = `run --plan ${args.join(' ')}: ${file}`;
        const argv = ['run', ...at, '--plan'];
        const shown = await baton(...argv, ...args);
        transcripts.push(human(id, { ...shown, out: withoutSandbox(shown.out) }));
        const planned = await baton(...argv, '--json', ...args);
        const out = withoutPlannedSandboxes(planned.out);
        transcripts.push(machine(`${id} --json`, { ...planned, out }, SENTENCES));
      }
    }
  }
  return transcripts;
}

/** Imports tasks from every other tool, and exports them in every format. */
async function exchanges(): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  for (const file of ['TODO.md', 'beads.jsonl', 'github.json', 'task-master.json']) {
    const repository = join(PLACE, `exchange-${file.replace('.', '-')}`);
    mkdirSync(repository);
    commitAll(repository);
    const at = ['--project', repository];
    const source = join(INPUTS, 'test/fixtures/exchange', file);
    const add = async (...argv: string[]): Promise<void> => {
      const ran = await baton(...argv, ...at);
      const id = `${argv.join(' ').replaceAll(`${INPUTS}/`, '')}: ${file}`;
      transcripts.push(
        argv.includes('--json') || argv[1] === 'export' ? machine(id, ran, ['message', 'hint']) : human(id, ran),
      );
    };
    await add('task', 'import', source, '--dry-run');
    await add('task', 'import', source, '--dry-run', '--json');
    await add('task', 'import', source, '--json');
    await add('task', 'import', source);
    await add('task', 'list', '--json');
    await add('task', 'list');
    for (const to of ['markdown', 'task-master', 'beads', 'github']) await add('task', 'export', '--to', to);
  }
  return transcripts;
}

function commitAll(repository: string): void {
  const env = { ...ENVIRONMENT, GIT_AUTHOR_DATE: '1767225600 +0000', GIT_COMMITTER_DATE: '1767225600 +0000' };
  for (const args of [
    ['init', '--quiet', '--template=', '--initial-branch=main'],
    ['add', '--all'],
    ['commit', '--quiet', '--allow-empty', '--message', 'first'],
  ])
    execFileSync('git', args, { cwd: repository, env, stdio: ['ignore', 'ignore', 'inherit'] });
}

async function transcriptOf(argv: readonly string[]): Promise<Transcript> {
  const ran = await baton(...argv);
  const id = argv.join(' ');
  const isForPrograms = argv.includes('--json') || argv[1] === 'prove' || (argv[0] === 'handoff' && argv[1] === 'show');
  return isForPrograms ? machine(id, ran, sentencesIn(argv)) : human(id, ran);
}

/** The fields with sentences. Entries are shown unchanged; a brief is a text for agents. */
function sentencesIn([first, second]: readonly string[]): readonly string[] {
  if (first === 'ledger') return [];
  return second === 'brief' ? ['text', ...SENTENCES] : SENTENCES;
}

async function baton(...argv: string[]): Promise<Ran> {
  const { code, out, err } = await runCli(argv, '', { env: ENVIRONMENT, cwd: REPOSITORY });
  const timed = (text: string): string =>
    text.replaceAll(/"ms":\d+/g, '"ms":0').replaceAll(/again in [\d.]+ s/g, 'again in 0.00 s');
  return { code, out: timed(out), err: timed(err) };
}

/**
 * Replaces times and ids that the recorded ledger does not contain, because they are from this run, and the waiting
 * time of unfinished tasks.
 */
function steadier(recorded: string): (transcript: Transcript) => Transcript {
  const steady = (text: string, isOpen: boolean): string =>
    (isOpen
      ? text.replaceAll(/("\w+_ms":)[1-9]\d*/g, '$1"<since>"').replaceAll(/\b\d+[dhms](?: \d+[dhms])*\b/g, '<since>')
      : text
    )
      .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, (time) => (recorded.includes(time) ? time : '<now>'))
      .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, (id) => (recorded.includes(id) ? id : '<new>'));
  return ({ id, machine: out, words, ...rest }) => {
    const isOpen = OPEN_TASKS.test(id);
    return {
      id,
      ...rest,
      ...(out === undefined ? {} : { machine: steady(withoutHead(id, out), isOpen) }),
      ...(words === undefined ? {} : { words: words.map((text) => steady(text, isOpen)) }),
    };
  };
}

/** The head is an entry of this run: opening the ledger adopts its runbook in the form of today. */
function withoutHead(id: string, text: string): string {
  return id.startsWith('call ledger_head') ? text.replaceAll(/[0-9a-f]{64}/g, '<hash>') : text;
}

const OPEN_TASKS = /^task show T[23]\b/;

interface ExportedEntry {
  readonly seq: number;
  readonly at: string;
  readonly actor: string;
  readonly type: string;
  readonly data: Readonly<Record<string, never>>;
}

function entryIn(line: string): ExportedEntry[] {
  if (line === '') return [];
  const value = JSON.parse(line) as Partial<ExportedEntry> & { entry?: ExportedEntry }; // oxlint-disable-line typescript/no-unsafe-type-assertion
  const entry = value.entry ?? value;
  return entry.seq === undefined ? [] : [entry as ExportedEntry]; // oxlint-disable-line typescript/no-unsafe-type-assertion
}

function idsIn(entries: readonly ExportedEntry[], type: string, field: string): string[] {
  return entries.flatMap((entry) => (entry.type === type ? [String(entry.data[field])] : []));
}

/** Converts `baton run build --title <title> [--base <base>]` to the call `build --title value`. */
function usagesIn(listed: string): string[][] {
  const usages = listed.matchAll(/"usage":"baton run ([^"]*)"/g);
  return [...usages].map(([, usage = '']) =>
    usage
      .replaceAll(/ \[[^\]]*\]/g, '')
      .replaceAll(/<[^>]*>(?:\.\.\.|…)?/g, 'value')
      .split(' '),
  );
}
