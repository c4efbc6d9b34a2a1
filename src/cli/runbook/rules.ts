import type { RunbookRules } from '../../api/operations/rules.ts';
import { ACCEPT_RULES, callAcceptingRules } from '../approvals.ts';
import { shellWord } from '../../protocol/text/quote-for-shell.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { COMMON_OPTIONS, operationCommand, reportError } from '../operation-command.ts';
import { printable, printableLines } from '../text.ts';

export const runbookRulesCommand = operationCommand({
  examples: ['baton runbook rules', 'baton runbook rules --json'],
  operation: 'runbook_rules',
  input: () => ({ value: {} }),
  show: ({ in_force, working }) => `${describeInForce(in_force)}${describeWorking(working, in_force === null)}`,
});

function describeInForce(adoption: RunbookRules['in_force']): string {
  if (adoption === null)
    return 'No runbook is in force yet: the defaults apply until the first task or run adopts one.\n';
  const { sha256, commit, by, at } = adoption;
  const source = commit === null ? 'the working file' : `commit ${commit.slice(0, 12)} of the main branch`;
  return `In force: ${sha256.slice(0, 12)}, from ${source}, adopted by ${printable(by)} at ${at}\n`;
}

function describeWorking(working: RunbookRules['working'], isFirst: boolean): string {
  if (working === null || working.differences.length === 0) return 'The working file has the same rules.\n';
  const than = isFirst ? 'the defaults' : 'the rules in force';
  const effect = working.loosens ? 'loosens' : 'does not loosen';
  return `The working file ${effect} ${than}:\n${printableLines(working.text)}\nPut it in force: baton runbook adopt\n`;
}

/** Workflows keep the rules with which they were started, until a person moves them. */
function offerRules(ids: readonly string[]): string {
  if (ids.length === 0) return '';
  const command = ['baton', 'task', 'rules', ids.slice(0, MAX_OFFERED).join(','), '--current'].map(shellWord).join(' ');
  const them = ids.length === 1 ? 'it' : 'them';
  return `Blocked by a limit that these rules raise: ${printable(ids.join(', '))}\nTo continue ${them} with these rules: ${command}\n`;
}

const MAX_OFFERED = 50;

export const runbookAdoptCommand: CliCommand = {
  examples: ['baton runbook adopt'],
  args: [],
  options: [ACCEPT_RULES, ...COMMON_OPTIONS],
  json: [{ result: 'runbook_adopt' }],
  exitCodes: { 0: 'in force', 1: 'failed', 2: 'usage error', 3: 'a person must agree; the message has the command' },
  async run(given, io) {
    const accepted = given.options.get('accept-rules');
    const typed = ['baton', 'runbook', 'adopt'];
    const answer = await withClient(given, io, async (client) =>
      callAcceptingRules(async (accept) => client.call('runbook_adopt', accept), {
        accepted,
        typed,
        io,
        isAdoption: true,
      }),
    );
    if (!answer.ok) return reportError(answer.error, given, io);
    if (given.options.has('json')) io.out(`${JSON.stringify(answer.result)}\n`);
    else {
      const { sha256, text, differences, releases } = answer.result;
      const words = differences.length === 0 ? '' : `${printableLines(text)}\n`;
      io.out(`${words}In force: ${sha256.slice(0, 12)}\n${offerRules(releases)}`);
    }
    return EXIT.ok;
  },
};
