import { ACCEPT_RULES, callAcceptingRules } from '../approvals.ts';
import { withClient } from '../ask.ts';
import { type CliCommand, EXIT } from '../command.ts';
import { COMMON_OPTIONS, operationCommand, reportError } from '../operation-command.ts';
import { fieldsIn, listIn, textIn } from '../run/views.ts';
import { printable, printableLines } from '../text.ts';

export const runbookRulesCommand = operationCommand({
  name: 'runbook rules',
  summary: 'Show the runbook in force, and how the working file differs from it',
  examples: ['baton runbook rules', 'baton runbook rules --json'],
  operation: 'runbook_rules',
  input: () => ({ value: {} }),
  show: (result) => {
    const { in_force, working } = fieldsIn(result);
    return `${describeInForce(in_force)}${describeWorking(working, in_force === null)}`;
  },
});

function describeInForce(value: unknown): string {
  if (value === null) return 'No runbook is in force yet: the first task or workflow adopts one.\n';
  const { sha256, commit, by, at } = fieldsIn(value);
  const source = typeof commit === 'string' ? `commit ${commit.slice(0, 12)} of the main branch` : 'the working file';
  return `In force: ${textIn(sha256).slice(0, 12)}, from ${source}, adopted by ${printable(textIn(by))} at ${textIn(at)}\n`;
}

function describeWorking(value: unknown, isFirst: boolean): string {
  const { differences, text, loosens } = fieldsIn(value);
  const count = listIn(differences).length;
  if (count === 0) return 'The working file has the same gates.\n';
  const than = isFirst ? 'the committed runbook' : 'the rules in force';
  const effect = loosens === true ? 'loosens' : 'tightens';
  return `The working file ${effect} ${than}:\n${printableLines(textIn(text))}\nPut it in force: baton runbook adopt\n`;
}

export const runbookAdoptCommand: CliCommand = {
  name: 'runbook adopt',
  summary: 'Put the working runbook in force for everything that starts from now on',
  examples: ['baton runbook adopt'],
  args: [],
  options: [ACCEPT_RULES, ...COMMON_OPTIONS],
  async run(given, io) {
    const accepted = given.options.get('accept-rules');
    const typed = ['baton', 'runbook', 'adopt'];
    const answer = await withClient(given, io, async (client) =>
      callAcceptingRules(async (accept) => client.call('runbook_adopt', accept), { accepted, typed, io }),
    );
    if (!answer.ok) return reportError(answer.error, given, io);
    if (given.options.has('json')) io.out(`${JSON.stringify(answer.result)}\n`);
    else {
      const { sha256, text, differences } = fieldsIn(answer.result);
      const words = listIn(differences).length === 0 ? '' : `${printableLines(textIn(text))}\n`;
      io.out(`${words}In force: ${textIn(sha256).slice(0, 12)}\n`);
    }
    return EXIT.ok;
  },
};
