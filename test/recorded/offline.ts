import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCli, type Ran } from '../run-cli.ts';
import { INPUTS } from './place.ts';
import { human, machine, type Transcript } from './transcript.ts';

const PROBLEM_SENTENCES = ['message', 'hint'];

/** The message kinds, as in `baton schema`. */
const KINDS =
  'exit mission result handoff thought evidence task-update agent-signal stop-hook stop-hook-output runbook';

/** Commands that need neither a repository nor a daemon. */
export async function offlineTranscripts(): Promise<Transcript[]> {
  return [...(await helpTexts()), ...(await validations()), ...(await runbookChecks()), ...(await usageErrors())];
}

async function helpTexts(): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  for (const { name, load } of COMMANDS) {
    const { args, rest, options, exitCodes } = await load();
    const form = {
      args: args.map((arg) => [arg.name, arg.optional ?? false]),
      rest: rest && [rest.name, rest.optional ?? false, rest.options ?? false],
      options: options.map(({ name: option, short, value, needed }) => ({ option, short, value, needed })),
      exitCodes: Object.keys(exitCodes ?? {}),
    };
    transcripts.push({ id: `form of ${name}`, machine: JSON.stringify(form) });
    transcripts.push(human(`${name} --help`, await run(...name.split(' '), '--help')));
  }
  const groups = new Set(COMMANDS.flatMap(({ name }) => (name.includes(' ') ? [name.split(' ')[0] ?? ''] : [])));
  // `web` is a command with its own help.
  const only = [...groups].filter((group) => !COMMANDS.some(({ name }) => name === group));
  for (const group of only) transcripts.push(human(`${group} --help`, await run(group, '--help')));
  transcripts.push(human('--help', await run('--help')), human('--version', await run('--version')));
  for (const shell of ['bash', 'zsh', 'fish', 'powershell'])
    transcripts.push(human(`completion ${shell}`, await run('completion', shell)));
  return transcripts;
}

/**
 * Validates every message of the examples and fixtures as every kind: a message of another kind must be refused in the
 * same way.
 */
async function validations(): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  const files = globSync(
    [
      'examples/messages/*',
      'examples/runbooks/*.*',
      'examples/agents/*.*',
      'runbooks/*.toml',
      'test/fixtures/{agent-signal,evidence,exit,handoff,mission,result,stop-hook,task-update,thought}/**/*.*',
    ],
    { cwd: INPUTS },
  ).toSorted();
  for (const kind of KINDS.split(' ')) {
    transcripts.push(machine(`schema ${kind}`, await run('schema', kind), ['description']));
    for (const file of files) {
      const id = `validate ${kind} ${file}`;
      const json = machine(`${id} --json`, await run('validate', kind, file, '--json'), PROBLEM_SENTENCES);
      if (isOfKind(file, kind)) transcripts.push(json, human(id, await run('validate', kind, file)));
      else transcripts.push({ ...json, words: [] });
    }
  }
  return transcripts;
}

/** The text for people is recorded once per file. */
function isOfKind(file: string, kind: string): boolean {
  return file.includes(kind) || (file.includes('runbooks/') && kind === 'runbook') || kind === 'exit';
}

async function runbookChecks(): Promise<Transcript[]> {
  const transcripts: Transcript[] = [];
  const files = [
    'runbooks/issue.toml',
    'examples/sample/baton.toml',
    ...globSync('examples/runbooks/*.*', { cwd: INPUTS }),
  ];
  for (const file of files.toSorted()) {
    const id = `runbook check ${file}`;
    transcripts.push(human(id, await run('runbook', 'check', file)));
    transcripts.push(
      machine(`${id} --json`, await run('runbook', 'check', file, '--json'), [...PROBLEM_SENTENCES, 'notes']),
    );
  }
  return transcripts;
}

async function usageErrors(): Promise<Transcript[]> {
  const lines = [
    'nothing-like-it',
    'task',
    'task lst',
    'validate',
    'validate nonsense x.json',
    'validate exit',
    'validate exit missing.json',
    'validate exit missing.json --json',
    'validate exit examples --json',
    'validate exit a b',
    'validate exit x.json --jsn',
    'schema',
    'schema nonsense',
    'task add',
    'task export --to nonsense',
    'task import --from nonsense x',
    'costs --by nonsense',
    'completion nonsense',
    'verify missing.json',
    'verify examples/messages/exit-signal.json',
    'verify examples/messages/exit-signal.json --json',
    'ledger show x',
    'ledger log --limit x',
    'runbook check missing.toml',
    'runbook check missing.toml --json',
    'emit exit',
    'emit agent:signal',
    'hooks install nonsense',
    'agent hook stop',
    'help validate',
    '-V',
  ];
  const transcripts: Transcript[] = [];
  for (const line of lines) {
    const ran = await run(...line.split(' '));
    transcripts.push(line.includes('--json') ? machine(line, ran, PROBLEM_SENTENCES) : human(line, ran));
  }
  const piped = readFileSync(join(INPUTS, 'examples/messages/exit-signal.json'));
  transcripts.push(
    machine('validate exit - --json', await runCli(['validate', 'exit', '-', '--json'], piped, AT_INPUTS)),
  );
  return transcripts;
}

const AT_INPUTS = {
  cwd: INPUTS,
  env: { HOME: '/nonexistent', BATON_STATE_DIR: '/nonexistent/state', PATH: process.env['PATH'] },
};

async function run(...argv: string[]): Promise<Ran> {
  const { code, out, err } = await runCli(argv, '', AT_INPUTS);
  return { code, out: out.replaceAll(INPUTS, '<inputs>'), err: err.replaceAll(INPUTS, '<inputs>') };
}
