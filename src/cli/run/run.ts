import { ACCEPT_RULES, callAcceptingNoChecks, callAcceptingRules } from '../approvals.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT, type Io, type ParsedArguments } from '../command.ts';
import { entryShape, type JsonDocument } from '../json-output.ts';
import { COMMON_OPTIONS, reportError } from '../operation-command.ts';
import { printableLines, shortId } from '../text.ts';
import { readHeadSeq } from './follow-entries.ts';
import { type FollowedRun, followRun } from './follow-run.ts';
import { followWorkflows } from './follow-workflows.ts';
import { findGithubTasks } from './github-source.ts';
import { renderPlan } from './show-plan.ts';

const EXIT_CODES = {
  0: 'done (with --detach: started; with --plan: shown)',
  1: 'failed or cancelled',
  2: 'usage error, or the runbook names no checks before a merge',
  3: 'waiting for a person',
  130: 'interrupted with Ctrl-C; the run continues',
};
const JSON_DOCUMENTS = [
  { lines: true, shape: { ...entryShape, about: 'Each entry that reports progress.' } },
  { when: '--detach', result: 'run_start' },
  { when: '--plan', result: 'run_plan' },
] as const satisfies readonly JsonDocument[];
const DETACH = { name: 'detach', short: 'd', about: 'Start the run and return at once' } as const;
const FOLLOW = { name: 'follow', value: 'ID', about: 'Follow a running workflow, pipeline or agent' } as const;
const NO_NAME = 'missing argument: NAME';
const FROM_GITHUB = {
  name: 'from-github',
  value: 'N,M',
  isList: true,
  about: 'For `issue`: import these issues from GitHub as tasks, and start them (numbers or addresses)',
} as const;
const PLAN = { name: 'plan', about: 'Show what would happen without doing it' } as const;

export const runStartCommand: CliCommand = {
  examples: [
    'baton run issue "Add a login page"',
    'baton run issue --task T-12,T-13',
    'baton run issue --from-github 12',
    'baton run ship --plan',
    'baton run ship v1.2 --detach',
    'baton run ship -- --json',
    'baton run --follow W-00001',
  ],
  args: [{ name: 'NAME', about: 'The command or pipeline; see: baton runbook list', optional: true }],
  rest: { name: 'ARG', about: 'Arguments as the runbook defines them; after --, options too', options: true },
  options: [PLAN, DETACH, FOLLOW, FROM_GITHUB, ACCEPT_RULES, ...COMMON_OPTIONS],
  json: JSON_DOCUMENTS,
  exitCodes: EXIT_CODES,
  async helpOn([name], io) {
    if (name === undefined) return undefined;
    const { renderRunHelp } = await import('./run-help.ts');
    return renderRunHelp(name, runStartCommand, io);
  },
  run: async (given, io) => {
    const followed = given.options.get(FOLLOW.name);
    if (followed === undefined) return given.args.length === 0 ? { usage: NO_NAME } : startRun(given, io, {});
    if (given.args.length > 0) return { usage: '--follow takes one id and no other argument' };
    const { followExisting } = await import('./follow-existing.ts');
    return followExisting(followed, given, io);
  },
};

export const agentRunCommand: CliCommand = {
  examples: ['baton agent run reviewer', 'baton agent run reviewer --detach'],
  args: [{ name: 'NAME', about: 'The agent; see: baton runbook list' }],
  options: [PLAN, DETACH, ACCEPT_RULES, ...COMMON_OPTIONS],
  json: JSON_DOCUMENTS,
  exitCodes: EXIT_CODES,
  run: async (given, io) => startRun(given, io, { kind: 'agent' }),
};

async function startRun(given: ParsedArguments, io: Io, only: { readonly kind?: 'agent' }): Promise<number> {
  const [name = '', ...args] = given.args;
  const found = await findGithubTasks(given, io);
  if ('error' in found) return reportError(found.error, given, io);
  const input = { name, args: [...args, ...found.args], ...found.imports, ...only };
  const isJson = given.options.has('json');
  if (given.options.has('plan')) {
    const answer = await withClient(given, io, async (client) => client.call('run_plan', input));
    if (!answer.ok) return reportError(answer.error, given, io);
    io.out(isJson ? `${JSON.stringify(answer.result)}\n` : renderPlan(answer.result));
    return EXIT.ok;
  }
  const { answer, after } = await withClient(given, io, async (client) => {
    // Read before the start, so that no entry of the run is missed.
    const head = await readHeadSeq(client);
    const typed = typedArguments(given, only.kind === 'agent' ? ['agent', 'run'] : ['run']);
    const asked = { accepted: given.options.get('accept-rules'), typed, io };
    const started = await callAcceptingNoChecks(
      async (checks) =>
        callAcceptingRules(async (rules) => client.call('run_start', { ...input, ...checks, ...rules }), asked),
      io,
    );
    return { answer: started, after: head };
  });
  if (!answer.ok) return reportError(answer.error, given, io);
  const { kind, id, ids = [id], rules } = answer.result;
  if (rules !== undefined) io.err(`New rules are in force:\n${printableLines(rules.text)}\n`);
  const run: FollowedRun = { kind, id, after };
  if (!given.options.has('detach'))
    return ids.length > 1 ? followWorkflows({ ids, after }, given, io) : followRun(run, given, io);
  io.out(isJson ? `${JSON.stringify(answer.result)}\n` : describeStart(run, ids));
  return EXIT.ok;
}

function typedArguments({ args, options }: ParsedArguments, command: readonly string[]): readonly string[] {
  const project = options.get('project');
  const issues = options.get('from-github');
  return [
    'baton',
    ...command,
    ...args,
    ...(options.has('detach') ? ['--detach'] : []),
    ...(issues === undefined ? [] : ['--from-github', issues]),
    ...(project === undefined ? [] : ['--project', project]),
  ];
}

function describeStart({ kind, id }: FollowedRun, ids: readonly string[]): string {
  if (ids.length > 1) return `Started ${ids.join(', ')}. See them: baton status --watch\n`;
  if (kind === 'workflow') return `Started ${id}. See the task: baton task show ${id}\n`;
  const noun = kind === 'agent' ? 'agent' : 'pipeline';
  return `Started ${noun} ${id}. Wait for it: baton ${noun} wait ${shortId(id)}\n`;
}
