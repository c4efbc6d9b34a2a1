import { withClient } from '../ask.ts';
import { EXIT, type Command, type Given, type Io } from '../command.ts';
import { ACCEPT_RULES, callWithRules } from '../accept-rules.ts';
import { COMMON, reportError } from '../operation-command.ts';
import { printableLines } from '../printable.ts';
import { callWithChecks } from './accept-no-checks.ts';
import { headOf } from './follow-entries.ts';
import { followRun, type Run } from './follow-run.ts';
import { fieldsIn, textIn } from './read-fields.ts';
import { showPlan } from './show-plan.ts';
import { shortId } from './views.ts';

const EXIT_CODES = {
  0: 'done (with --detach: started; with --plan: shown)',
  1: 'failed or cancelled',
  2: 'usage error, or nothing says what is checked before a merge',
  3: 'waiting for a person',
  130: 'you left with Ctrl-C; it goes on',
};
const DETACH = { name: 'detach', short: 'd', about: 'Start it and leave' } as const;
const PLAN = { name: 'plan', about: 'Show what would happen, and do nothing' } as const;

export const run: Command = {
  name: 'run',
  summary: 'Run a command or a pipeline of the runbook',
  examples: [
    'baton run issue "Add a login page"',
    'baton run issue --task T-12',
    'baton run ship --plan',
    'baton run ship v1.2 --detach',
    'baton run ship -- --json',
  ],
  args: [{ name: 'NAME', about: 'Of the command or pipeline; baton runbook list shows them' }],
  rest: { name: 'ARG', about: 'As the runbook defines them; after -- all options are its own', options: true },
  options: [PLAN, DETACH, ACCEPT_RULES, ...COMMON],
  exitCodes: EXIT_CODES,
  run: async (given, io) => start(given, io, {}),
};

export const agentRun: Command = {
  name: 'agent run',
  summary: 'Run one agent of the runbook by itself',
  examples: ['baton agent run reviewer', 'baton agent run reviewer --detach'],
  args: [{ name: 'NAME', about: 'Of the agent; baton runbook list shows them' }],
  options: [PLAN, DETACH, ...COMMON],
  exitCodes: EXIT_CODES,
  run: async (given, io) => start(given, io, { kind: 'agent' }),
};

async function start(given: Given, io: Io, only: { readonly kind?: string }): Promise<number> {
  const [name = '', ...args] = given.args;
  const input = { name, args, ...only };
  const started = await withClient(given, io, async (client) => {
    if (given.options.has('plan')) return { answer: await client.call('run_plan', input), after: 0 };
    // Before it begins, so that none of it is missed.
    const after = await headOf(client);
    const accepted = given.options.get('accept-rules');
    const asked = { accepted, typed: typedIn(given), io };
    const answer = await callWithChecks(
      async (checks) =>
        callWithRules(async (rules) => client.call('run_start', { ...input, ...checks, ...rules }), asked),
      io,
    );
    return { answer, after };
  });
  const { answer, after } = started;
  if (!answer.ok) return reportError(answer.error, given, io);
  const { kind, id, rules } = fieldsIn(answer.result);
  if (rules !== undefined) io.err(`New rules are in force:\n${printableLines(textIn(fieldsIn(rules)['text']))}\n`);
  const isJson = given.options.has('json');
  if (given.options.has('plan')) io.out(isJson ? `${JSON.stringify(answer.result)}\n` : showPlan(answer.result));
  else if (given.options.has('detach')) {
    const begun: Run = { kind: textIn(kind), id: textIn(id), after };
    io.out(isJson ? `${JSON.stringify(answer.result)}\n` : describeStart(begun));
  } else return followRun({ kind: textIn(kind), id: textIn(id), after }, given, io);
  return EXIT.ok;
}

/** The command as it was typed, as far as it matters for typing it again. */
function typedIn({ args, options }: Given): readonly string[] {
  const project = options.get('project');
  return [
    'baton',
    'run',
    ...args,
    ...(options.has('detach') ? ['--detach'] : []),
    ...(project === undefined ? [] : ['--project', project]),
  ];
}

function describeStart({ kind, id }: Run): string {
  if (kind === 'workflow') return `Started ${id}. See it: baton task show ${id}\n`;
  const noun = kind === 'agent' ? 'agent' : 'pipeline';
  return `Started ${noun} ${id}. Wait for it: baton ${noun} wait ${shortId(id)}\n`;
}
